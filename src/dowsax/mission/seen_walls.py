"""Walls that a range sensor has seen in a mission: nothing goes through them from then on.

What was not seen stays possible: between two rays there may be a gap.
"""

from collections.abc import Sequence

import numpy as np
import shapely

from dowsax.geo.polygons import Polygon
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading

_WIDTH_SHARE = 0.1
"""Of the limit of the sensor: the side of a piece of wall."""
_MAX_PIECES = 64
"""The shortest ways are found among all their corners; more pieces become fewer, wider ones."""


def seen_walls(plan: Plan, readings: Sequence[Reading]) -> tuple[Polygon, ...]:
    """Return the pieces of wall (4, 2) [m] at which rays have ended, squares on the far side of each end.

    Where a sensor has been there is no wall.
    """
    sensor = plan.stations.sensor
    if sensor.range_directions is None:
        return ()
    limit = sensor.range_limit
    ends = [end for reading in readings for end in _ends(reading, limit)]
    places = shapely.MultiPoint([reading.position for reading in readings])
    width = _WIDTH_SHARE * limit
    while len(kept := _apart(ends, width / 2)) > _MAX_PIECES:
        width *= 1.5
    squares = [_square(end, direction, width) for end, direction in kept]
    return tuple(square for square in squares if not shapely.Polygon(square).intersects(places))


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


def _apart(
    ends: Sequence[tuple[np.ndarray, np.ndarray]], distance: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ends, without those within a distance [m] of one before."""
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for end, direction in ends:
        if all(np.linalg.norm(end - other) > distance for other, _ in kept):
            kept.append((end, direction))
    return kept


def _square(end: np.ndarray, direction: np.ndarray, width: float) -> Polygon:
    """Return the square of this width behind the end of a ray."""
    across = 0.5 * width * np.array([-direction[1], direction[0]])
    behind = end + width * direction
    return np.stack([end - across, behind - across, behind + across, end + across])
