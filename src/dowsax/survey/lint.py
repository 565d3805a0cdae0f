"""Checks of values, in a survey or live: missing, impossible, or well formed but probably wrong.

What loggers write for a missing value counts as not measured. Values that cannot be are refused. Nothing is
refused for lint, such as heights above the sea or another unit: each question is shown with the result.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dowsax.inference.redundancy import min_redundancy
from dowsax.site.kinds import KINDS
from dowsax.site.measured import QUANTITIES
from dowsax.site.schema import MAX_WIND_M_S
from dowsax.site.section import ends
from dowsax.site.sensor import MAX_ALTITUDE_M, MIN_ALTITUDE_M
from dowsax.site.site import Site
from dowsax.site.units import UNITS, factor

POSITIVE_KINDS = ("gas-plume", "radiation")
"""Kinds whose readings are never far below zero."""
_MISSING_NUMBERS = (-99.0, -999.0, -9999.0, -99999.0)
_MISSING_TEXTS = frozenset({"", "nan", "na", "n/a", "null", "none", "-", "--"})
"""In any case."""
_NUMBERED_ROLES = (
    *("altitude", "wind_u", "wind_v", "wind_speed", "wind_from"),
    *(name for name, quantity in QUANTITIES.items() if quantity.low > -math.inf),
)
"""Roles in which such a number cannot have been measured."""
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


def is_missing_number(number: float) -> bool:
    """Return whether loggers write this number where they have none."""
    return number in _MISSING_NUMBERS


def is_missing(role: str, given: object, kind: str | None = None) -> bool:
    """Return whether a value of a file or of a live reading is a missing one.

    No text, `NaN` and `n/a` are so everywhere; -999 and the like for a height, for a wind, for a quantity
    with a lower bound, and for a reading or background of a kind that is never far below zero.
    """
    text = str(given).strip().lower()
    if text in _MISSING_TEXTS:
        return True
    if role not in _NUMBERED_ROLES and not (role in ("value", "background") and kind in POSITIVE_KINDS):
        return False
    try:
        return is_missing_number(float(text.replace(",", ".")))
    except ValueError:
        return False


def altitude_fault(altitude: float) -> str | None:
    """Return what is wrong with this altitude [m], to follow its name; `None` where nothing is."""
    if MIN_ALTITUDE_M <= altitude <= MAX_ALTITUDE_M:
        return None
    if is_missing_number(altitude):
        return f"must not be {altitude:g}, which loggers write where they have no number: leave it out."
    return f"must be from {MIN_ALTITUDE_M:g} to {MAX_ALTITUDE_M:g} m; got {altitude:g}."


def wind_fault(speed: float) -> str | None:
    """Return what is wrong with this wind speed [m/s], to follow its name; `None` where nothing is."""
    if speed < 0:
        return f"must be >= 0 m/s; got {speed:g}."
    if speed <= MAX_WIND_M_S:
        return None
    return f"must be <= {MAX_WIND_M_S:g} m/s; got {speed:.4g}: check its unit."


def direction_fault(direction: float) -> str | None:
    """Return what is wrong with this direction of the wind [degrees], to follow its name."""
    return None if -360 <= direction <= 360 else f"must be from -360 to 360 degrees; got {direction:g}."


def lint_survey(site: Site, values: np.ndarray, altitude: np.ndarray | None) -> list[str]:
    """Return questions about readings in the site's unit and heights [m] above ground."""
    return [*_heights(site, altitude), *_background(site, values)]


def lint_gone(lines: Sequence[int], header: str, gone: np.ndarray) -> str:
    """Say that some rows (k,) of these lines are left out, as they have nothing in a column."""
    left = [line for line, is_gone in zip(lines, gone, strict=True) if is_gone]
    rows = "1 row has" if len(left) == 1 else f"{len(left)} rows have"
    first = "" if len(left) == 1 else "first "
    return f"{rows} no value in {header!r}, left out ({first}on line {left[0]})."


class SensorQuestion(NamedTuple):
    """A question about a sensor that reads the same many times."""

    words: str
    is_stuck: bool
    """Whether it says nothing: not where it may just be out of reach of what others read."""


def lint_sensors(
    values: np.ndarray, sensor: np.ndarray | None, names: tuple[str, ...], lines: np.ndarray
) -> list[SensorQuestion]:
    """Return a question about each sensor that reads the same many times; `lines` are those of the file."""
    numbers = np.zeros(len(values), int) if sensor is None else sensor
    questions = []
    for number in np.unique(numbers):
        own = values[numbers == number]
        name = "The sensor" if sensor is None else f"The sensor {names[number]!r}"
        if len(own) >= _MIN_EQUAL_READINGS and (own == own[0]).all():
            words = f"{name} reads {own[0]:g} in all its {len(own)} readings: is it stuck, or silent "
            is_stuck = own[0] != 0 or len(own) == len(values)
            questions.append(SensorQuestion(f"{words}below its limit?", is_stuck))
            continue
        value, length, first = _longest_run(own)
        if length >= _MIN_RUN_LENGTH and value != 0:
            line = lines[numbers == number][first]
            words = f"{name} reads {value:g} {length} times in a row (from line {line} on): is it stuck?"
            questions.append(SensorQuestion(words, True))
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


def lint_times(site: Site, places: np.ndarray, times: np.ndarray | None) -> list[str]:
    """Return a note where readings at places (k, 2) [m] count for few, for want of times (k,) [s]."""
    if site.sensor.redundancy is not None or min_redundancy(places, times) == 1:
        return []
    return [
        "The readings have no times, and many were taken at one place: they may err together, and so those "
        "of one place together count for few. Give a column of times, or `redundancy` in [sensor]."
    ]


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
