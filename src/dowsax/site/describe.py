"""A site in words, for `dowsax site check`: what the file says, and lint: what is probably not meant."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dowsax.geo.polygons import signed_area
from dowsax.geo.wind import speed_and_direction
from dowsax.site.area import ListedPath
from dowsax.site.describe_obstacles import describe_obstacles
from dowsax.site.kinds import KINDS
from dowsax.site.section import LogNormalSetting, ends
from dowsax.site.site import Site, build_model
from dowsax.world.distributions import LogNormal
from dowsax.world.kinds import kind_of

_STRENGTHS = {"gas-plume": "q", "radiation": "q", "level": "level"}
"""The parameter that is the strength of a source, by the kind."""
_MAX_STRENGTH_RATIO, _MAX_LEVEL_RANGE_DB = 1000.0, 30.0
"""Ratio of strengths, and difference of levels [dB], beyond which the weakest of sources are not seen."""
_MIN_CUT_SHARE = 1e-4
"""Of the area: less is a chink."""
_MAX_BEYOND_SHARE = 0.01
"""Of the diagonal of the area: less beyond it is rounding."""
_MIN_DIAGONAL_M = 1.0
"""An area that is smaller was probably meant in degrees."""


def describe_site(site: Site) -> list[tuple[str, str]]:
    """Return the site as headings and words."""
    (west, south), (east, north) = site.area
    area = (
        f"{east - west:.6g} m from west to east ({west:.6g} to {east:.6g}), {north - south:.6g} m from south "
    )
    area += f"to north ({south:.6g} to {north:.6g}); readings outside: {site.outside}"
    if site.source is not None:
        (west, south), (east, north) = site.source
        area += f"; the source from {west:.6g} to {east:.6g} and from {south:.6g} to {north:.6g}"
    words = [("name", site.name), ("area", area)]
    if site.coordinates.is_geographic:
        low, high = (site.coordinates.format_position(corner) for corner in site.area)
        words.append(("", f"from {low} to {high}"))
    words.append(("origin", _origin(site)))
    if site.map is not None:
        where = "" if site.map.corners is None else ", placed by its corners"
        words.append(("map", f"{site.map.file}{where}"))
    for heading, polygons in (("geofence", site.geofence), ("no-go", site.no_go)):
        pieces = [f"{len(corners)} corners, {abs(signed_area(corners)):.6g} m²" for corners in polygons]
        words.append((heading, "; ".join(pieces) or "none"))
    for number, path in enumerate(site.paths):
        words.append(("" if number else "paths", _path(site, path)))
    if site.obstacles:
        words += describe_obstacles(site)
    if site.geofence or site.no_go or site.obstacles:
        words.append(("allowed", f"about {100 * site.allowed_share:.4g} % of the area"))
    words.append(("field", f"{site.kind}: {KINDS[site.kind].meaning}; {_reading(site)}"))
    if site.sources != (1,):
        words.append(("sources", _sources(site)))
    if site.known:
        words.append(("known", site.known))
    if site.sensor.reading == "value":
        words.append(("background", _background(site)))
    words.append(("wind", _wind(site)))
    if site.kind == "radiation":
        words.append(("noise", _count_noise(site)))
    words += [
        ("sensor", _sensor(site)),
        *_sensors(site),
        ("start", _place(site, site.start)),
        *_searchers(site),
        ("step", _step(site)),
    ]
    words += [("budget", _budget(site)), ("found", _found(site)), ("flight", _flight(site))]
    if site.columns:
        words.append(("columns", ", ".join(f"{role} is {name!r}" for role, name in site.columns.items())))
    if site.rows:
        words.append(("rows", ", ".join(f"{column} is {text!r}" for column, text in site.rows.items())))
    return words + [("to check", question) for question in lint_site(site)]


def _sources(site: Site) -> str:
    """Return how many sources there may be."""
    fewest, most = site.sources[0], site.sources[-1]
    if fewest == most:
        return f"{fewest}, each with its own position and strength"
    return f"{fewest} to {most}, each number as probable; each source has its own position and strength"


def _reading(site: Site) -> str:
    """Return what a reading is."""
    strength = "the strength is told relative to the threshold only"
    words = {
        "value": f"readings in {site.unit or 'no unit'}",
        "binary": "a reading is 1 for a hit and 0 for none",
        "rank": "of the readings only the order counts",
    }[site.sensor.reading]
    is_absolute = site.sensor.reading == "value" or _known(site.sensor.threshold) is not None
    return words if is_absolute else f"{words}; {strength}"


def describe_unknowns(site: Site, quantities: Collection[str] = ()) -> list[tuple[str, str, str, str]]:
    """Return name, unit, meaning and distribution of all that is unknown, with readings that have these.

    Of several sources, of each one.
    """
    prior = build_model(replace(site, sources=(1,)), ("each",), quantities).prior
    words = ["in the area"] * 2 + [
        _describe_distribution(distribution) for distribution in getattr(prior, "distributions", ())
    ]
    words += [""] * (len(prior.parameters) - len(words))
    return [
        (parameter.name, parameter.unit, parameter.meaning, described)
        for parameter, described in zip(prior.parameters, words, strict=True)
    ]


def _origin(site: Site) -> str:
    if site.coordinates.origin is None:
        return "none: metres alone, no degrees"
    latitude, longitude = site.coordinates.origin
    return f"(0, 0) is at latitude {latitude:.6f}, longitude {longitude:.6f}"


def _background(site: Site) -> str:
    mode, bounds = site.background.mode, ends(site.background.distribution)
    unit = "counts per second" if site.kind == "radiation" else site.unit
    if "background" in site.required_quantities:
        return f"known with each reading, or of its sensor{f', in {unit}' if unit else ''}"
    if mode == "known":
        return f"{bounds[0]:g} {unit}".strip()
    if mode == "unknown" and len(bounds) == 2:
        return f"unknown, from {bounds[0]:g} to {bounds[1]:g} {unit}".strip()
    usual = "as usual for the kind; known where a survey has a column for it"
    return {"per-sensor": "unknown, one for each sensor", "usual": usual}.get(mode, mode)


def _count_noise(site: Site) -> str:
    """Return how counts err beyond Poisson's law, with the prior on the size of it."""
    usual = kind_of(site.kind)
    ratio = usual.noise["noise_ratio"] if site.noise.ratio in (None, "unknown") else site.noise.ratio
    shielded = usual.shielded if site.noise.shielded is None else site.noise.shielded
    variation = usual.variation if site.background.variation is None else site.background.variation
    parts = {
        "Poisson's{}": "",
        "what the source adds is off by {}, another error at each reading": _describe_share(ratio),
        "{:.0f} % of the readings have something dense in the way, and see about a third": 100 * shielded
        or None,
        "the background varies by {:.3g} % from place to place": 100 * variation or None,
    }
    return _join_given(parts, "; ")


