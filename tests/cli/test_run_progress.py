"""The bars of runs: a run compiles until the first of its searches has ended, or is about to."""

import pytest

from dowsax.cli.run_progress import show_progress
from dowsax.experiments.run import Run
from dowsax.experiments.store import Shard


@pytest.mark.parametrize(("calls", "compiled"), [([0], 0), ([0, 0], 1), ([0, 4], 1), ([4], 1)])
def test_a_run_has_compiled_when_a_shard_reports_twice_or_a_search_has_ended(calls, compiled):
    """On Ray there is one call for each shard, with all its searches."""
    run, said = Run("random", "gas", episodes=8), []
    shard = Shard(run, 0, 4)
    with show_progress([run], [shard, Shard(run, 4, 8)], lambda: said.append(1)) as show:
        for more in calls:
            show(shard, more)
    assert len(said) == compiled
