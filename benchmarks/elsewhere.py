"""What policies lose where sources are not as in training: stop rates of the regions, their mean, and drops.

The searches of one number have the same key in every region: start, noise and all of the source but its place
are the same, so that drops are taken search by search.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.measured import RULES, Measured
from benchmarks.train_all import ELSEWHERE
from dowsax.evaluate.metrics import Estimate, share
from dowsax.evaluate.paired import paired_share
from dowsax.experiments.run import Run

OUTER = ("ood-west", "ood-east")
REGIONS = (ELSEWHERE, *OUTER)
"""Where sources are: as in training, and elsewhere."""
FILE = "learned-elsewhere.csv"


def lines_of(found: Mapping[Run, Measured]) -> list[tuple[dict[str, str], dict[str, Estimate]]]:
    """A line for each policy, field and rule that was measured in all regions."""
    lines = []
    for policy, field in dict.fromkeys((one.policy, one.field) for one in found):
        of = {run.scenario: one for run, one in found.items() if (run.policy, run.field) == (policy, field)}
        if not set(REGIONS) <= set(of):
            continue
        require_same_numbers([of[region] for region in REGIONS])
        for rule in RULES:
            labels = {"policy": policy, "field": field, "stop": str(rule)}
            lines.append((labels, numbers_of(*(of[region].ends[rule].stopped for region in REGIONS))))
    return lines


def numbers_of(home: np.ndarray, west: np.ndarray, east: np.ndarray) -> dict[str, Estimate]:
    """From which searches stopped where sources are as in training, in the west and in the east."""
    mean = shares_mean(west, east)
    return {
        "training": share(home),
        "west": share(west),
        "east": share(east),
        "mean": mean,
        "lost_west": paired_share(home, west),
        "lost_east": paired_share(home, east),
        "lost_mean": _less(share(home), mean, _correlation(home, (west + 0.0 + east) / 2)),
    }


def shares_mean(first: np.ndarray, second: np.ndarray) -> Estimate:
    r"""The mean $(p_1 + p_2)/2$ of two shares of cases that belong together in pairs.

    From Wilson's limits of each, as Newcombe (1998) has it for differences: the lower limit is the mean less
    $\tfrac12\sqrt{a^2 + 2\varphi ab + b^2}$ with $a = p_1 - l_1$ and $b = p_2 - l_2$.
    """
    one, other, phi = share(first), share(second), _correlation(first, second)
    value = (one.value + other.value) / 2
    below = _joined(one.value - one.low, other.value - other.low, phi) / 2
    above = _joined(one.high - one.value, other.high - other.value, phi) / 2
    return Estimate(value, value - below, value + above, one.n)


def _less(one: Estimate, other: Estimate, phi: float) -> Estimate:
    """The difference, likewise."""
    value = one.value - other.value
    below = _joined(one.value - one.low, other.high - other.value, -phi)
    above = _joined(one.high - one.value, other.value - other.low, -phi)
    return Estimate(value, value - below, value + above, one.n)


def _joined(one: float, other: float, phi: float) -> float:
    # The root of a square but for rounding, when φ is ±1 and the two are the same.
    return math.sqrt(max(one**2 + 2 * phi * one * other + other**2, 0.0))


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """0 where one of the two is always the same."""
    if np.ptp(first.astype(float)) == 0 or np.ptp(second.astype(float)) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def require_same_numbers(regions: Sequence[Measured]) -> None:
    """A ValueError unless the regions have the same numbered searches."""
    names = ("seed", "episodes", "weights")
    if len({tuple(str(region.about.get(name)) for name in names) for region in regions}) > 1:
        raise ValueError(
            f"{regions[0].about['policy']} was not measured alike in all regions: they cannot be paired."
        )
