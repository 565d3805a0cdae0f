"""Paired differences: printed intervals, coverage, and what pairing is for."""

import numpy as np
import pytest
from made_searches import search

from dowsax.evaluate.metrics import means
from dowsax.evaluate.paired import compare, paired_share
from dowsax.evaluate.stops import TraceRule

CONTRACTION = TraceRule("contraction", 0.5)


def outcomes(both: int, only_first: int, only_second: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    counts = [both, only_first, only_second, neither]
    return np.repeat([True, True, False, False], counts), np.repeat([True, False, True, False], counts)


@pytest.mark.parametrize(
    ("table", "low", "high", "digits"),
    # Newcombe (1998), paired data, method 10; Fagerland, Lydersen and Laake (2017), chapter 8.
    [((36, 12, 2, 0), 0.0569, 0.3404, 4), ((1, 1, 7, 12), -0.507, -0.026, 3)],
)
def test_printed_intervals(table, low, high, digits):
    estimate = paired_share(*outcomes(*table))
    assert estimate.value == pytest.approx((table[1] - table[2]) / sum(table))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.51 * 10**-digits)


def test_exchanging_the_policies_changes_the_sign():
    first, second = outcomes(30, 9, 4, 17)
    value, low, high, _ = paired_share(first, second)
    assert paired_share(second, first) == pytest.approx((-value, -high, -low, 60))


def test_equal_outcomes_still_have_a_width():
    always = np.ones(50, bool)
    value, low, high, _ = paired_share(always, always)
    assert value == 0.0
    assert low < 0 < high
    assert paired_share(always[:0], always[:0]).value is None


def test_the_paired_interval_covers_and_is_narrower():
    """2000 tables of 100 correlated pairs: covered in 95 %, less five standard errors.

    Unpaired, the standard error is √(p₁q₁/n + p₂q₂/n).
    """
    generator = np.random.default_rng(3)
    probabilities = [0.7, 0.12, 0.04, 0.14]
    tables = generator.multinomial(100, probabilities, size=2000)
    estimates = [paired_share(*outcomes(*table)) for table in tables]
    covered = [estimate.low <= 0.08 <= estimate.high for estimate in estimates]
    assert np.mean(covered) > 0.95 - 5 * (0.95 * 0.05 / 2000) ** 0.5
    unpaired = 2 * 1.96 * ((0.82 * 0.18 + 0.74 * 0.26) / 100) ** 0.5
    assert np.mean([estimate.high - estimate.low for estimate in estimates]) < unpaired


def test_pairing_takes_out_what_the_searches_share():
    """A shift of 1 under a common scatter of 10 shows in the difference to ± 1.96 of its standard errors.

    Each limit of 2000 resamples is known to 0.06 standard errors; five of these for both.
    """
    generator = np.random.default_rng(4)
    common = generator.normal(scale=10.0, size=400)
    first, second = (common + shift + generator.normal(size=400) for shift in (1.0, 0.0))
    (estimate,) = means(first - second)
    error = np.std(first - second) / 20
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * error, abs=2 * 5 * 0.06 * error)
    assert estimate.low < 1.0 < estimate.high


def test_differences_by_hand():
    """Both stop in searches 0 and 1, the first alone in search 2, nobody in search 3."""
    silent = ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0])
    first = [
        search([2.0, 0.1, 0.1], [3.0, 0.5, 0.5], theta=(0.0, 1.0)),
        search([2.0, 0.1, 0.1], [3.0, 2.0, 0.5], theta=(0.0, 2.0)),
        search([2.0, 0.1, 0.1], [3.0, 1.5, 0.5], theta=(0.0, 3.0)),
        search(*silent, theta=(0.0, 4.0)),
    ]
    second = [
        search([2.0, 2.0, 0.1], [3.0, 3.0, 0.7], theta=(0.0, 1.0)),
        search([2.0, 0.1, 0.1], [3.0, 0.8, 0.5], theta=(0.0, 2.0)),
        search(*silent, theta=(0.0, 3.0)),
        search(*silent, theta=(0.0, 4.0)),
    ]
    difference = compare(first, second, CONTRACTION)
    assert difference.stop_rate[::3] == (0.25, 4)
    assert difference.false_stop_all[::3] == (0.5, 4)
    assert difference.false_stop_both[::3] == (0.5, 2)
    assert difference.path_length_both[::3] == (-0.5, 2)
    assert difference.error_both.value == pytest.approx((-0.2 + 1.2) / 2)


def test_other_searches_are_refused():
    one, other = (search([1.0, 1.0], [1.0, 1.0], theta=(0.0, north)) for north in (1.0, 2.0))
    with pytest.raises(ValueError, match="not the same searches"):
        compare([one], [other], CONTRACTION)
    with pytest.raises(ValueError, match="not the same searches"):
        compare([one, one], [one], CONTRACTION)
