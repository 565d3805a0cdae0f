"""Intervals and corrections against scipy, printed values and hand computation."""

import numpy as np
import pytest
from scipy import stats

from dowsax.evaluate.statistics import bootstrap_interval, holm, wilson_interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Newcombe (1998), table I, method 3.
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_the_printed_intervals(successes, trials, low, high):
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (7, 7), (180, 200), (3, 1000)])
def test_wilson_agrees_with_scipy(successes, trials, confidence):
    expected = stats.binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    assert wilson_interval(successes, trials, confidence) == pytest.approx(tuple(expected), abs=1e-12)


def test_wilson_of_none_and_of_all_ends_exactly_at_0_and_1():
    for trials in range(1, 300):
        none, every = wilson_interval(0, trials), wilson_interval(trials, trials)
        assert none[0] == 0.0 < none[1] < 1.0
        assert every[1] == 1.0 > every[0] > 0.0
        assert wilson_interval(1, trials)[0] > 0.0
        assert wilson_interval(trials - 1, trials)[1] < 1.0


def test_wilson_of_no_trial_knows_nothing():
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "trials", "confidence"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_wilson_refuses_what_is_no_share(successes, trials, confidence):
    with pytest.raises(ValueError, match=r"from 0 to|between 0 and 1"):
        wilson_interval(successes, trials, confidence)


def test_bootstrap_is_the_normal_interval_for_many_values():
    """For 2000 values the percentile interval is mean ± 1.96 standard errors, up to its simulation error.

    A 2.5 % quantile of 2000 resamples has a standard error of √(0.025·0.975/2000)/φ(1.96) = 0.06 in units of
    the standard error of the mean; five of these are allowed.
    """
    values = np.random.default_rng(1).gamma(2.0, size=2000)
    error = values.std() / values.size**0.5
    low, high = bootstrap_interval(values)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.3 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.3 * error)
    assert (low, high) == bootstrap_interval(values)


def test_bootstrap_of_few_values():
    assert bootstrap_interval(np.array([3.0])) == (3.0, 3.0)
    assert np.isnan(bootstrap_interval(np.array([]))).all()


def test_holm_by_hand():
    """Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2, 1, never falling, at most one."""
    adjusted = holm(np.array([0.03, 0.01, 0.5, 0.02]))
    np.testing.assert_allclose(adjusted, [0.06, 0.04, 0.5, 0.06])
    np.testing.assert_allclose(holm(np.array([0.9, 0.8])), 1.0)
