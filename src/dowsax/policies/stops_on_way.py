"""Where a searcher of a team stops and reads on its way to a far place.

While one is on its way, the others read, and its place may come to tell nothing more. So a far way is gone in
legs: after each the searcher reads, and its next place is chosen again.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from dowsax.world import Budget

_MAX_READING_SHARE = 0.1
"""Of the time of a leg, that the reading at its end may take."""
_MIN_LEGS = 1.5
"""A way is far where it is longer than this many legs."""


@dataclass(frozen=True)
class StopsOnWay:
    """The stops on far ways."""

    shortest: float
    """[m], of a leg."""
    speed: float
    """[m/s]"""
    reading_time: float
    """[s], that a reading takes."""
    apart: float
    """[m], how far from the next places of the others one stops."""

    def leg_length(self, budget: Budget) -> float:
        """Return the length [m] of legs: the way for each of the readings that are left.

        They are no shorter than `shortest`, nor so short that reading takes much of the time. Where neither
        way nor time is limited, readings are what is scarce, and nobody stops.
        """
        way = min(float(budget.distance), float(budget.time) * self.speed)
        if not math.isfinite(way):
            return math.inf
        per_reading = way / max(float(budget.readings), 1.0)
        return max(per_reading, self.shortest, self.speed * self.reading_time / _MAX_READING_SHARE)

    def first_on(
        self,
        way: Float[np.ndarray, "corners 2"],
        budget: Budget,
        others: Iterable[tuple[float, float]] = (),
    ) -> tuple[float, float] | None:
        """Return the first stop [m] on a way [m]; `None` where one goes through, or another is about to read.

        `others` are the next places of the others [m].
        """
        leg, lengths = self.leg_length(budget), np.linalg.norm(np.diff(way, axis=0), axis=1)
        whole = float(lengths.sum())
        number = min(math.ceil(whole / leg), math.floor(whole / self.shortest))
        if whole <= _MIN_LEGS * leg or number < 2:
            return None
        x, y = _place_at(way, lengths, whole / number)
        is_free = all(math.dist((x, y), place) > self.apart for place in others)
        return (x, y) if is_free else None


def _place_at(
    way: Float[np.ndarray, "corners 2"], lengths: Float[np.ndarray, " legs"], distance: float
) -> tuple[float, float]:
    """Return the place at a distance [m] from the start of a way."""
    gone = np.concatenate([[0.0], np.cumsum(lengths)])
    number = min(int(np.searchsorted(gone, distance, side="right")) - 1, len(lengths) - 1)
    x, y = way[number] + (distance - gone[number]) / lengths[number] * (way[number + 1] - way[number])
    return float(x), float(y)
