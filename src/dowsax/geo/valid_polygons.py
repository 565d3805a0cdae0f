"""Polygons with rounded corners that are valid: rings that cross neither themselves nor each other.

Rounding moves corners, so that thin parts of a polygon may cross over, and cutting polygons off at a line
leaves sides that lie on each other. So the rings are cut where they meet, on the lattice of the last decimal.
"""

from collections.abc import Sequence

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from dowsax.geo.polygons import Polygon

Rings = tuple[Polygon, tuple[Polygon, ...]]
"""The border of a polygon, leftward round, and its holes, rightward round."""
_MAX_EXTENT = 5e8
"""Units of the last decimal: of larger polygons the last decimals are zeros."""


def round_polygons(rings: Sequence[Polygon], decimals: int, min_width: float = 2.0) -> list[Rings]:
    """Return the valid polygons that cover what the rings go round leftward more often than rightward.

    Corners are rounded to the decimals. Pieces and holes that are not wider on average than `min_width` units
    of the last decimal are left out.
    """
    rings = [ring for ring in rings if len(ring) > 2]
    if not rings:
        return []
    every = np.concatenate(rings)
    extent = float(np.ptp(every, axis=0).max()) * 10.0**decimals
    coarser = 10 ** max(0, int(np.ceil(np.log10(max(extent, 1.0) / _MAX_EXTENT))))
    scale = 10.0**decimals / coarser
    offset = np.rint(every.min(axis=0) * scale)
    region = _covered([np.rint(ring * scale) - offset for ring in rings])
    return [
        ((border + offset) / scale, tuple((hole + offset) / scale for hole in holes))
        for border, *holes in _wide_parts(region, min_width)
    ]


def _covered(rings: Sequence[Polygon]) -> BaseGeometry:
    """Return what the rings go round leftward more often than rightward, with corners in whole numbers."""
    lines = [shapely.LineString(np.concatenate([ring, ring[:1]])) for ring in rings]
    faces = shapely.get_parts(shapely.polygonize([shapely.union_all(lines, grid_size=1.0)]))
    places = shapely.get_coordinates(shapely.point_on_surface(faces))
    return shapely.union_all(faces[sum(_windings(ring, places) for ring in rings) > 0], grid_size=1.0)


def _windings(ring: Polygon, places: np.ndarray) -> np.ndarray:
    """Return how often a ring goes round each place leftward: the sides that a ray to the east crosses."""
    starts, ends = ring[None], np.roll(ring, -1, axis=0)[None]
    x, y = places[:, :1], places[:, 1:]
    rises = (starts[..., 1] <= y).astype(int) - (ends[..., 1] <= y)
    ways, offsets = ends - starts, np.stack(np.broadcast_arrays(x - starts[..., 0], y - starts[..., 1]), -1)
    turns = ways[..., 0] * offsets[..., 1] - ways[..., 1] * offsets[..., 0]
    return np.sum(rises * (rises * turns > 0), axis=1)


def _wide_parts(region: BaseGeometry, min_width: float) -> list[list[np.ndarray]]:
    """Return border and holes of each part, without narrow ones and what lies in narrow holes."""
    while True:
        polygons = shapely.get_parts(shapely.orient_polygons(region))
        parts = [[shapely.get_coordinates(ring)[:-1] for ring in shapely.get_rings(p)] for p in polygons]
        rings = [ring for part in parts for ring in part]
        wide = [ring for ring in rings if _width(ring) > min_width]
        if len(wide) == len(rings):
            return parts
        region = _covered(wide) if wide else shapely.MultiPolygon()


def _width(ring: Polygon) -> float:
    """Return twice the area over the perimeter: the width of a long strip, half the diameter of a disc."""
    return 2 * shapely.area(shapely.Polygon(ring)) / shapely.length(shapely.LinearRing(ring))
