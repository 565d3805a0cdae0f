"""One policy against others: search by search where these are kept, by intervals where they are not."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from dowsax.evaluate.metrics import NOTHING, Ends, Estimate
from dowsax.evaluate.paired import differences
from dowsax.evaluate.statistics import resample_counts


class Against(NamedTuple):
    """The policy minus its rival."""

    stop_rate: Estimate
    path_length: Estimate
    """[m]; where both stopped if `paired`, else of those that each of them stopped."""
    paired: bool


def paired(policy: Ends, rival: Ends) -> Against:
    """From where the same searches ended."""
    found = differences(policy, rival)
    return Against(found.stop_rate, found.path_length_both, True)


def by_intervals(policy: Mapping[str, Estimate], rival: Mapping[str, Estimate]) -> Against:
    """From two lines of tables, as if their searches had nothing in common."""
    names = ("stop_rate", "path_length_stopped")
    return Against(*(apart(policy[name], rival[name]) for name in names), False)


def apart(first: Estimate, second: Estimate) -> Estimate:
    r"""The difference of two independent numbers from their intervals.

    Newcombe's method (1998): with limits $l, u$ of each, the lower limit of the difference is
    $d - \sqrt{(x_1 - l_1)^2 + (u_2 - x_2)^2}$; the upper one with the numbers exchanged. n is the smaller.
    """
    if first.value is None or second.value is None:
        return NOTHING
    value = first.value - second.value
    below = math.hypot(first.value - first.low, second.high - second.value)
    above = math.hypot(first.high - first.value, second.value - second.low)
    return Estimate(value, value - below, value + above, min(first.n, second.n))


def path_ratio(policy: Ends, straight: Ends) -> Estimate:
    r"""$\sum_i l_i / \sum_i s_i$ of the paths l of a policy and s of the straight walk, where both stopped.

    The interval is the percentile bootstrap's over searches.
    """
    both = policy.stopped & straight.stopped
    lengths = np.stack([policy.path_length[both], straight.path_length[both]], axis=1).astype(np.float64)
    return ratio_of_sums(lengths)


def ratio_of_sums(pairs: np.ndarray) -> Estimate:
    """The sum of the first column over that of the second, with the percentile bootstrap over rows."""
    if len(pairs) == 0:
        return NOTHING
    sums = resample_counts(len(pairs)) @ pairs
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [0.025, 0.975])
    whole = pairs.sum(axis=0)
    return Estimate(float(whole[0] / whole[1]), float(low), float(high), len(pairs))


class Verdict(NamedTuple):
    """Whether a policy is the best of all, by the names of its rivals."""

    oftener: tuple[str, ...]
    """Those that stop more often than it, beyond the interval."""
    tied: tuple[str, ...]
    """Those that stop as often within the interval."""
    shorter: tuple[str, ...]
    """Of the tied, those whose path is shorter than its own, beyond the interval."""
    level: tuple[str, ...]
    """Of the tied, those whose path is as long within the interval."""

    @property
    def best(self) -> bool:
        """It has the highest stop rate or ties, and no path is shorter among those that tie."""
        return not (self.oftener or self.shorter)


def verdict(found: Mapping[str, Against]) -> Verdict:
    """What the differences to all rivals say."""
    known = {name: one for name, one in found.items() if one.stop_rate.value is not None}
    oftener = tuple(name for name, one in known.items() if one.stop_rate.high < 0)
    tied = {name: one for name, one in known.items() if one.stop_rate.low <= 0 <= one.stop_rate.high}
    paths = {name: one.path_length for name, one in tied.items() if one.path_length.value is not None}
    shorter = tuple(name for name, path in paths.items() if path.low > 0)
    level = tuple(name for name, path in paths.items() if path.low <= 0 <= path.high)
    return Verdict(oftener, tuple(tied), shorter, level)
