"""The action space of a site: the places to read next, inside the bounds and within the budget."""

from dataclasses import dataclass

import numpy as np

from dowsax.geo.polygons import TOUCH, Bounds

_STEP_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Shares of a step to try, the longest first, where whole steps lead nowhere allowed."""
_RING_FACTOR = 2.0
"""Between the lengths of far candidates."""
NUM_PROMISING = 16
"""Places that the belief proposes as candidates."""
_ROUNDING_M = 1e-6


@dataclass(frozen=True)
class Steps:
    """Steps of one length [m] in evenly spaced directions, the first to the east."""

    length: float
    directions: int = 8

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(f"`length` of a step must be > 0 m; got {self.length}.")
        if self.directions < 3:
            raise ValueError(f"`directions` must be at least 3; got {self.directions}.")

    def around(self, position, share: float = 1.0, turn: float = 0.0) -> np.ndarray:
        """Return the ends of the steps from a position, (directions, 2) [m].

        `turn` rotates all of them by this share of the angle between two.
        """
        angles = 2 * np.pi * (np.arange(self.directions) + turn) / self.directions
        # Cosines of right angles are rounded to zero, so that a walk on a lattice stays on it.
        offsets = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 12)
        return np.asarray(position, np.float64)[None] + share * self.length * offsets


@dataclass(frozen=True)
class ActionSpace:
    """Steps in every direction, or a list of places, within bounds and an area."""

    bounds: Bounds
    area: tuple[tuple[float, float], tuple[float, float]]
    """[m], the low and the high corner."""
    steps: Steps | None = None
    points: tuple[tuple[float, float], ...] = ()
    """[m], the only places to choose from; empty where there are steps."""

    def __post_init__(self) -> None:
        if (self.steps is None) == (not self.points):
            raise ValueError("Give either steps or a list of points to choose from.")

    @property
    def max_candidates(self) -> int:
        """The largest number of candidates."""
        return len(self.points) if self.steps is None else self.steps.directions

    def filter_allowed(self, position, places: np.ndarray, distance: float | None) -> np.ndarray:
        """Return the places that are allowed on a straight way from the position, within the distance [m].

        A place that misses the area by less than the rounding of positions is moved to its border.
        """
        inside = np.clip(places, *np.asarray(self.area, np.float64))
        fits = np.all(np.abs(places - inside) <= TOUCH, axis=1)
        places = inside
        far = np.linalg.norm(places - np.asarray(position)[None], axis=1)
        if distance is not None:
            fits &= far <= distance + _ROUNDING_M
        fits[fits] = self.bounds.allow_way(position, places[fits])
        return places[fits]

    def candidates(self, position, distance: float | None = None) -> np.ndarray:
        """Return the places (k, 2) [m] to choose from, with `distance` [m] left to go; k may be 0.

        From a forbidden position the only candidate is the nearest allowed place. Where steps are too long
        for the bounds or for the distance left, they are shortened.
        """
        position = np.asarray(position, np.float64)
        low, high = np.asarray(self.area, np.float64)
        if not self.bounds.allow(position[None])[0]:
            back = np.clip(self.bounds.nearest(position), low, high)[None]
            fits = self.bounds.allow(back)
            if distance is not None:
                fits &= np.linalg.norm(back - position[None], axis=1) <= distance + _ROUNDING_M
            return back[fits]
        if self.steps is None:
            places = np.asarray(self.points, np.float64)
            elsewhere = np.linalg.norm(places - position[None], axis=1) > _ROUNDING_M
            return self.filter_allowed(position, places[elsewhere], distance)
        for share in _STEP_SHARES:
            places = self.filter_allowed(position, self.steps.around(position, share), distance)
            if len(places):
                return places
        return np.zeros((0, 2))

    def far_candidates(self, position, distance: float | None = None, promising=()) -> np.ndarray:
        """Return candidates (k, 2) [m] near and far: k ≤ `max_far_candidates`, and may be 0.

        Rings of steps, of half a step to half the diagonal of the area, and the `promising` places.
        """
        nearby = self.candidates(position, distance)
        if self.steps is None or self.is_outside(position) or len(nearby) == 0:
            return nearby
        rings = [
            self.steps.around(position, length / self.steps.length, turn=number % 2 / 2)
            for number, length in enumerate(self.ring_lengths)
        ]
        places = np.concatenate([*rings, np.asarray(promising, np.float64).reshape(-1, 2)])
        far = self.filter_allowed(position, places, distance)
        moved = np.linalg.norm(far - np.asarray(position)[None], axis=1) > _ROUNDING_M
        return far[moved] if moved.any() else nearby

    @property
    def ring_lengths(self) -> list[float]:
        """[m], lengths of the steps of `far_candidates`."""
        if self.steps is None:
            return []
        low, high = np.asarray(self.area, np.float64)
        most = float(np.linalg.norm(high - low)) / 2
        lengths = self.steps.length * _RING_FACTOR ** np.arange(-1, 12)
        return [float(length) for length in lengths if length <= max(most, self.steps.length)]

    @property
    def max_far_candidates(self) -> int:
        """The largest number of far candidates."""
        if self.steps is None:
            return len(self.points)
        return self.steps.directions * len(self.ring_lengths) + NUM_PROMISING

    def is_outside(self, position) -> bool:
        """Whether the position is forbidden."""
        return not bool(self.bounds.allow(np.asarray(position, np.float64)[None])[0])
