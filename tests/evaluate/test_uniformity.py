"""The tests of ranks keep their level, see what they are made for, and agree with scipy where it has them."""

import numpy as np
import pytest
from scipy import stats

from dowsax.evaluate.uniformity import ecdf, num_bins, simultaneous_band, uniformity

DRAWS = 99
CASES = 200


def uniform_ranks(repeats: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, DRAWS + 1, (repeats, CASES))


def normal_ranks(bias: float, scale: float) -> np.ndarray:
    """Ranks of standard normal truths in a belief that is shifted and `scale` times too wide."""
    truths = np.random.default_rng(8).normal(size=CASES)
    return np.floor(100 * stats.norm.cdf(truths, bias, scale)).astype(int)


def test_level_is_kept():
    """Of 400 uniform samples each test rejects 5 %, within five standard errors."""
    p_values = np.array([uniformity(ranks, DRAWS) for ranks in uniform_ranks(400)])
    rejected = np.mean(p_values <= 0.05, axis=0)
    error = (0.05 * 0.95 / 400) ** 0.5
    assert (rejected < 0.05 + 5 * error).all()
    assert (rejected > 0.05 - 5 * error).all()


@pytest.mark.parametrize(
    ("bias", "scale"), [(0.0, 0.7), (0.0, 1.5), (0.4, 1.0)], ids=["narrow", "wide", "biased"]
)
def test_wrong_beliefs_are_seen(bias, scale):
    """A right belief passes at 1 %, a wrong one fails the deciding test."""
    assert uniformity(normal_ranks(0.0, 1.0), DRAWS).ecdf > 0.01
    assert uniformity(normal_ranks(bias, scale), DRAWS).ecdf < 0.01


def test_leaving_the_band_is_rejection():
    """The curve leaves the 95 % band exactly when p ≤ 0.05."""
    band = simultaneous_band(CASES, DRAWS)
    for ranks in uniform_ranks(100):
        share = ecdf(ranks, DRAWS)
        leaves = bool(np.any((share < band.low) | (share > band.high)))
        assert leaves == (uniformity(ranks, DRAWS).ecdf <= 0.05)


def test_chi_square_against_scipy():
    ranks = uniform_ranks(1)[0]
    counts, _ = np.histogram(ranks, bins=np.arange(0, 101, 5))
    assert uniformity(ranks, DRAWS).chi_square == pytest.approx(stats.chisquare(counts).pvalue)


@pytest.mark.parametrize(("cases", "bins"), [(20, 4), (50, 10), (100, 20), (1000, 20), (3, 2)])
def test_bins_expect_five_cases(cases, bins):
    assert num_bins(cases, DRAWS) == bins


@pytest.mark.parametrize("ranks", [[], [100], [-1, 3]])
def test_refuses_what_are_no_ranks(ranks):
    with pytest.raises(ValueError, match="from 0 to 99"):
        uniformity(np.array(ranks, int), DRAWS)


def test_refuses_draws_that_cannot_be_binned():
    with pytest.raises(ValueError, match="divisor from 2 to 20"):
        num_bins(100, 100)
