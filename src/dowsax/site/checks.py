"""Checks of a whole site: numbers that do not fit its area, and places where no sensor can be."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dowsax.inference import PRESETS
from dowsax.site.kinds import KINDS
from dowsax.site.site import Site
from dowsax.site.text import Fault

_MIN_WAY_M = 1e-3
"""[m], a place that is nearer is where the sensor is already."""
_MIN_REACHABLE_SHARE = 0.05
"""Of the allowed places: with less within reach the start is walled in."""


def check_site(site: Site) -> None:
    """Raise a Fault that names the key for numbers that do not fit the area, and for places out of reach."""
    if KINDS[site.kind].among_buildings and site.wind.mode != "constant":
        words = (
            f'must be "constant" for {site.kind}, whose field is solved for one wind; got "{site.wind.mode}".'
        )
        raise Fault(words, "wind", "mode")
    if site.search.may_jump and not PRESETS[site.preset].follows_jumps:
        words = f'the preset "{site.preset}" does not follow changes; choose preset = "default".'
        raise Fault(words, "search", "may_jump")
    if site.search.may_jump and max(site.sources) > 1:
        raise Fault("several sources cannot jump: leave it out, or give one source.", "search", "may_jump")
    if site.search.may_jump and site.sensor.reading != "value":
        words = f'is not for reading = "{site.sensor.reading}" in [sensor], which depends on earlier ones.'
        raise Fault(f"{words} Leave it out.", "search", "may_jump")
    if site.search.radius is not None and site.search.radius > site.diagonal / 2:
        words = f"holds the whole area, {site.diagonal:.4g} m across; give a smaller one."
        raise Fault(words, "search", "radius")
    _check_heights(site)
    if site.paths:
        _check_paths(site)
    else:
        _check_points(site)
        _check_parts(site)
        _check_ways(site)


def _check_heights(site: Site) -> None:
    """Raise a Fault where a sensor begins at none of the heights at which it reads."""
    if site.heights and site.sensor.height not in site.heights:
        raise Fault(f"must be one of {_listed(site.heights)}, the `heights` of [step].", "sensor", "height")
    for number, one in enumerate(site.searchers, start=1):
        if one.heights and one.height is not None and one.height not in one.heights:
            words = f"must be one of {_listed(one.heights)}, its own `heights`."
            raise Fault(words, "searcher", str(number), "height")


def _listed(heights: Sequence[float]) -> str:
    return ", ".join(f"{height:g}" for height in heights)


def check_polygons(site: Site) -> None:
    """Raise a Fault where polygons lie outside the area, or leave no place in it."""
    for name, polygons in (("geofence", site.geofence), ("no_go", site.no_go)):
        for number, corners in enumerate(polygons, 1):
            if site.is_outside(corners):
                order = ", latitude first" if site.coordinates.is_geographic else ""
                words = f"lies outside the area; check its corners against [area]{order}."
                raise Fault(words, name, str(number), "corners")
    if not _is_reachable(site):
        words = "there is no place in the area where the sensor may be; check the corners against [area]."
        if site.obstacles and _is_reachable(replace(site, obstacles=())):
            raise Fault(words, "obstacle")
        raise Fault(words, "geofence" if site.geofence else "no_go")


def _is_reachable(site: Site) -> bool:
    """Return whether the sensor may be anywhere in the area."""
    if site.allowed_share > 0:
        return True
    try:
        nearest = site.middle
    except ValueError:
        return False
    return bool(((site.low <= np.array(nearest)) & (np.array(nearest) <= site.high)).all())


def _check_parts(site: Site) -> None:
    """Raise a Fault where walls around the start leave next to nothing of the area within reach."""
    allowed, reachable = site.allowed_share, site.reachable_share
    if allowed == 0 or reachable >= _MIN_REACHABLE_SHARE * allowed or not (site.obstacles or site.no_go):
        return
    words = f"it is walled in: {100 * reachable / allowed:.0f} % of the allowed places can be reached"
    if site.start is None:
        raise Fault(f"{words} from the middle of the area; give a position in [start].", "area")
    raise Fault(f"{words}; start elsewhere, or leave a way out.", "start")


def _check_paths(site: Site) -> None:
    """Raise a Fault for ways, which paths do not have, and for too little time."""
    if site.heights:
        raise Fault("[[paths]] have a `height` of their own; give it there.", "step", "heights")
    for name in ("length", "directions", "points", "shortest", "longest", "reading_interval"):
        if site.step.given(name) and getattr(site.step, name) is not None:
            raise Fault("is of ways, and [[paths]] have none; comment it out with #.", "step", name)
    for name, is_given in {"return": site.budget.return_, "distance": site.budget.distance}.items():
        if is_given:
            raise Fault("is of ways, and [[paths]] have none; comment it out with #.", "budget", name)
    if site.start is not None:
        words = "is where ways begin, and [[paths]] have none; comment [start] and its position out with #."
        raise Fault(words, "start")
    if site.budget.time is not None and site.reading_time > site.budget.time:
        words = f"is too short for a reading: {site.reading_time:.4g} s; give more."
        raise Fault(words, "budget", "time")


def _check_points(site: Site) -> None:
    """Raise a Fault for the first of the points where the sensor may not be."""
    points = site.step.points
    if points is None:
        return
    faults = (
        (
            np.all((site.low <= points) & (points <= site.high), axis=1),
            "the area; leave it out, or widen it.",
        ),
        (site.bounds.allow(points), "the geofence, or in a no-go area or obstacle; leave it out."),
    )
    for is_fine, words in faults:
        if not is_fine.all():
            x, y = points[int(np.argmin(is_fine))]
            raise Fault(f"{site.coordinates.format_both((x, y))} is outside {words}", "step", "points")


def _check_ways(site: Site) -> None:
    """Raise a Fault where no second reading can be taken: nothing is in reach, or within the budget."""
    start = np.array(site.start or site.middle)
    farthest = float(np.linalg.norm(np.maximum(np.abs(start - site.low), np.abs(start - site.high))))
    for name in ("length", "shortest"):
        length = getattr(site.step, name)
        if length is not None and length > farthest:
            words = (
                f"is longer than any way from the start in the area, {farthest:.4g} m; give a shorter one."
            )
            raise Fault(words, "step", name)
    if site.budget.return_ and site.start is None:
        raise Fault("needs a place to return to: give the position in [start].", "budget", "return")
    way, there = _nearest_way(site, start), "the way to the nearest place"
    if site.budget.return_:
        way, there = 2 * way, f"{there} and back"
    if site.budget.distance is not None and way > site.budget.distance:
        raise Fault(f"is shorter than {there}, {way:.4g} m; give more.", "budget", "distance")
    seconds = way / site.step.speed + site.reading_time
    if site.budget.time is not None and seconds > site.budget.time:
        words = f"is too short for {there}, and a reading: {seconds:.4g} s; give more."
        raise Fault(words, "budget", "time")


def _nearest_way(site: Site, start: np.ndarray) -> float:
    """Return the length [m] of the shortest way from the start to a place to read; or raise a Fault."""
    points, shortest = site.step.points, site.step.shortest or 0.0
    if points is None:
        return shortest
    ways = site.bounds.way_lengths(start, points)
    fits = np.isfinite(ways) & (ways >= max(shortest, _MIN_WAY_M)) & (ways <= (site.step.longest or np.inf))
    if not fits.any():
        words = "none can be reached from the start on one way; add places, or start elsewhere."
        raise Fault(words, "step", "points")
    return float(ways[fits].min())
