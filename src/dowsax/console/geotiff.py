"""Where a GeoTIFF lies: its corners in degrees, from its tags."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import utm

_PIXEL_SCALE, _TIE_POINT, _TRANSFORM, _GEO_KEYS = 33550, 33922, 34264, 34735
"""The tags of GeoTIFF."""
_RASTER_TYPE, _GEOGRAPHIC, _PROJECTED = 1025, 2048, 3072
"""The keys in its directory: whether a pixel is an area (1) or a point (2), and the systems' EPSG codes."""
_DEGREES = (4326, 4979, 4258, 4269, 4283)
"""Latitude and longitude on WGS84, or within a metre or two of it."""
_WEB_MERCATOR = (3857, 900913, 3785)
_WGS84_RADIUS_M = 6378137.0
_UTM = {32600: ("N", 60), 32700: ("S", 60), 25800: ("N", 60), 26900: ("N", 23)}
"""EPSG codes less the zone: hemisphere and last zone, of WGS84, ETRS89 and NAD83."""
_HINT = "save it in latitude and longitude (gdalwarp -t_srs EPSG:4326), or give its corners."


def corners_of(tags: Mapping[int, Any], width: int, height: int) -> np.ndarray | None:
    """Return latitude and longitude (4, 2) [degrees] of top left, top right, bottom right and bottom left.

    `None` where the tags say nothing, and a ValueError in one line where they cannot be used.
    """
    transform = _transform(tags)
    if transform is None:
        return None
    keys = _geo_keys(tags)
    half = 0.5 if keys.get(_RASTER_TYPE) == 2 else 0.0
    pixels = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]]) - [half, half, 0]
    places = pixels @ transform.T
    if not np.isfinite(places).all():
        raise ValueError(f"The GeoTIFF has a place that is no number: {_HINT}")
    to_degrees = _projection(keys)
    corners = np.array([to_degrees(x, y) for x, y in places.tolist()])
    if not (np.isfinite(corners).all() and (np.abs(corners) <= [90, 180]).all()):
        raise ValueError(f"The GeoTIFF lies beyond the Earth, so its tags are wrong: {_HINT}")
    return corners


def _transform(tags: Mapping[int, Any]) -> np.ndarray | None:
    """Return the matrix (2, 3) from column and row to the map."""
    if _TRANSFORM in tags and len(tags[_TRANSFORM]) == 16:
        return np.reshape(tags[_TRANSFORM], (4, 4)).astype(float)[:2, [0, 1, 3]]
    scale, tie = tags.get(_PIXEL_SCALE, ()), tags.get(_TIE_POINT, ())
    if len(scale) < 2 or len(tie) < 6:
        return None
    column, row, _, x, y, _ = map(float, tie[:6])
    across, down = float(scale[0]), -float(scale[1])
    return np.array([[across, 0.0, x - across * column], [0.0, down, y - down * row]])


def _geo_keys(tags: Mapping[int, Any]) -> dict[int, int]:
    """Return the keys of the directory whose values are numbers."""
    entries = tags.get(_GEO_KEYS, ())
    rows = [entries[at : at + 4] for at in range(4, len(entries) - 3, 4)]
    return {int(key): int(value) for key, location, _, value in rows if location == 0}


def _projection(keys: Mapping[int, int]) -> Callable[[float, float], tuple[float, float]]:
    """Return the function from the map to latitude and longitude."""
    code = keys.get(_PROJECTED)
    if code is None:
        code = keys.get(_GEOGRAPHIC, 4326)
        if code in _DEGREES:
            return lambda x, y: (y, x)
    if code in _WEB_MERCATOR:
        return _from_web_mercator
    for base, (hemisphere, last) in _UTM.items():
        if 1 <= code - base <= last:
            return lambda x, y: utm.to_latlon(x, y, code - base, northern=hemisphere == "N", strict=False)
    raise ValueError(f"The GeoTIFF is in EPSG:{code}, which dowsax cannot read: {_HINT}")


def _from_web_mercator(x: float, y: float) -> tuple[float, float]:
    latitude = np.arctan(np.sinh(y / _WGS84_RADIUS_M))
    return float(np.degrees(latitude)), float(np.degrees(x / _WGS84_RADIUS_M))
