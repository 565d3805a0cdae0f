"""Where one may read next: places inside the bounds, on ways inside the bounds, within the budget."""

from dataclasses import dataclass

import numpy as np

from dowsax.geo.polygons import TOUCH, Bounds

_SHORTER = (1.0, 0.5, 0.25, 0.125)
"""Shares of a step that are tried, the longest first, where whole ones lead nowhere allowed."""
_LEAST = 1e-6


@dataclass(frozen=True)
class Steps:
    """Steps of one length [m] in evenly spread directions, the first to the east."""

    length: float
    directions: int = 8

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(f"`length` of a step is above 0 m; got {self.length}.")
        if self.directions < 3:
            raise ValueError(f"`directions` is at least 3; got {self.directions}.")

    def around(self, position, share: float = 1.0) -> np.ndarray:
        """(directions, 2) [m]"""
        angles = np.linspace(0.0, 2 * np.pi, self.directions, endpoint=False)
        # Cosines of right angles are rounded to zero, so that a walk on a lattice stays on it.
        offsets = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 12)
        return np.asarray(position, np.float64)[None] + share * self.length * offsets


@dataclass(frozen=True)
class Reach:
    """What can be reached: steps in every direction, or a list of places, within bounds and an area."""

    bounds: Bounds
    area: tuple[tuple[float, float], tuple[float, float]]
    """[m], the low and the high corner."""
    steps: Steps | None = None
    points: tuple[tuple[float, float], ...] = ()
    """[m], the only places there are, when there are any."""

    def __post_init__(self) -> None:
        if (self.steps is None) == (not self.points):
            raise ValueError("Give either steps or a list of points to choose from.")

    @property
    def most(self) -> int:
        """The greatest number of candidates there can be."""
        return len(self.points) if self.steps is None else self.steps.directions

    def allowed(self, position, places: np.ndarray, distance: float | None) -> np.ndarray:
        """Those of the places that may be gone to, straight from the position, within the distance [m].

        A place that misses the area by a hair, as positions are told in millimetres, is put on its border.
        """
        inside = np.clip(places, *np.asarray(self.area, np.float64))
        fits = np.all(np.abs(places - inside) <= TOUCH, axis=1)
        places = inside
        far = np.linalg.norm(places - np.asarray(position)[None], axis=1)
        if distance is not None:
            fits &= far <= distance + _LEAST
        fits[fits] = self.bounds.allow_way(position, places[fits])
        return places[fits]

    def candidates(self, position, distance: float | None = None) -> np.ndarray:
        """The places (k, 2) [m] to choose from, with `distance` [m] left to go; none when there are none.

        Who stands where one may not be is led back to the nearest allowed place first. Where steps are too
        long for the bounds or for what is left, shorter ones are taken.
        """
        position = np.asarray(position, np.float64)
        low, high = np.asarray(self.area, np.float64)
        if not self.bounds.allow(position[None])[0]:
            back = np.clip(self.bounds.nearest(position), low, high)[None]
            fits = self.bounds.allow(back)
            if distance is not None:
                fits &= np.linalg.norm(back - position[None], axis=1) <= distance + _LEAST
            return back[fits]
        if self.steps is None:
            places = np.asarray(self.points, np.float64)
            elsewhere = np.linalg.norm(places - position[None], axis=1) > _LEAST
            return self.allowed(position, places[elsewhere], distance)
        for share in _SHORTER:
            places = self.allowed(position, self.steps.around(position, share), distance)
            if len(places):
                return places
        return np.zeros((0, 2))

    def outside(self, position) -> bool:
        """Whether the position lies where one may not be."""
        return not bool(self.bounds.allow(np.asarray(position, np.float64)[None])[0])
