"""Lint of readings: well formed but probably wrong, such as heights above the sea, or another unit.

Nothing is refused for it: each question is shown with the survey or the mission, and with the result.
"""

import numpy as np

from dowsax.site.kinds import KINDS
from dowsax.site.section import ends
from dowsax.site.site import Site
from dowsax.site.units import UNITS, factor

MAX_FLIGHT_HEIGHT_M = 120.0
"""[m] above ground: most drones may not fly higher, so that readings that all do are above the sea."""
_MIN_HEIGHT_M = -2.0
"""[m], less than any error of a height."""
_MAX_FACTOR = 30.0
"""Readings of clean air are never this many times above or below the background."""
_NEAR_FACTOR = 3.0
"""In a unit that is suggested, readings are at most this factor off the background."""
_BACKGROUND_QUANTILES = (0.1, 0.9)
"""Where the background lies among the readings: not at the very ends, which are noise."""
_MIN_EQUAL_READINGS = 5
"""A sensor whose readings are all equal is worth a question from this number on."""
_MIN_RUN_LENGTH = 20
"""So are equal readings in a row, other than zero: fewer may be a coarse or slow sensor."""


def lint_survey(site: Site, values: np.ndarray, altitude: np.ndarray | None) -> list[str]:
    """Return questions about readings in the site's unit and heights [m] above ground."""
    return [*_heights(site, altitude), *_background(site, values)]


def lint_sensors(
    values: np.ndarray, sensor: np.ndarray | None, names: tuple[str, ...], lines: np.ndarray
) -> list[str]:
    """Return a question about each sensor that reads the same many times; `lines` are those of the file."""
    numbers = np.zeros(len(values), int) if sensor is None else sensor
    questions = []
    for number in np.unique(numbers):
        own = values[numbers == number]
        name = "The sensor" if sensor is None else f"The sensor {names[number]!r}"
        if len(own) >= _MIN_EQUAL_READINGS and (own == own[0]).all():
            questions.append(
                f"{name} reads {own[0]:g} in all its {len(own)} readings: is it stuck, or silent "
                "below its limit?"
            )
            continue
        value, length, first = _longest_run(own)
        if length >= _MIN_RUN_LENGTH and value != 0:
            line = lines[numbers == number][first]
            questions.append(
                f"{name} reads {value:g} {length} times in a row (from line {line} on): is it stuck?"
            )
    return questions


def _longest_run(values: np.ndarray) -> tuple[float, int, int]:
    """Return value, length and start of the longest run of equal values."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(starts, len(values)))
    longest = int(np.argmax(lengths))
    return float(values[starts[longest]]), int(lengths[longest]), int(starts[longest])


def _heights(site: Site, altitude: np.ndarray | None) -> list[str]:
    if altitude is None or KINDS[site.kind].is_benchmark:
        return []
    question = lint_heights(float(altitude.min()), float(altitude.max()))
    return [] if question is None else [question]


def lint_heights(low: float, high: float) -> str | None:
    """Return a question about heights [m] above ground from the lowest to the highest, where there is one."""
    hint = "give the height of the ground there as `ground` in [sensor] of the site file"
    if low > MAX_FLIGHT_HEIGHT_M:
        return f"All heights are {low:.4g} to {high:.4g} m above ground: if that is above the sea, {hint}."
    if low < _MIN_HEIGHT_M:
        return f"The lowest height is {low:.4g} m, below the ground: {hint}, or correct it there."
    return None


def background_range(site: Site) -> tuple[float, float] | None:
    """Return the lowest and the highest reading of clean air; `None` where the site has no bounds of it."""
    bounds = ends(site.background.distribution)
    return (bounds[0], bounds[-1]) if bounds and site.kind == "gas-plume" else None


def min_reading(site: Site) -> float | None:
    """Return the reading below which no air is: a sensor that dropped out, or another unit.

    `None` where that is not known. A source only adds to the background: what is far below it would have to
    be the noise of a large one.
    """
    between = background_range(site)
    return None if between is None or between[0] <= 0 else between[0] / _NEAR_FACTOR


def _background(site: Site, values: np.ndarray) -> list[str]:
    """Return a question where readings outside the plume cannot be what the site says of them."""
    between = background_range(site)
    if between is None:
        return []
    low, high = between
    least, most = (float(np.quantile(values, share)) for share in _BACKGROUND_QUANTILES)
    stated = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    expected = f"while the background of the site is {stated} {site.unit}"
    if low > 0 and least > _MAX_FACTOR * high:
        hint = _other_unit(site.unit, least, low, high) or "check the unit of the file, and [background]"
        return [f"Nine of ten readings are above {least:.4g} {site.unit}, {expected}: {hint}."]
    if low > 0 and most < low / _NEAR_FACTOR:
        hint = _other_unit(site.unit, most, low, high)
        subtracted = 'if it is subtracted already, set mode = "none" in [background]'
        hint = subtracted if hint is None else f"{hint}; {subtracted}"
        return [f"Nine of ten readings are below {most:.4g} {site.unit}, {expected}: {hint}."]
    lowest = min_reading(site)
    dropped = 0 if lowest is None else int(np.sum(values < lowest))
    if dropped:
        count = "A reading is" if dropped == 1 else f"{dropped} readings are"
        return [
            f"{count} below {lowest:.3g} {site.unit}, {expected}: take out what is no reading of the air, or "
            "set robust = true in [noise], so that it counts for little."
        ]
    return []


def _other_unit(unit: str, typical: float, low: float, high: float) -> str | None:
    """Return the unit in which this number would be about the background, as advice."""
    for sizes in UNITS.values():
        for other in sizes if unit in sizes else ():
            times = factor(other, unit)
            if other != unit and times and low / _NEAR_FACTOR <= typical * times <= _NEAR_FACTOR * high:
                return f"if the file is in {other}, say so in the header, as in value ({other})"
    return None