def _describe_share(share: Any) -> str | None:
    """Return a relative error in words: known, or its prior; `None` where it is zero."""
    if isinstance(share, int | float):
        return f"{100 * share:.3g} %" if share else None
    if isinstance(share, LogNormal | LogNormalSetting):
        low, high = share.median / share.factor, share.median * share.factor
        return (
            f"an unknown share: about {100 * share.median:.3g} %, between {100 * low:.3g} and "
            f"{100 * high:.3g} % with probability 2/3"
        )
    bounds = ends(share)
    return (
        f"an unknown share from {100 * bounds[0]:.3g} to {100 * bounds[1]:.3g} %"
        if bounds
        else "an unknown share"
    )


def _wind(site: Site) -> str:
    if not KINDS[site.kind].uses_wind:
        return "inferred with the source" if KINDS[site.kind].is_benchmark else "does not matter"
    if site.wind.velocity is not None:
        return f"constant, {describe_wind(np.array(site.wind.velocity))}"
    if site.wind.mode == "measured":
        known = f"to ±{site.wind.direction_error:g}° each" if site.wind.direction_error else "exactly"
        return f"measured with each reading, its direction {known}; where it is missing: {site.wind.missing}"
    return "unknown, inferred with the source"


def describe_wind(velocity: np.ndarray) -> str:
    speed, direction = speed_and_direction(velocity)
    return f"{speed:.3g} m/s from {direction:.0f}° (u {velocity[0]:.2f}, v {velocity[1]:.2f})"


