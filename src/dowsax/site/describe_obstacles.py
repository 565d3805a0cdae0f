"""The obstacles of a site in words: where each stands, how high it is, and what passes through it."""

from dowsax.geo.polygons import signed_area
from dowsax.site.obstacles import Attenuation, Obstacle
from dowsax.site.section import LogNormalSetting, NormalSetting, ends
from dowsax.site.site import Site

_MAX_LISTED, _MAX_CORNERS = 20, 8
"""Obstacles, and corners of one, that are listed."""
_UNITS = {"radiation": "1/m", "level": "dB/m"}
"""Of attenuations; nothing else is shielded."""


def describe_obstacles(site: Site) -> list[tuple[str, str]]:
    """Return headings and words: how many obstacles there are, and each of them."""
    corners = sum(len(obstacle.corners) for obstacle in site.obstacles)
    words = f"{len(site.obstacles)}, with {corners} corners in all; ways go around them"
    over = len(site.obstacles) - len(site.bounds.obstacles)
    words = f"{words}, and over the {over} lower than the sensor" if over else words
    lines = [_describe(one, number, site) for number, one in enumerate(site.obstacles[:_MAX_LISTED])]
    more = len(site.obstacles) - len(lines)
    lines += [f"and {more} more"] if more else []
    return [("obstacles", words), *(("", line) for line in lines)]


def _describe(obstacle: Obstacle, number: int, site: Site) -> str:
    places = ", ".join(f"({x:.6g}, {y:.6g})" for x, y in obstacle.corners)
    low, high = obstacle.corners.min(axis=0), obstacle.corners.max(axis=0)
    if len(obstacle.corners) > _MAX_CORNERS:
        south_west, north_east = (f"({x:.6g}, {y:.6g})" for x, y in (low, high))
        places = f"{len(obstacle.corners)} corners from {south_west} to {north_east}"
    height = "of any height" if obstacle.height is None else f"{obstacle.height:g} m high"
    parts = [f"{places} m", f"{abs(signed_area(obstacle.corners)):.4g} m²", height]
    unit = _UNITS.get(site.kind)
    parts += [] if unit is None else [_describe_attenuation(obstacle.attenuation, unit)]
    return f"{obstacle.title(number)}: {', '.join(parts)}"


def _describe_attenuation(attenuation: Attenuation, unit: str) -> str:
    if isinstance(attenuation, str):
        return "opaque" if attenuation == "opaque" else f"attenuation {attenuation}"
    if isinstance(attenuation, LogNormalSetting):
        return f"attenuation {attenuation.median:g} {unit} within a factor of {attenuation.factor:g}"
    if isinstance(attenuation, NormalSetting):
        return f"attenuation {attenuation.mean:g} ± {attenuation.std:g} {unit}"
    return f"attenuation {' to '.join(f'{end:g}' for end in ends(attenuation))} {unit}"
