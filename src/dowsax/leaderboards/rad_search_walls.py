"""Walls that are rectangles along the axes: what they hide, how far they are, and the ways around them."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

DIRECTIONS = np.array([(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)], float)
"""Of moves and ranges, not yet of length one."""
MOVES = np.where(np.abs(DIRECTIONS).sum(axis=1, keepdims=True) == 1, 100.0, 71.0) * DIRECTIONS
"""[cm]"""
RAYS = DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1, keepdims=True)
_TOUCH = 1e-6
"""Of a line, the share that has to lie in a wall before the wall counts as met."""
_BORDER = 1e-6
"""[cm], of a wall, on which ways are allowed."""

Rectangles = Float[np.ndarray, "n 4"]
"""Low x, low y, high x, high y [cm]."""


def crossings(
    rectangles: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return at which shares of lines they enter and leave rectangles, and whether they do.

    All broadcast against each other: rectangles (..., 4), starts and ends (..., 2). A line along a border
    does not meet its rectangle.
    """
    along = ends - starts
    safe = np.where(np.abs(along) < 1e-9, 1e-9, along)
    first = (rectangles[..., :2] + _BORDER - starts) / safe
    second = (rectangles[..., 2:] - _BORDER - starts) / safe
    low, high = np.minimum(first, second).max(axis=-1), np.maximum(first, second).min(axis=-1)
    low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    return low, high, high - low > _TOUCH


def contains(rectangles: Rectangles, places: Float[np.ndarray, "... 2"]) -> Bool[np.ndarray, "..."]:
    """Return whether places (..., 2) lie inside any of the rectangles; borders are outside."""
    places = np.asarray(places)[..., None, :]
    inside = (places > rectangles[:, :2]) & (places < rectangles[:, 2:])
    return np.asarray(inside.all(axis=-1).any(axis=-1))


def is_hidden(rectangles: Rectangles, start: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return whether any of the rectangles stands between the start and each of the ends (..., 2)."""
    if not len(rectangles):
        return np.zeros(np.shape(ends)[:-1], bool)
    return np.asarray(
        crossings(rectangles, np.asarray(start), np.asarray(ends)[..., None, :])[2].any(axis=-1)
    )


def ranges(rectangles: Rectangles, place: np.ndarray, reach: float) -> Float[np.ndarray, "8"]:
    """Return how far the nearest wall is in each direction [cm]; infinite from `reach` on."""
    if not len(rectangles):
        return np.full(len(RAYS), np.inf)
    ends = place + reach * RAYS[:, None]
    enters, _, meets = crossings(rectangles, place, ends)
    return np.where(meets, reach * enters, np.inf).min(axis=1)


class Shadows(NamedTuple):
    """Places on a regular grid, from which it is fast to tell which rectangles hide them."""

    xs: Float[np.ndarray, " k"]
    ys: Float[np.ndarray, " m"]

    def cast(self, rectangles: Rectangles, place: np.ndarray) -> Bool[np.ndarray, "n k m"]:
        """Return which places of the grid each rectangle hides from a place.

        Shares of a line at which it crosses vertical sides depend on x alone, of horizontal ones on y.
        """
        low_x, high_x = _shares(rectangles[:, 0], rectangles[:, 2], place[0], self.xs)
        low_y, high_y = _shares(rectangles[:, 1], rectangles[:, 3], place[1], self.ys)
        low = np.maximum(low_x[:, :, None], low_y[:, None, :])
        return np.minimum(high_x[:, :, None], high_y[:, None, :]) - low > np.float32(_TOUCH)


def _shares(
    low: np.ndarray, high: np.ndarray, start: float, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return at which shares of the lines from start to ends (n, k) these are between low and high."""
    along = np.where(np.abs(ends - start) < 1e-3, 1e-3, ends - start).astype(np.float32)
    first = (low - start).astype(np.float32)[:, None] / along
    second = (high - start).astype(np.float32)[:, None] / along
    return np.maximum(np.minimum(first, second), 0), np.minimum(np.maximum(first, second), 1)


class Ways:
    """Shortest ways around walls: straight lines between corners, by a visibility graph."""

    def __init__(self, rectangles: Rectangles) -> None:
        self.rectangles = rectangles
        corners = rectangles[:, [0, 1, 0, 3, 2, 3, 2, 1]].reshape(-1, 2)
        self.corners = corners[~contains(rectangles, corners)] if len(corners) else corners
        self._between = self._legs(self.corners, self.corners)
        for middle in range(len(self.corners)):
            through = self._between[:, middle, None] + self._between[None, middle]
            np.minimum(self._between, through, out=self._between)

    def _legs(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the lengths of straight lines (n, m), infinite through a wall."""
        lengths = np.linalg.norm(starts[:, None] - ends[None], axis=-1)
        if not len(self.rectangles) or not lengths.size:
            return lengths
        blocked = crossings(self.rectangles, starts[:, None, None], ends[None, :, None])[2].any(axis=-1)
        return np.where(blocked, np.inf, lengths)

    def from_corners(self, places: np.ndarray) -> np.ndarray:
        """Return the lengths of the shortest ways from each corner to places (k, m)."""
        direct = self._legs(self.corners, places)
        if not len(self.corners):
            return direct
        return (self._between[:, :, None] + direct[None]).min(axis=1)

    def lengths(
        self, starts: np.ndarray, places: np.ndarray, from_corners: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the lengths of the shortest ways from starts (n, 2) to places (m, 2).

        `from_corners` is that of the same places, where it is needed more than once.
        """
        direct = self._legs(starts, places)
        if not len(self.corners):
            return direct
        ways = self.from_corners(places) if from_corners is None else from_corners
        for to_corner, onward in zip(self._legs(starts, self.corners).T, ways, strict=True):
            np.minimum(direct, to_corner[:, None] + onward[None], out=direct)
        return direct