def _sensor(site: Site) -> str:
    sensor = site.sensor
    parts = {
        "sensors {}": ", ".join(sensor.names) or None,
        "{:g} m above ground where a file does not say": sensor.height,
        "{:g} s a reading where a file does not say": sensor.dwell,
        "{:g} " + (site.field_unit or site.unit) + " is the threshold": _known(sensor.threshold),
        "{:g} false alarms a second": _known(sensor.false_alarms),
        "lags": sensor.lag,
        "a beam of {:g}° that points where the heading says": sensor.beam,
        "{:g} dB less from behind": sensor.beam and sensor.front_to_back,
        "sees walls within {:g} m": sensor.range_directions and sensor.range_limit,
    }
    asked = [name for name in site.required_quantities if name != "background"]
    parts |= {"needs {} with each reading, or of its sensor": " and ".join(asked) or None}
    return _join_given(parts, "; ") or "nothing given"


def _known(setting: Any) -> float | None:
    """Return a known number; `None` for one with a distribution, which is listed with all unknowns."""
    return float(setting) if isinstance(setting, int | float) else None


def _sensors(site: Site) -> list[tuple[str, str]]:
    """Return what is known of each sensor, a line each."""
    return [
        ("", f"{name}: " + ", ".join(f"{quantity} {number:g}" for quantity, number in known.items()))
        for name, known in site.sensors.items()
    ]


def _searchers(site: Site) -> list[tuple[str, str]]:
    """Return what each searcher has of its own, a line each."""
    lines = []
    for one in site.searchers:
        parts = {
            "starts at {}": None if one.start is None else site.coordinates.format_both(one.start),
            "{:g} m/s": one.speed,
            "its sensor {:g} m above ground": one.height,
            "reads at {} m above ground": describe_heights(one.heights) or None,
            "a geofence of its own{}": None if one.geofence is None else "",
            "at most {:g} m": one.distance,
            "at most {} readings": one.readings,
            "at most {:g} s": one.time,
        }
        words = _join_given(parts, ", ") or "as the site"
        lines.append(("" if lines else "searchers", f"{one.name}: {words}"))
    return lines


def _join_given(parts: Mapping[str, Any], separator: str) -> str:
    """Return the texts whose value is given, formatted with it."""
    return separator.join(text.format(value) for text, value in parts.items() if value is not None)


def _place(site: Site, place: tuple[float, float] | None) -> str:
    if place is None:
        return f"near the middle of the area: {_place(site, site.middle)}"
    return site.coordinates.format_both(place)


def _path(site: Site, path: ListedPath) -> str:
    start, end = (_place(site, place) for place in path.ends)
    height = "" if path.height is None else f", {path.height:g} m above ground"
    return f"{path.name}: {math.dist(*path.ends):.3g} m from {start} to {end}{height}"


def describe_heights(heights: Sequence[float]) -> str:
    """Return heights [m] as text: 1.5, 5 or 10."""
    listed = [f"{height:g}" for height in heights]
    return " or ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _step(site: Site) -> str:
    if site.paths:
        time = f"; {site.reading_time:g} s for a reading" if site.reading_time else ""
        return f"along one of {len(site.paths)} paths, to which nobody has to go{time}"
    single = f"{site.step_length:g} m in one of {site.step.directions} directions"
    words = f"policies that go step by step go {single}; others, such as location-gain, go near and far"
    if site.step.points is not None:
        words = f"to one of {len(site.step.points)} places"
    limits = {
        "at {:g} m/s": site.step.speed,
        "{:g} s for a reading": site.reading_time or None,
        "at least {:g} m": site.step.shortest,
        "at most {:g} m": site.step.longest,
        "a reading every {:g} s on the way": site.step.reading_interval,
        "at {} m above ground": describe_heights(site.heights) or None,
    }
    return "; ".join(filter(None, (words, _join_given(limits, ", "))))


