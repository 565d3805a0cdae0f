"""The default filter against reference posteriors, on a few of them; `make bench` takes them all."""

import numpy as np
import pytest

from benchmarks import surveys
from dowsax.inference.locate import locate

NUM_CASES = 4
FIELDS = ("gas", "temperature")

pytestmark = pytest.mark.skipif(
    surveys.missing(surveys.GOLD) is not None, reason="no reference posteriors beside the checkout"
)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("field", FIELDS)
def test_default_filter_agrees_with_the_references(field):
    """Location: mean and standard deviation in units of the reference's, within the limits for all cases."""
    scores = []
    for group in surveys.SETS:
        cases = list(surveys.load(surveys.GOLD, (field,), (group,), NUM_CASES))
        positions = np.stack([case.positions for case in cases])
        readings = np.stack([case.readings for case in cases])
        post = locate(positions, readings, field=field, seed=1)
        scores += [
            surveys.score(case, samples, weights)
            for case, samples, weights in zip(cases, post.samples, post.weights, strict=True)
        ]
    summary = surveys.summarise(scores)
    assert summary.gap_median <= 0.12
    assert summary.gap_p90 <= 0.45
    assert 0.93 <= summary.std_ratio_median <= 1.07
    assert summary.std_ratio_p10 >= 0.80
