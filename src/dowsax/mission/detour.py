"""The shortest way from one place to another that stays in the geofence and out of no-go areas."""

import heapq

import numpy as np

from dowsax.mission.geometry import Bounds

_ROOM = 0.02
"""[m], how far from a corner one goes round it."""


def shortest_way(bounds: Bounds, start, end) -> np.ndarray | None:
    """The corners (m, 2) [m] of the shortest allowed way, from start to end; None where there is none.

    Shortest ways among polygons are straight between corners: Dijkstra's search over the corners that see
    each other.
    """
    start, end = np.asarray(start, np.float64), np.asarray(end, np.float64)
    if not bounds.allow(np.stack([start, end])).all():
        return None
    if bounds.allow_way(start, end[None])[0]:
        return np.stack([start, end])
    places = np.concatenate([start[None], end[None], _corners(bounds)])
    best, before = np.full(len(places), np.inf), np.full(len(places), -1)
    best[0] = 0.0
    queue = [(0.0, 0)]
    while queue:
        length, here = heapq.heappop(queue)
        if here == 1:
            return places[_back(before, here)]
        if length > best[here]:
            continue
        lengths = length + np.linalg.norm(places - places[here], axis=1)
        nearer = np.flatnonzero(lengths < best - 1e-9)
        nearer = nearer[bounds.allow_way(places[here], places[nearer])]
        best[nearer], before[nearer] = lengths[nearer], here
        for there in nearer:
            heapq.heappush(queue, (float(lengths[there]), int(there)))
    return None


def _corners(bounds: Bounds) -> np.ndarray:
    """Allowed places beside the corners of all polygons."""
    corners = np.concatenate([np.zeros((0, 2)), *bounds.geofence, *bounds.no_go])
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False) + np.pi / 8
    around = corners[:, None] + _ROOM * np.stack([np.cos(angles), np.sin(angles)], axis=1)[None]
    around = around.reshape(-1, 2)
    allowed = bounds.allow(around).reshape(-1, len(angles))
    # Of the allowed places beside a corner the middle one is the freest.
    clearance = np.where(allowed, bounds.clearance(around).reshape(allowed.shape), -1.0)
    freest = clearance.argmax(axis=1)
    chosen = around.reshape(*allowed.shape, 2)[np.arange(len(corners)), freest]
    return chosen[allowed.any(axis=1)]


def _back(before: np.ndarray, place: int) -> list[int]:
    """The places on the way, first to last."""
    way = [place]
    while before[way[-1]] >= 0:
        way.append(int(before[way[-1]]))
    return way[::-1]