def _budget(site: Site) -> str:
    budget = site.budget
    parts = {"{:g} m": budget.distance, "{} readings": budget.readings, "{:g} s": budget.time}
    words = _join_given(parts, ", ") or "no limit"
    return f"{words}, the way back to the start included" if budget.return_ else words


def _found(site: Site) -> str:
    share = f"{100 * site.search.probability:g} %"
    return f"when the source lies within {site.found_radius:.3g} m with a probability of {share}"


def _flight(site: Site) -> str:
    flight = site.flight
    height = "as high as the readings, or 20 m" if flight.height is None else f"{flight.height:g} m"
    hold = "as long as a reading counts" if flight.hold is None else f"{flight.hold:g} s"
    return f"plans fly {height} above take-off at {flight.speed:g} m/s, and stay {hold} at each place"


def _describe_distribution(distribution: object) -> str:
    numbers = (f"{name} {value:g}" for name, value in vars(distribution).items() if isinstance(value, float))
    return f"{type(distribution).__name__}: {', '.join(numbers)}"


def lint_site(site: Site) -> list[str]:
    """Return questions about what is well formed but probably not meant; nothing is refused for it."""
    questions = [*site.notes]
    if site.diagonal < _MIN_DIAGONAL_M:
        questions.append(
            f"The area is {site.diagonal:.2g} m across: if low and high are degrees, write south, west, "
            "north and east instead."
        )
    share, reachable = site.allowed_share, site.reachable_share
    if share < 0.5:
        questions.append(
            f"The sensor may be in {100 * share:.2g} % of the area only: check the corners of "
            "geofence, no-go areas and obstacles against [area]."
        )
    if site.outside != "allow" and _is_fence_beyond(site):
        questions.append(
            "The geofence reaches beyond the area, where no reading counts: check its corners, or make the "
            "area larger."
        )
    if reachable < share - _MIN_CUT_SHARE:
        questions.append(
            f"From the start there is no way to {100 * (share - reachable):.2g} % of the area: obstacles, "
            "no-go areas or the geofence cut it in parts. Leave a way between them, if there is one."
        )
    return questions + _different_heights(site) + _weak_sources(site)


def _different_heights(site: Site) -> list[str]:
    """Return a question where a drone does not fly at the height for which its readings are planned."""
    sensor = site.sensor.height
    is_of_a_drone = bool(site.flight.model_fields_set)
    if sensor is None or site.heights or not is_of_a_drone:
        return []
    flown = site.flight.height_for(sensor)
    if flown == sensor:
        return []
    return [
        f"Readings are planned for {sensor:g} m above ground (`height` in [sensor]), and a drone flies at "
        f"{flown:g} m (`height` in [flight]): give both the height at which the sensor will be."
    ]


def _is_fence_beyond(site: Site) -> bool:
    """Whether a corner of the geofence is well outside the area."""
    margin = _MAX_BEYOND_SHARE * site.diagonal
    low, high = np.subtract(site.low, margin), np.add(site.high, margin)
    return any(bool(np.any((corners < low) | (corners > high))) for corners in site.geofence)


def _weak_sources(site: Site) -> list[str]:
    """Return a question where the number of sources is unknown, and some may be too weak to be seen."""
    if len(site.sources) == 1 or KINDS[site.kind].is_benchmark:
        return []
    strength = _STRENGTHS.get(site.kind)
    if strength is None:
        return []
    given = site.prior.get(strength)
    low_and_high = ends(given)
    if len(low_and_high) == 1:
        return []
    low, high = low_and_high or (0.0, math.inf)
    is_narrow = (
        high - low <= _MAX_LEVEL_RANGE_DB if site.kind == "level" else high <= _MAX_STRENGTH_RATIO * low
    )
    if is_narrow:
        return []
    return [
        "Sources too weak to be seen count as well, so that their number may never be settled: give the "
        f"range of strengths that matter, `{strength}` in [prior]."
    ]
