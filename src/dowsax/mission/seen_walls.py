"""Walls that a range sensor has seen in a mission: nothing goes through them from then on.

What was not seen stays possible: between two rays there may be a gap.
"""

from collections.abc import Sequence

import numpy as np
import shapely

from dowsax.geo.polygons import Polygon
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading

Corner = tuple[float, float]

_WIDTH_SHARE = 0.1
"""Of the limit of the sensor: the side of a piece of wall."""
_MAX_PIECES = 64
"""The shortest ways are found among all their corners: the nearest pieces are kept."""


def seen_walls(
    plan: Plan, readings: Sequence[Reading], here: Corner | None = None, height: float | None = None
) -> tuple[Polygon, ...]:
    """Return the pieces of wall (4, 2) [m] at which rays have ended, squares on the far side of each end.

    Where a sensor has been there is no wall. Of many pieces those near to `here` [m] are kept (default: the
    newest reading). Walls that were seen from below a height [m] do not count: one goes over them. Default:
    that of the sensor of the plan.
    """
    sensor = plan.stations.sensor
    height = sensor.height if height is None else height
    if sensor.range_directions is None or not readings:
        return ()
    width = _WIDTH_SHARE * sensor.range_limit
    ends: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    for reading in readings:
        if not _is_below(reading.altitude, height):
            for end, direction in _ends(reading, sensor.range_limit):
                column, row = np.rint(end / (width / 2)).astype(int)
                ends.setdefault((int(column), int(row)), (end, direction))
    visited = [reading.position for reading in readings]
    free = shapely.MultiPoint([*visited, *(place for place in (plan.start, plan.reach.home) if place)])
    squares = [_square(end, direction, width) for end, direction in ends.values()]
    kept = [square for square in squares if not shapely.Polygon(square).intersects(free)]
    near = np.asarray(visited[-1] if here is None else here)
    return tuple(sorted(kept, key=lambda square: float(np.linalg.norm(square[0] - near)))[:_MAX_PIECES])


def _is_below(altitude: float | None, height: float | None) -> bool:
    """Return whether a reading was taken lower than a sensor goes, as far as both heights are known."""
    return altitude is not None and height is not None and altitude < height


def _ends(reading: Reading, limit: float) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return where the rays of a reading end at a wall [m], and the direction of each."""
    ranges = reading.ranges or ()
    angles = 2 * np.pi * np.arange(len(ranges)) / max(len(ranges), 1)
    rays = zip(ranges, np.stack([np.sin(angles), np.cos(angles)], axis=1), strict=True)
    return [
        (np.asarray(reading.position) + length * direction, direction)
        for length, direction in rays
        if length is not None and length < limit
    ]


def _square(end: np.ndarray, direction: np.ndarray, width: float) -> Polygon:
    """Return the square of this width behind the end of a ray."""
    across = 0.5 * width * np.array([-direction[1], direction[0]])
    behind = end + width * direction
    return np.stack([end - across, behind - across, behind + across, end + across])
