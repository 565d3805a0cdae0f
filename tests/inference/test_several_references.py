"""The filter of several sources against some of the reference posteriors of `benchmarks.two_sources`."""

import numpy as np
import pytest

from benchmarks import two_sources
from dowsax.inference.locate import locate

NUM_CASES = 6
FIELDS = ("temperature", "energy")


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("field", FIELDS)
def test_several_sources_agree_with_the_references(field):
    """Positions in units of the spread of the reference, within twice what all cases have; the evidence."""
    cases = list(two_sources.load(field))[:NUM_CASES]
    positions = np.stack([case.positions for case in cases])
    readings = np.stack([case.readings for case in cases])
    posterior = locate(positions, readings, field, sources=2, seed=1)
    found = two_sources.gaps(cases, posterior)
    assert np.median([one.mean for one in found]) <= 0.2
    assert max(one.mean for one in found) <= 0.9
    assert 0.9 <= np.median(np.concatenate([one.std_ratio for one in found])) <= 1.1
    assert np.median(np.abs([one.log_evidence for one in found])) <= 0.3
