"""Polygons in metres, and the bounds of a site: which places and straight ways are allowed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Polygon = np.ndarray
"""(n, 2) [m], the corners of a simple polygon in order; the last is joined to the first."""

TOUCH = 1e-3
"""[m], a point this close to a border lies on it: about what float32 resolves over 10 km."""
MIN_POLYGON_M2 = 1e-6
"""[m²], a polygon with less encloses nothing."""
_MAX_PAIRS = 200_000
"""Of points and sides that are compared at once, to bound the memory."""
_MAX_BORDER_POINTS = 2000
"""Nearest points on borders among which `nearest` looks for an allowed one."""
_INWARD_M = 0.01
"""How far inside the border the nearest allowed place lies, where there is room."""


def signed_area(polygon: Polygon) -> float:
    r"""$\frac12 \sum_i x_i y_{i+1} - x_{i+1} y_i$ [m²]: positive when the corners go round to the left."""
    # From its first corner, so that a small polygon far from (0, 0) loses no digits.
    corners = polygon - polygon[0]
    following = np.roll(corners, -1, axis=0)
    return float(0.5 * np.sum(corners[:, 0] * following[:, 1] - following[:, 0] * corners[:, 1]))


def clip(polygon: Polygon, low: np.ndarray, high: np.ndarray) -> Polygon:
    """Return the part of a ring in the box from low to high (2,) [m] (Sutherland and Hodgman).

    Where the ring leaves the box several times, its parts are joined by ways there and back along the sides.
    """
    for axis in (0, 1):
        for sign, limit in ((1, high[axis]), (-1, low[axis])):
            ends = np.roll(polygon, -1, axis=0)
            room, room_at_end = sign * (limit - polygon[:, axis]), sign * (limit - ends[:, axis])
            leaves = (room >= 0) != (room_at_end >= 0)
            share = room / np.where(leaves, room - room_at_end, 1.0)
            cuts = polygon + share[:, None] * (ends - polygon)
            cuts[:, axis] = limit
            is_corner = np.stack([room >= 0, leaves], axis=1).ravel()
            polygon = np.stack([polygon, cuts], axis=1).reshape(-1, 2)[is_corner]
    return polygon


def inside(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return whether each point (k, 2) lies in the polygon.

    A ray from a point inside crosses the border an odd number of times. Points on the border itself may go
    either way; see `distance_to_border`.
    """
    ends = np.roll(polygon, -1, axis=0)
    rise = np.where(ends[:, 1] == polygon[:, 1], 1.0, ends[:, 1] - polygon[:, 1])
    found = np.zeros(len(points), bool)
    for chunk in _chunks(polygon, points):
        x, y = points[chunk, :1], points[chunk, 1:]
        straddles = (polygon[:, 1] > y) != (ends[:, 1] > y)
        crossing = polygon[:, 0] + (y - polygon[:, 1]) * (ends[:, 0] - polygon[:, 0]) / rise
        found[chunk] = np.sum(straddles & (x < crossing), axis=1) % 2 == 1
    return found


