"""Shortest ways around polygons: a visibility graph over the corners at which a way can bend.

Borders are allowed, as everywhere: ways are checked against a free space that is wider by `TOUCH`, so that a
way along a border or through a corner meets nothing. Before, what is narrower than a touch is closed, be it
between two walls or between a wall and the geofence: nothing goes along where two borders touch.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path
from shapely.geometry.base import BaseGeometry

TOUCH = 1e-3
"""[m], a point this close to a border lies on it: about what float32 resolves over 10 km."""
_CLOSED = 0.501
"""Of a touch: half of the widest gap that is closed. More than half, so that rounding leaves no gap open."""
_MITRE_LIMIT = 10.0
"""Of the corners of what is made wider or narrower: blunter beyond, at corners of less than 12°."""
_MIN_SINE = 1e-6
"""Of the angle between two sides that are taken for one, and of a way along a side."""
_ROOM_M = 1.0
"""Around all polygons, where there is no geofence."""


class FreeSpace:
    """The places in any geofence (anywhere without one) and inside nothing that blocks, and the ways there.

    All is in double precision. Areas that touch along a side block, or allow, as one.
    """

    def __init__(
        self,
        geofence: Sequence[np.ndarray],
        blocked: Sequence[np.ndarray],
        touch: float = TOUCH,
        within: tuple[tuple[float, float], tuple[float, float]] | None = None,
    ) -> None:
        """Join the polygons; `within` [m] is a box, low and high corner, that no way leaves."""
        self.has_geofence = len(geofence) > 0 or within is not None
        self._known_legs: dict[tuple[float, ...], float] = {}
        solid = union(blocked)
        box = solid.envelope.buffer(_ROOM_M, join_style="mitre")
        if within is not None:
            box = shapely.box(*within[0], *within[1])
        fence = union(geofence) if geofence else box
        fence = fence if within is None else fence.intersection(box)
        self._free = fence.difference(solid)
        self._corners_of = self._free if self.has_geofence else solid
        self.region = _widen(_widen(self._free, -_CLOSED * touch), (1 + _CLOSED) * touch)
        """The free places with their borders, without gaps that are narrower than a touch."""
        self.fence = fence
        """The geofence; a box around everything where there is none."""
        self.solid = fence.difference(self.region)
        """What blocks in it, less its borders."""
        parts = shapely.get_parts(self.region)
        self.parts = parts[~shapely.is_empty(parts)]
        """The parts of the region between which there is no way."""
        shapely.prepare(self.region)
        shapely.prepare(self.parts)

    @cached_property
    def borders(self) -> np.ndarray:
        """The sides (m, 2, 2) [m] that no way crosses."""
        return _sides(self.region if self.has_geofence else self.solid)

    @cached_property
    def _walls(self) -> BaseGeometry:
        walls = shapely.MultiLineString(list(self.borders))
        shapely.prepare(walls)
        return walls

    def part(self, points: np.ndarray) -> np.ndarray:
        """Return the number of the part in which each of the points (k, 2) lies; -1 where it is forbidden."""
        points = np.asarray(points, np.float64).reshape(-1, 2)
        found = np.full(len(points), -1)
        for number, part in enumerate(self.parts):
            found[shapely.intersects_xy(part, *points.T)] = number
        if not self.has_geofence:
            found[~shapely.intersects_xy(self.fence, *points.T)] = self._outer_part
        return found

    def areas(self, low: Sequence[float], high: Sequence[float]) -> np.ndarray:
        """Return how much [m²] of each part lies in a box from low to high (2,) [m]."""
        (west, south), (east, north) = low, high
        box = shapely.box(west, south, east, north)
        areas = shapely.area(shapely.intersection(self.parts, self._free.intersection(box)))
        if not self.has_geofence:
            areas = areas if len(areas) else np.zeros(1)
            areas[self._outer_part] += box.difference(self.fence).area
        return areas

    @cached_property
    def _outer_part(self) -> int:
        """The part around everything, where there is no geofence."""
        corner = shapely.points(shapely.get_coordinates(self.fence)[:1])
        return int(np.argmax(shapely.intersects(self.parts, corner))) if len(self.parts) else 0

    def allow(self, points: np.ndarray) -> np.ndarray:
        """Return whether each of the points (k, 2) is allowed."""
        points = np.asarray(points, np.float64).reshape(-1, 2)
        if self.has_geofence:
            return shapely.intersects_xy(self.region, *points.T)
        return ~shapely.intersects_xy(self.solid, *points.T)

    def see(self, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return whether the straight way (2,) → (2,) of each row meets no border; starts are allowed."""
        lines = np.stack(np.broadcast_arrays(starts, ends), axis=-2)
        return np.logical_not(shapely.intersects(self._walls, shapely.linestrings(lines)))

    @cached_property
    def _graph(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The nodes (v, 2), their neighbours on the border (v, 2, 2), all lengths and predecessors (v, v)."""
        nodes, neighbours = _bends(self._corners_of, left=not self.has_geofence)
        is_open = self.allow(nodes)
        nodes, neighbours = nodes[is_open], neighbours[is_open]
        first, second = np.triu_indices(len(nodes), 1)
        tangent = _touches(nodes[first], neighbours[first], nodes[second])
        tangent &= _touches(nodes[second], neighbours[second], nodes[first])
        first, second = first[tangent], second[tangent]
        seen = self.see(nodes[first], nodes[second])
        first, second = first[seen], second[seen]
        lengths = np.linalg.norm(nodes[first] - nodes[second], axis=1)
        graph = coo_array((lengths, (first, second)), shape=(len(nodes), len(nodes)))
        if len(nodes) == 0:
            return nodes, neighbours, np.zeros((0, 0)), np.zeros((0, 0), int)
        return nodes, neighbours, *shortest_path(graph.tocsr(), directed=False, return_predecessors=True)

    @property
    def nodes(self) -> np.ndarray:
        """The corners (v, 2) [m] at which a shortest way can bend."""
        return self._graph[0]

    @property
    def node_lengths(self) -> np.ndarray:
        """The lengths (v, v) [m] of the shortest ways between the nodes; infinite where there is none."""
        return self._graph[2]

    @property
    def node_before(self) -> np.ndarray:
        """(v, v), the node before the second (column) on the way from the first (row); < 0 for none."""
        return self._graph[3]

    def lengths(self, start: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """Return the lengths [m] of the shortest ways from start (2,) to the ends (k, 2); else inf."""
        return self._last_bends(np.asarray(start, np.float64), np.asarray(ends, np.float64).reshape(-1, 2))[0]

    def way(self, start: np.ndarray, end: np.ndarray) -> np.ndarray | None:
        """Return the shortest way (n, 2) [m] from start to end, both included; `None` where there is none."""
        start, end = np.asarray(start, np.float64), np.asarray(end, np.float64)
        (length,), (last,) = self._last_bends(start, end[None])
        if not np.isfinite(length):
            return None
        if last < 0:
            return np.stack([start, end])
        first, bends = int(np.argmin(self._to_nodes(start) + self.node_lengths[:, last])), [int(last)]
        while bends[-1] != first:
            bends.append(int(self.node_before[first, bends[-1]]))
        return np.concatenate([start[None], self.nodes[bends[::-1]], end[None]])

    def leg_lengths(self, places: np.ndarray) -> np.ndarray:
        """Return the lengths (k - 1,) [m] of the shortest ways from each place to the next.

        Where there is none, as to a place that is forbidden, it is that of the straight way.
        """
        places = np.asarray(places, np.float64).reshape(-1, 2)
        lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
        bent = np.flatnonzero(~self.see(places[:-1], places[1:])) if len(self.borders) else ()
        for leg in bent:
            ends = (*places[leg], *places[leg + 1])
            if ends not in self._known_legs:
                self._known_legs[ends] = float(self.lengths(places[leg], places[leg + 1])[0])
            lengths[leg] = self._known_legs[ends] if np.isfinite(self._known_legs[ends]) else lengths[leg]
        return lengths

    def _to_nodes(self, place: np.ndarray) -> np.ndarray:
        """Return the lengths (v,) of the straight ways from a place to the nodes that it sees; else inf."""
        nodes, neighbours, *_ = self._graph
        useful = _touches(nodes, neighbours, place[None])
        useful[useful] = self.see(place[None], nodes[useful])
        return np.where(useful, np.linalg.norm(nodes - place, axis=1), np.inf)

    def _last_bends(self, start: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lengths (k,), and the last node of each way; -1 where it is straight, or there is none.

        The nodes are tried in the order of the length of the way by them: the first that an end sees is best.
        """
        lengths, last = np.full(len(ends), np.inf), np.full(len(ends), -1)
        part = self.part(start[None])[0]
        if part < 0:
            return lengths, last
        is_open = self.part(ends) == part
        straight = is_open.copy()
        straight[is_open] = self.see(start[None], ends[is_open])
        lengths[straight] = np.linalg.norm(ends[straight] - start, axis=1)
        numbers = np.flatnonzero(is_open & ~straight)
        nodes, neighbours, between, _ = self._graph
        if len(numbers) == 0 or len(nodes) == 0:
            return lengths, last
        to_nodes = np.min(self._to_nodes(start)[:, None] + between, axis=0)
        totals = to_nodes + np.linalg.norm(ends[numbers, None] - nodes, axis=2)
        totals[~_touches(nodes, neighbours, ends[numbers, None])] = np.inf
        while len(numbers):
            best = np.argmin(totals, axis=1)
            rows = np.arange(len(numbers))
            possible = np.isfinite(totals[rows, best])
            seen = possible & self.see(nodes[best], ends[numbers])
            lengths[numbers[seen]], last[numbers[seen]] = totals[rows, best][seen], best[seen]
            totals[rows, best] = np.inf
            numbers, totals = numbers[possible & ~seen], totals[possible & ~seen]
        return lengths, last


def union(polygons: Sequence[np.ndarray]) -> BaseGeometry:
    """Return the union of polygons, each given by its corners (n, 2)."""
    shapes = [shapely.Polygon(corners) for corners in polygons]
    valid = [
        s if s.is_valid else shapely.make_valid(s, method="structure", keep_collapsed=False) for s in shapes
    ]
    return shapely.union_all(valid)


def _widen(area: BaseGeometry, by: float) -> BaseGeometry:
    """Return an area whose borders lie farther out [m]; farther in where that is negative."""
    return area.buffer(by, join_style="mitre", mitre_limit=_MITRE_LIMIT)


def _rings(area: BaseGeometry) -> list[np.ndarray]:
    """Return the closed rings of an area, which has it on the left of each."""
    parts = shapely.get_parts(shapely.orient_polygons(area))
    return [shapely.get_coordinates(ring) for ring in shapely.get_rings(parts)]


def _sides(area: BaseGeometry) -> np.ndarray:
    """Return the sides (m, 2, 2) of an area."""
    sides = [np.stack([ring[:-1], ring[1:]], axis=1) for ring in _rings(area)]
    return np.concatenate([np.zeros((0, 2, 2)), *sides])


def _bends(area: BaseGeometry, *, left: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (v, 2) that turn left, or right, and the corners before and after each (v, 2, 2).

    A corner that belongs to several rings has itself as neighbours: any way by it may be the shortest.
    """
    rings = [shapely.get_coordinates(shapely.remove_repeated_points(shapely.linestrings(r), TOUCH / 10))[:-1]
             for r in _rings(area)]  # fmt: skip
    corners = np.concatenate([np.zeros((0, 2)), *rings])
    before = np.concatenate([np.zeros((0, 2)), *(np.roll(ring, 1, axis=0) for ring in rings)])
    after = np.concatenate([np.zeros((0, 2)), *(np.roll(ring, -1, axis=0) for ring in rings)])
    sines = _sine(corners - before, after - corners)
    is_bend = (sines if left else -sines) > _MIN_SINE
    corners, neighbours = corners[is_bend], np.stack([before, after], axis=1)[is_bend]
    nodes, first, counts = np.unique(corners, axis=0, return_index=True, return_counts=True)
    return nodes, np.where((counts > 1)[:, None, None], nodes[:, None], neighbours[first])


def _touches(nodes: np.ndarray, neighbours: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return whether the line through a node and another place leaves both neighbours on one side of it."""
    ways = others - nodes
    one, other = (_sine(ways, neighbours[..., side, :] - nodes) for side in (0, 1))
    return (np.minimum(one, other) >= -_MIN_SINE) | (np.maximum(one, other) <= _MIN_SINE)


def _sine(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the sine of the angle from one direction to another, positive to the left; 0 without one."""
    cross = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    lengths = np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1)
    return cross / np.maximum(lengths, 1e-300)
