"""What a site says that is well formed and cannot be meant: each is an error that names the key."""

import numpy as np

from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS
from dowsax.site.errors import Fault
from dowsax.site.missing_values import altitude_fault, wind_fault
from dowsax.site.site import Site

_GRID = 50


def require_sense(site: Site) -> None:
    """Raise a Fault for numbers that nobody means and places where no sensor can be."""
    _check_numbers(site)
    _check_places(site)


def _check_numbers(site: Site) -> None:
    if site.wind.velocity is not None:
        _require(wind_fault(float(np.hypot(*site.wind.velocity))), "wind")
    for name, height in (("height", site.sensor.height), ("ground", site.sensor.ground)):
        _require(None if height is None else altitude_fault(height), "sensor", name)
    if site.search.may_jump and not PRESETS[site.search.preset].follows_jumps:
        words = f'the preset "{site.search.preset}" does not follow changes; choose preset = "default".'
        raise Fault(words, "search", "may_jump")


def _require(wrong: str | None, *keys: str) -> None:
    if wrong is not None:
        raise Fault(wrong, *keys)


def _check_places(site: Site) -> None:
    low, high = np.array(site.low), np.array(site.high)
    across = f"the area, {site.diagonal:.4g} m across"
    if site.step.length is not None and site.step.length > site.diagonal:
        raise Fault(f"is longer than {across}; give a shorter step.", "step", "length")
    if site.search.radius is not None and site.search.radius > site.diagonal / 2:
        words = f"holds the whole area, {site.diagonal:.4g} m across; give a smaller one."
        raise Fault(words, "search", "radius")
    bounds = Bounds(site.geofence, site.no_go)
    if not _allows_any(bounds, low, high):
        words = "there is no place in the area where the sensor may be; check the corners against [area]."
        raise Fault(words, "geofence" if site.geofence else "no_go")
    for number, corners in enumerate(site.no_go, 1):
        if (corners.max(axis=0) < low).any() or (corners.min(axis=0) > high).any():
            words = (
                "lies outside the area and keeps nobody out of anything; check its corners, latitude first."
            )
            raise Fault(words, "no_go", str(number), "corners")
    if site.step.points is not None:
        inside = np.all((low <= site.step.points) & (site.step.points <= high), axis=1)
        _check_points(site, inside, "outside the area; leave it out, or widen the area.")
        allowed = bounds.allow(site.step.points)
        _check_points(site, allowed, "outside the geofence or in a no-go area; leave it out.")


def _check_points(site: Site, fine: np.ndarray, words: str) -> None:
    if site.step.points is not None and not fine.all():
        x, y = site.step.points[int(np.argmin(fine))]
        raise Fault(f"{site.coordinates.format_position((x, y))} is {words}", "step", "points")


def _allows_any(bounds: Bounds, low: np.ndarray, high: np.ndarray) -> bool:
    """Return whether the sensor may be anywhere in the box."""
    axes = [np.linspace(low[axis], high[axis], _GRID) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    if bounds.allow(grid).any():
        return True
    try:
        nearest = bounds.nearest((low + high) / 2)
    except ValueError:
        return False
    return bool(((low <= nearest) & (nearest <= high)).all())