def projections(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return the place nearest to each point on each side of the polygon: (k, n, 2) [m]."""
    sides = np.roll(polygon, -1, axis=0) - polygon
    lengths = np.maximum(np.sum(sides**2, axis=1), 1e-300)
    offsets = points[:, None] - polygon[None]
    shares = np.clip(np.sum(offsets * sides[None], axis=2) / lengths, 0, 1)
    return polygon[None] + shares[..., None] * sides[None]


def distance_to_border(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return the distance [m] from each point (k, 2) to the nearest side, from inside or outside."""
    distances = np.zeros(len(points))
    for chunk in _chunks(polygon, points):
        offsets = projections(polygon, points[chunk]) - points[chunk, None]
        distances[chunk] = np.linalg.norm(offsets, axis=2).min(axis=1)
    return distances


def _chunks(polygon: Polygon, points: np.ndarray) -> Iterator[slice]:
    size = max(1, _MAX_PAIRS // max(1, len(polygon)))
    return (slice(start, start + size) for start in range(0, len(points), size))


def covers(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return whether each point lies in the polygon or on its border."""
    return inside(polygon, points) | (distance_to_border(polygon, points) <= TOUCH)


def holds(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return whether each point lies in the polygon and not on its border."""
    return inside(polygon, points) & (distance_to_border(polygon, points) > TOUCH)


def _sides(polygons: Sequence[Polygon]) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts (n, 2) [m] and the directions (n, 2) [m] of the sides of all polygons."""
    starts = [np.zeros((0, 2)), *polygons]
    ends = [np.roll(polygon, -1, axis=0) for polygon in starts]
    return np.concatenate(starts), np.concatenate(ends) - np.concatenate(starts)


def _crossings(corners: np.ndarray, sides: np.ndarray, start: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the shares in [0, 1] of the ways from start to each of the ends (k, 2) at which they meet sides.

    They are (k, 2 n), NaN for each side or corner that a way does not meet. A way along a side meets it at
    the corners, which the neighbouring sides give.
    """
    ways = (ends - start)[:, None]
    turn = ways[..., 0] * sides[:, 1] - ways[..., 1] * sides[:, 0]
    offsets = corners - start
    parallel = np.abs(turn) <= 1e-12 * np.linalg.norm(ways, axis=2) * np.linalg.norm(sides, axis=1)
    turn = np.where(parallel, 1.0, turn)
    along_way = (offsets[:, 0] * sides[:, 1] - offsets[:, 1] * sides[:, 0]) / turn
    along_side = (offsets[:, 0] * ways[..., 1] - offsets[:, 1] * ways[..., 0]) / turn
    meets = ~parallel & (along_way >= 0) & (along_way <= 1) & (along_side >= -1e-9) & (along_side <= 1 + 1e-9)
    # The corners are cuts as well, so that a way along a side is checked piece by piece.
    lengths = np.maximum(np.sum(ways**2, axis=2), 1e-300)
    shares = np.clip(np.sum(offsets * ways, axis=2) / lengths, 0, 1)
    touched = np.linalg.norm(shares[..., None] * ways - offsets, axis=2) <= TOUCH
    return np.concatenate([np.where(meets, along_way, np.nan), np.where(touched, shares, np.nan)], axis=1)


def crosses(polygon: Polygon, start: np.ndarray, end: np.ndarray) -> bool:
    """Return whether the straight way from start to end goes through the inside of the polygon."""
    start, end = np.asarray(start, np.float64), np.asarray(end, np.float64)
    middles, _ = _pieces(_sides([polygon]), start, end[None])
    return bool(holds(polygon, middles).any())


def crosses_itself(corners: Polygon) -> bool:
    """Return whether two sides that are not neighbours meet."""
    ends = np.roll(corners, -1, axis=0)

    def turns(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> np.ndarray:
        way, to_point = end - start, point - start
        return np.sign(way[..., 0] * to_point[..., 1] - way[..., 1] * to_point[..., 0])

    for side in range(len(corners) - 2):
        start, end = corners[side], ends[side]
        others = slice(side + 2, len(corners) - (side == 0))
        starts, stops = corners[others], ends[others]
        splits = turns(start, end, starts) * turns(start, end, stops)
        split = turns(starts, stops, start) * turns(starts, stops, end)
        if ((splits < 0) & (split < 0)).any():
            return True
    return False


@dataclass(frozen=True)
class Bounds:
    """The allowed places: in any polygon of the geofence (anywhere without one), in no no-go area.

    Borders are allowed, so that the allowed places are a closed set.
    """

    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()

    def __post_init__(self) -> None:
        for polygon in (*self.geofence, *self.no_go):
            if np.ndim(polygon) != 2 or np.shape(polygon)[1] != 2 or len(polygon) < 3:
                raise ValueError(
                    f"A polygon must have at least three corners (x, y); got {np.shape(polygon)}."
                )

    def allow(self, points) -> np.ndarray:
        """Return whether each of the points (k, 2) is allowed."""
        points = np.asarray(points, np.float64)
        allowed = np.ones(len(points), bool)
        if self.geofence:
            allowed &= np.any([covers(polygon, points) for polygon in self.geofence], axis=0)
        for polygon in self.no_go:
            allowed &= ~holds(polygon, points)
        return allowed

    def allow_way(self, start, ends) -> np.ndarray:
        """Return whether the straight way from start (2,) to each of the ends (k, 2) is allowed.

        The way is cut wherever it meets a border; a piece between two cuts is allowed as a whole or not at
        all, so one point of it decides. This is exact for any polygons, also for a geofence of several.
        """
        start = np.asarray(start, np.float64)
        ends = np.asarray(ends, np.float64).reshape(-1, 2)
        borders = _sides((*self.geofence, *self.no_go))
        allowed = self.allow(ends) & bool(self.allow(start[None])[0])
        for chunk in _chunks(borders[0], ends):
            middles, numbers = _pieces(borders, start, ends[chunk])
            allowed[chunk][numbers[~self.allow(middles)]] = False
        return allowed

    def nearest(self, point) -> np.ndarray:
        """Return the point where it is allowed, else the nearest allowed place, just inside the border."""
        point = np.asarray(point, np.float64)
        if self.allow(point[None])[0]:
            return point
        places = np.concatenate([*self._border_places(point)])
        order = np.argsort(np.linalg.norm(places - point, axis=1), kind="stable")
        places = places[order[:_MAX_BORDER_POINTS]]
        allowed = np.flatnonzero(self.allow(places))
        if len(allowed) == 0:
            raise ValueError("There is no allowed place: the no-go areas cover the whole geofence.")
        return self._inward(places[allowed[0]])

    def clearance(self, points) -> np.ndarray:
        """Return the distance [m] from each point to the nearest border of any kind."""
        points = np.asarray(points, np.float64)
        polygons = (*self.geofence, *self.no_go)
        distances = [distance_to_border(polygon, points) for polygon in polygons]
        return np.min(distances, axis=0) if distances else np.full(len(points), np.inf)

    def _border_places(self, point: np.ndarray) -> Iterable[np.ndarray]:
        """Yield the nearest place on every side, and where sides of different polygons meet."""
        polygons = (*self.geofence, *self.no_go)
        for number, polygon in enumerate(polygons):
            yield projections(polygon, point[None])[0]
            others = _sides(polygons[number + 1 :])
            for start, end in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
                shares = _crossings(*others, start, end[None])[0]
                yield start + shares[np.isfinite(shares), None] * (end - start)

    def _inward(self, place: np.ndarray) -> np.ndarray:
        """Return a place a little away from the border, where there is room."""
        angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        around = place + _INWARD_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        around = around[self.allow(around)]
        return around[np.argmax(self.clearance(around))] if len(around) else place


def _pieces(
    borders: tuple[np.ndarray, np.ndarray], start: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the middles (p, 2) of the pieces into which borders cut the ways from start to the ends (k, 2).

    And the number (p,) of the way that each is a piece of. The borders are those of `_sides`.
    """
    limits = np.broadcast_to([0.0, 1.0], (len(ends), 2))
    cuts = np.sort(np.concatenate([limits, _crossings(*borders, start, ends)], axis=1), axis=1)
    # Those that a way does not meet are NaN and last.
    numbers, columns = np.nonzero(cuts[:, 1:] > cuts[:, :-1])
    middles = 0.5 * (cuts[numbers, columns] + cuts[numbers, columns + 1])
    return start + middles[:, None] * (ends[numbers] - start), numbers
