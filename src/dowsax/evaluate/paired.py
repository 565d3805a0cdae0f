"""Paired comparison of two policies on the same searches."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dowsax.evaluate.metrics import NOTHING, Ends, Estimate, ends, means
from dowsax.evaluate.statistics import resample_counts, wilson_interval
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode

# Sources drawn on another kind of machine differ by rounding.
_SOURCE_TOLERANCE = 1e-3


class Differences(NamedTuple):
    """The first policy minus the second, search by search."""

    stop_rate: Estimate
    false_stop_all: Estimate
    """Of the share of all searches that stopped with an error of 1 m or more."""
    false_stop_both: Estimate
    """The same share of the searches that both stopped."""
    path_length_both: Estimate
    """[m], where both stopped."""
    error_both: Estimate
    """[m], where both stopped."""


def compare(first: Sequence[Episode], second: Sequence[Episode], rule: TraceRule) -> Differences:
    """Compare two policies; entry i of both is the search with the same key."""
    if not same_searches(first, second):
        raise ValueError("These are not the same searches: their sources differ.")
    return differences(ends(first, rule), ends(second, rule))


def same_searches(first: Sequence[Episode], second: Sequence[Episode]) -> bool:
    """Return whether the sources agree one by one; those of searches with other keys do not."""
    if len(first) != len(second):
        return False
    return all(
        np.allclose(one.theta, other.theta, rtol=_SOURCE_TOLERANCE, atol=_SOURCE_TOLERANCE)
        for one, other in zip(first, second, strict=True)
    )


def differences(first: Ends, second: Ends) -> Differences:
    """Return the differences from the ends of the searches."""
    both = first.stopped & second.stopped
    path_length, error = means(
        (first.path_length - second.path_length)[both], (first.error - second.error)[both]
    )
    return Differences(
        stop_rate=paired_share(first.stopped, second.stopped),
        false_stop_all=paired_share(first.false, second.false),
        false_stop_both=paired_share(first.false[both], second.false[both]),
        path_length_both=path_length,
        error_both=error,
    )


def paired_share(first: np.ndarray, second: np.ndarray) -> Estimate:
    r"""Return the difference $p_1 - p_2$ of two shares of the same cases, with Newcombe's interval (1998).

    His method 10: with Wilson's limits $l, u$ of each share, $a = p_1 - l_1$ and $b = u_2 - p_2$, the lower
    limit is $p_1 - p_2 - \sqrt{a^2 - 2\hat\varphi ab + b^2}$; the upper one with the shares exchanged.
    $\hat\varphi$ is the correlation of the two outcomes, corrected for continuity. Unlike a bootstrap
    interval it has a width where the two never differ.
    """
    trials = int(np.size(first))
    if trials == 0:
        return NOTHING
    p_first, p_second = float(np.mean(first)), float(np.mean(second))
    low_first, high_first = wilson_interval(int(np.sum(first)), trials)
    low_second, high_second = wilson_interval(int(np.sum(second)), trials)
    phi, value = _correlation(first, second), p_first - p_second
    below = _half_width(p_first - low_first, high_second - p_second, phi)
    above = _half_width(p_second - low_second, high_first - p_first, phi)
    return Estimate(value, value - below, value + above, trials)


def paired_ratio(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the ratio of the sums of two numbers of the same cases, with a 95 % bootstrap interval."""
    if np.size(first) == 0:
        return NOTHING
    counts = resample_counts(np.size(first))
    ratios = (counts @ first) / (counts @ second)
    low, high = np.quantile(ratios, (0.025, 0.975))
    return Estimate(float(np.sum(first) / np.sum(second)), float(low), float(high), int(np.size(first)))


def _half_width(one: float, other: float, phi: float) -> float:
    # The root of a square but for rounding, when φ is 1 and the two are the same.
    return math.sqrt(max(one**2 - 2 * phi * one * other + other**2, 0.0))


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """φ of a two-by-two table; if positive, with a continuity correction of half a case."""
    both, neither = int(np.sum(first & second)), int(np.sum(~first & ~second))
    only_first, only_second = int(np.sum(first & ~second)), int(np.sum(~first & second))
    margins = (both + only_first) * (neither + only_second) * (both + only_second) * (neither + only_first)
    if margins == 0:
        return 0.0
    excess = both * neither - only_first * only_second
    corrected = max(excess - np.size(first) / 2, 0.0) if excess > 0 else excess
    return corrected / math.sqrt(margins)
