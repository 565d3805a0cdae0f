"""What a site says that is well formed and cannot be meant: each is an error that names the key."""

from collections.abc import Iterator

import numpy as np

from dowsax.geo.polygons import Bounds
from dowsax.site.missing_values import altitude_fault, wind_fault
from dowsax.site.settings import LawSetting
from dowsax.site.site import Site
from dowsax.site.text import complaint

_GRID = 50
_POWERS = ("widen", "curve", "rise", "bend")
"""Of the distance: below −1 a plume would narrow as it goes, above 1 widen faster than its square."""
_NOT_BELOW_ZERO = ("height", "stability", "exponent", "attenuation", "meander", "depth")
_LEAST: dict[str, float] = {**dict.fromkeys(_NOT_BELOW_ZERO, 0.0), **dict.fromkeys(_POWERS, -1.0)}
_MOST: dict[str, float] = {"stability": 5.0} | dict.fromkeys(_POWERS, 1.0)
_ABOVE = ("q", "lateral", "vertical", "speed", "reach")
"""Parameters that lie above zero, or in a range of their own."""


def require_sense(site: Site) -> None:
    """A ValueError in one line for numbers that nobody means and places where nobody can be."""
    for key, wrong in (*_numbers(site), *_places(site)):
        if wrong is not None:
            raise complaint(site.file, site.text, key, wrong)


def _numbers(site: Site) -> Iterator[tuple[str, str | None]]:
    # Late, so that surveys are read without the filters.
    from dowsax.inference import PRESETS

    for name, law in site.prior.items():
        yield f"prior.{name}", _out_of_range(name, law)
    floor = site.noise.floor
    if floor is not None and floor.law == "known" and floor.first == 0:
        yield "noise.floor", "must be above zero: no sensor is exact."
    if site.wind.velocity is not None:
        yield "wind", wind_fault(float(np.hypot(*site.wind.velocity)))
    for name, height in (("height", site.sensor.height), ("ground", site.sensor.ground)):
        yield f"sensor.{name}", None if height is None else altitude_fault(height)
    if site.search.may_jump and not PRESETS[site.search.preset].follows_jumps:
        words = f'the preset "{site.search.preset}" does not follow changes; choose preset = "default".'
        yield "search.may_jump", words


def _out_of_range(name: str, law: LawSetting) -> str | None:
    """Whether a known number, or the ends of a range, are such as the parameter cannot have."""
    if law.law not in ("known", "range", "uniform", "log-uniform"):
        return None
    ends = (law.first,) if law.law == "known" else (law.first, law.second)
    if name in _ABOVE and (min(ends) < 0 or max(ends) == 0):
        return f"must be above zero; got {min(ends):g}."
    if min(ends) < _LEAST.get(name, -np.inf):
        return f"must be at least {_LEAST[name]:g}; got {min(ends):g}."
    if max(ends) > _MOST.get(name, np.inf):
        return f"must be at most {_MOST[name]:g}; got {max(ends):g}."
    return None


def _places(site: Site) -> Iterator[tuple[str, str | None]]:
    low, high = np.array(site.low), np.array(site.high)
    diagonal = float(np.hypot(*(high - low)))
    if site.step.length is not None and site.step.length > diagonal:
        yield "step.length", f"is longer than the area, {diagonal:.4g} m across; give a shorter step."
    if site.search.radius is not None and site.search.radius > diagonal / 2:
        yield "search.radius", f"holds the whole area, {diagonal:.4g} m across; give a smaller one."
    bounds = Bounds(site.geofence, site.no_go)
    if not _anywhere(bounds, low, high):
        key = "geofence" if site.geofence else "no_go"
        yield key, "there is no place in the area where one may be; check the corners against [area]."
    for number, corners in enumerate(site.no_go, 1):
        if (corners.max(axis=0) < low).any() or (corners.min(axis=0) > high).any():
            yield (
                f"no_go.{number}.corners",
                "lies outside the area and keeps nobody out of anything; check its corners, latitude first.",
            )
    points = np.zeros((0, 2)) if site.step.points is None else site.step.points
    for x, y in points[~np.all((low <= points) & (points <= high), axis=1)]:
        words = f"{site.frame.words((x, y))} is outside the area; leave it out, or widen the area."
        yield "step.points", words
    for x, y in points[~bounds.allow(points)]:
        words = f"{site.frame.words((x, y))} is outside the geofence or in a no-go area; leave it out."
        yield "step.points", words


def _anywhere(bounds: Bounds, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether one may be anywhere in the box."""
    axes = [np.linspace(low[axis], high[axis], _GRID) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    if bounds.allow(grid).any():
        return True
    try:
        nearest = bounds.nearest((low + high) / 2)
    except ValueError:
        return False
    return bool(((low <= nearest) & (nearest <= high)).all())
