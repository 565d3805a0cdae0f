"""One policy against others: ratios, differences and who is the best."""

import numpy as np
import pytest
from made_runs import ended

from benchmarks import rivals
from benchmarks.rivals import Against
from dowsax.evaluate.metrics import NOTHING, Estimate


def test_the_ratio_is_of_the_searches_that_both_stopped():
    """20 and 40 m against 10 and 30 m; the third was stopped by one of the two alone."""
    policy = ended([20.0, 40.0, 900.0])
    straight = ended([10.0, 30.0, 1.0], stopped=[True, True, False])
    found = rivals.path_ratio(policy, straight)
    assert (found.value, found.n) == (1.5, 2)
    # Resamples of two searches have the ratios 2, 3/2 and 4/3 alone.
    assert (found.low, found.high) == pytest.approx((4 / 3, 2.0))
    assert rivals.path_ratio(policy, ended([1.0] * 3, stopped=False)) == NOTHING


def test_a_paired_ratio_is_sharper_than_its_parts():
    """Paths that differ much between searches, and by a tenth between policies."""
    lengths = np.random.default_rng(0).uniform(10, 100, 500)
    found = rivals.path_ratio(ended(1.1 * lengths), ended(lengths))
    assert (found.low, found.value, found.high) == pytest.approx((1.1, 1.1, 1.1))


def test_independent_numbers_add_their_errors():
    """3 and 4 wide makes 5 wide."""
    found = rivals.apart(Estimate(10.0, 7.0, 14.0, 50), Estimate(8.0, 5.0, 12.0, 60))
    assert found == pytest.approx((2.0, 2 - 5.0, 2 + 5.0, 50))
    assert rivals.apart(NOTHING, Estimate(1.0, 0.0, 2.0, 3)) == NOTHING


def test_differences_by_intervals_agree_with_unpaired_ones_on_shares():
    """Newcombe's example (1998): 56 of 70 against 48 of 80 differ by 0.2 [0.0524, 0.3339]."""
    from dowsax.evaluate.metrics import share

    first, second = (share(np.arange(trials) < hits) for hits, trials in ((56, 70), (48, 80)))
    path = Estimate(1.0, 0.0, 2.0, 9)
    found = rivals.by_intervals(
        {"stop_rate": first, "path_length_stopped": path}, {"stop_rate": second, "path_length_stopped": path}
    )
    assert found.stop_rate[:3] == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)
    assert not found.paired


def around(value, half):
    return Estimate(value, value - half, value + half, 100)


def test_the_best_stops_most_often_and_walks_least_among_those_that_tie():
    found = {
        "seldom and short": Against(around(0.3, 0.1), around(9.0, 1.0), False),
        "tied and long": Against(around(-0.01, 0.02), around(-9.0, 1.0), True),
        "tied and level": Against(around(0.01, 0.02), around(0.5, 1.0), True),
        "never": Against(NOTHING, NOTHING, True),
    }
    said = rivals.verdict(found)
    assert said.best
    assert (said.tied, said.level) == (("tied and long", "tied and level"), ("tied and level",))
    said = rivals.verdict(found | {"tied and short": Against(around(0.0, 0.1), around(2.0, 1.0), True)})
    assert (said.best, said.shorter) == (False, ("tied and short",))
    said = rivals.verdict(found | {"often": Against(around(-0.1, 0.05), around(-5.0, 1.0), True)})
    assert (said.best, said.oftener) == (False, ("often",))
