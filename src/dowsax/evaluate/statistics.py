"""Confidence intervals of shares and means, and p-values of many tests."""

import math
from statistics import NormalDist

import numpy as np

NUM_RESAMPLES = 2000
"""Of a bootstrap."""
_CONFIDENCE = 0.95


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Wilson's score interval of a share $\hat p = s/n$ (1927).

    $$\frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}$$

    Always inside [0, 1], and of sensible width at 0 and n successes, where an end is exactly 0 or 1; (0, 1)
    without any trial.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"`successes` must be from 0 to `trials`; got {successes} of {trials}.")
    _require_confidence(confidence)
    if trials == 0:
        return 0.0, 1.0
    score = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, scale = successes / trials, 1 + score**2 / trials
    middle = share + score**2 / (2 * trials)
    half = score * math.sqrt(share * (1 - share) / trials + score**2 / (4 * trials**2))
    # Rounding must not hide that these limits are exact.
    low = 0.0 if successes == 0 else (middle - half) / scale
    return low, 1.0 if successes == trials else (middle + half) / scale


def bootstrap_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean of `values` (n,), in their unit.

    NaN without any value. The same values give the same interval.
    """
    values = np.asarray(values, np.float64)
    if values.size == 0:
        return math.nan, math.nan
    generator = np.random.default_rng(0)
    # The counts of the values are multinomial: one matrix product instead of a gather per resample.
    counts = generator.multinomial(values.size, np.full(values.size, 1 / values.size), NUM_RESAMPLES)
    low, high = np.quantile(counts @ values / values.size, [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2])
    return float(low), float(high)


def resample_counts(num_values: int, num_resamples: int = NUM_RESAMPLES) -> np.ndarray:
    """Return how often each of n values is in each bootstrap resample, (resamples, n); each row sums to n.

    For several statistics of the same resamples, and for statistics that are not means.
    """
    drawn = np.random.default_rng(0).integers(num_values, size=(num_resamples, num_values))
    drawn += num_values * np.arange(num_resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=num_resamples * num_values)
    return counts.reshape(num_resamples, num_values).astype(np.float64)


def holm(p_values: np.ndarray) -> np.ndarray:
    r"""Holm's adjusted p-values (1979): rejecting those $\le a$ errs anywhere with probability at most $a$.

    $$\tilde p_{(i)} = \max_{j \le i} \min\{1, (m - j + 1)\, p_{(j)}\},$$

    for any dependence between the m tests.
    """
    p_values = np.asarray(p_values, np.float64)
    order = np.argsort(p_values)
    factors = p_values.size - np.arange(p_values.size)
    adjusted = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    result = np.empty_like(adjusted)
    result[order] = adjusted
    return result


def _require_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"`confidence` must be strictly between 0 and 1; got {confidence}.")
