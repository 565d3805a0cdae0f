"""Polygons in metres, and the bounds of a site: which places and straight ways are allowed."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import shapely

from dowsax.geo.ways import TOUCH, FreeSpace, union

Polygon = np.ndarray
"""(n, 2) [m], the corners of a simple polygon in order; the last is joined to the first."""

MIN_POLYGON_M2 = 1e-6
"""[m²], a polygon with less encloses nothing."""
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
    """Return whether each point (k, 2) lies in the polygon; points on the border itself may go either way."""
    return shapely.contains_xy(union([polygon]), *np.transpose(points))


def covers(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return whether each point lies in the polygon or on its border."""
    return np.asarray(shapely.dwithin(union([polygon]), shapely.points(points), TOUCH))


def holds(polygon: Polygon, points: np.ndarray) -> np.ndarray:
    """Return whether each point lies in the polygon and not on its border."""
    is_off = ~np.asarray(shapely.dwithin(union([polygon]).boundary, shapely.points(points), TOUCH))
    return inside(polygon, points) & is_off


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
    """The allowed places: in any polygon of the geofence (or anywhere), in no no-go area or obstacle.

    Borders are allowed, so that the allowed places are a closed set.
    """

    geofence: tuple[Polygon, ...] = ()
    no_go: tuple[Polygon, ...] = ()
    obstacles: tuple[Polygon, ...] = ()
    """Those that stand in the way of the sensor."""
    area: tuple[tuple[float, float], tuple[float, float]] | None = None
    """[m], low and high corner of a box that no way around polygons leaves; `None` without a limit."""

    def __post_init__(self) -> None:
        for polygon in (*self.geofence, *self.no_go, *self.obstacles):
            if np.ndim(polygon) != 2 or np.shape(polygon)[1] != 2 or len(polygon) < 3:
                raise ValueError(
                    f"A polygon must have at least three corners (x, y); got {np.shape(polygon)}."
                )

    @property
    def blocked(self) -> tuple[Polygon, ...]:
        """No-go areas and obstacles."""
        return *self.no_go, *self.obstacles

    @property
    def has_borders(self) -> bool:
        """Whether there is any polygon."""
        return bool(self.geofence or self.blocked)

    def with_area_border(self) -> "Bounds":
        """Return the same, with the border of the area as geofence where there is no polygon."""
        if self.has_borders or self.area is None:
            return self
        (west, south), (east, north) = self.area
        box = np.array([[west, south], [east, south], [east, north], [west, north]])
        return replace(self, geofence=(box,))

    @cached_property
    def space(self) -> FreeSpace:
        """All polygons as one geometry."""
        return self.space_within(TOUCH)

    def space_within(self, touch: float) -> FreeSpace:
        """Return all polygons as one geometry, with borders that are so wide [m]."""
        return FreeSpace(self.geofence, self.blocked, touch, self.area if self.has_borders else None)

    def allow(self, points) -> np.ndarray:
        """Return whether each of the points (k, 2) is allowed."""
        return self.space.allow(np.asarray(points, np.float64))

    def allow_way(self, start, ends) -> np.ndarray:
        """Return whether the straight way from start (2,) to each of the ends (k, 2) is allowed."""
        start = np.asarray(start, np.float64)
        ends = np.asarray(ends, np.float64).reshape(-1, 2)
        return self.allow(ends) & self.allow(start)[0] & self.space.see(start, ends)

    def way(self, start, end) -> np.ndarray | None:
        """Return the shortest way (n, 2) [m] from start to end, both included; `None` where there is none."""
        return self.space.way(np.asarray(start), np.asarray(end))

    def way_lengths(self, start, ends) -> np.ndarray:
        """Return the lengths [m] of the shortest ways from start (2,) to the ends (k, 2); inf without one."""
        return self.space.lengths(np.asarray(start), np.asarray(ends))

    def nearest(self, point) -> np.ndarray:
        """Return the point where it is allowed, else the nearest allowed place, just inside the border."""
        point = np.asarray(point, np.float64)
        if self.allow(point)[0]:
            return point
        if len(self.space.parts) == 0:
            raise ValueError("There is no allowed place: nothing of the geofence is free.")
        way = shapely.shortest_line(self.space.region, shapely.Point(point))
        return self._inward(shapely.get_coordinates(way)[0])

    def clearance(self, points) -> np.ndarray:
        """Return the distance [m] from each point (k, 2) to the nearest border of any kind."""
        points = np.asarray(points, np.float64)
        borders = [union([polygon]).boundary for polygon in (*self.geofence, *self.blocked)]
        distances = [shapely.distance(border, shapely.points(points)) for border in borders]
        return np.min(distances, axis=0) if distances else np.full(len(points), np.inf)

    def _inward(self, place: np.ndarray) -> np.ndarray:
        """Return a place a little away from the border, where there is room."""
        angles = np.linspace(0, 2 * np.pi, 16, endpoint=False)
        around = place + _INWARD_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        around = around[self.allow(around)]
        return around[np.argmax(self.clearance(around))] if len(around) else place
