r"""Tests of uniform ranks, as those of the truth among draws of the posterior are (Talts et al. 2018).

A rank is the number, from 0 to L, of draws below the truth. There are three tests of n ranks:

- `ecdf`, which decides. $C_i$, the number of ranks below $i$, is Binomial$(n, i/(L+1))$ for each
  $i = 1 … L$. The statistic is the least two-sided tail of all these,
  $\gamma = \min_i 2\min\{P(X \le C_i), P(X \ge C_i)\}$ (Säilynoja, Bürkner and Vehtari 2022), and its
  distribution is simulated. It detects bias and beliefs that are too narrow or too wide. The curve of the
  $C_i$ leaves the band of `simultaneous_band` exactly when it rejects.
- `chi_square` over equal bins, each of them with an expected count of at least five.
- `kolmogorov`, the exact test of Kolmogorov and Smirnov on $(r + U)/(L + 1)$ with $U$ uniform: it
  detects bias best, and spread hardly.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

NUM_SIMULATIONS = 9999
"""Samples of the null distribution of the ECDF test; its p-values are multiples of 1/10000."""
_NULL_SEED = 20221
_MIN_EXPECTED_COUNT = 5


class Uniformity(NamedTuple):
    """p-values of the three tests."""

    ecdf: float
    chi_square: float
    kolmogorov: float


class Band(NamedTuple):
    """Simultaneous limits of the empirical distribution function at `points`."""

    points: np.ndarray
    """i/(L+1), (L,)."""
    low: np.ndarray
    high: np.ndarray


def uniformity(ranks: np.ndarray, num_draws: int) -> Uniformity:
    """Test ranks (n,) in 0 … `num_draws` for uniformity; the dither of the third test is always the same."""
    from scipy import stats

    ranks = np.asarray(ranks)
    if ranks.ndim != 1 or ranks.size == 0 or ranks.min() < 0 or ranks.max() > num_draws:
        raise ValueError(f"`ranks` must be a list of whole numbers from 0 to {num_draws}.")
    counts = np.bincount(ranks, minlength=num_draws + 1)
    observed = _min_tail(counts[None, :], _tails(ranks.size, num_draws))[0]
    null = _null(ranks.size, num_draws)
    ecdf = (1 + np.searchsorted(null, observed, side="right")) / (1 + null.size)
    bins = counts.reshape(num_bins(ranks.size, num_draws), -1).sum(axis=1)
    dither = np.random.default_rng(0).uniform(size=ranks.size)
    kolmogorov = stats.kstest((ranks + dither) / (num_draws + 1), "uniform").pvalue
    return Uniformity(float(ecdf), float(stats.chisquare(bins).pvalue), float(kolmogorov))


def num_bins(num_cases: int, num_draws: int) -> int:
    """Return the largest number of equal bins, 2 to 20, with an expected count of at least five."""
    sizes = [size for size in range(2, 21) if (num_draws + 1) % size == 0]
    if not sizes:
        raise ValueError(f"`num_draws` + 1 must have a divisor from 2 to 20, as for 99; got {num_draws}.")
    return max([size for size in sizes if num_cases >= _MIN_EXPECTED_COUNT * size], default=min(sizes))


def ecdf(ranks: np.ndarray, num_draws: int) -> np.ndarray:
    """Return the share of the ranks below i, for i = 1 … `num_draws`."""
    return np.cumsum(np.bincount(ranks, minlength=num_draws + 1))[:-1] / len(ranks)


def simultaneous_band(num_cases: int, num_draws: int, confidence: float = 0.95) -> Band:
    """Return the band that holds the whole `ecdf` of uniform ranks with at least this probability."""
    null = _null(num_cases, num_draws)
    worst = max(int((1 - confidence) * (1 + null.size)) - 1, 0)
    inside = _tails(num_cases, num_draws) > null[worst]
    low = np.argmax(inside, axis=1)
    high = num_cases - np.argmax(inside[:, ::-1], axis=1)
    return Band(np.arange(1, num_draws + 1) / (num_draws + 1), low / num_cases, high / num_cases)


@lru_cache(maxsize=8)
def _tails(num_cases: int, num_draws: int) -> np.ndarray:
    """Return the two-sided tail of each count 0 … n at each of the L points, (L, n + 1)."""
    from scipy import stats

    points = np.arange(1, num_draws + 1)[:, None] / (num_draws + 1)
    counts = np.arange(num_cases + 1)[None, :]
    below = stats.binom.cdf(counts, num_cases, points)
    above = stats.binom.sf(counts - 1, num_cases, points)
    return np.minimum(2 * np.minimum(below, above), 1.0)


def _min_tail(counts: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Return γ of each row of counts (b, L + 1)."""
    running = np.cumsum(counts, axis=1)[:, :-1]
    return tails[np.arange(tails.shape[0])[None, :], running].min(axis=1)


@lru_cache(maxsize=8)
def _null(num_cases: int, num_draws: int) -> np.ndarray:
    """Return sorted draws of γ under uniform ranks."""
    generator = np.random.default_rng(_NULL_SEED)
    shares = np.full(num_draws + 1, 1 / (num_draws + 1))
    counts = generator.multinomial(num_cases, shares, NUM_SIMULATIONS)
    return np.sort(_min_tail(counts, _tails(num_cases, num_draws)))
