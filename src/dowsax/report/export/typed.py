"""The form in which times, winds and altitudes of a log were given, and table columns in the same form.

A reading has seconds and the velocity of the air; the log has the text as it came. A column is written in the
form of that text only where reading it back gives the same numbers to the last bit.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from dowsax.geo.wind import wind_from
from dowsax.survey.lint import is_missing
from dowsax.survey.reading import Reading, Refused, number, read_time
from dowsax.survey.reading_json import date_and_time, parse_object, values_by_role
from dowsax.survey.times import MIN_EPOCH_S, read_date, time_of_day

_MAX_DECIMALS = 12
"""Of the seconds of a clock: a day has no finer ones in double precision."""
Column = Sequence[str | float | None]


class Typed(NamedTuple):
    """How one reading was typed; `None` where that is not known."""

    clock: str | None = None
    """One of `reading.CLOCKS`."""
    wind: tuple[float, float] | None = None
    """Speed [m/s] and direction [degrees] it comes from, where it was typed by these."""
    altitude: bool = True
    """Whether it has an altitude of its own, and not just that of the site."""


def typed_forms(
    readings: Sequence[Reading], given: Sequence[tuple[str, str]], names: Mapping[str, str]
) -> list[Typed]:
    """How each reading was typed, by the texts as they came: of the reading, and of its last correction.

    `names` are the columns that the site names. A reading that has the wind of the one before it is typed
    like that one; where it was not corrected both texts are the same.
    """
    forms: list[Typed] = []
    for index, reading in enumerate(readings):
        first, last = (_read_form(text, names) for text in given[index])
        form = Typed(last.clock or first.clock, last.wind or first.wind, last.altitude or first.altitude)
        if index and form.wind is None and reading.wind == readings[index - 1].wind:
            form = form._replace(wind=forms[-1].wind)
        forms.append(form)
    return forms


def _read_form(given: str, names: Mapping[str, str]) -> Typed:
    try:
        values, _ = values_by_role(parse_object(given), names)
        time = date_and_time(values)
        clock = None if time is None or is_missing("time", time) else read_time(time)[1]
        altitude, speed, direction = (
            None if is_missing(role, values.get(role)) else number(role, values[role])
            for role in ("altitude", "wind_speed", "wind_from")
        )
        wind = None if speed is None or direction is None else (speed, direction)
        return Typed(clock, wind, altitude is not None)
    except Refused:
        return Typed()


def time_column(readings: Sequence[Reading], forms: Sequence[Typed]) -> Column:
    """Times as dates in UTC or as times of day where all were typed so, else as seconds."""
    seconds = [reading.time for reading in readings]
    known = [(time, form.clock) for time, form in zip(seconds, forms, strict=True) if time is not None]
    clocks = {clock for _, clock in known}
    if "date" in clocks and all(clock == "date" or time >= MIN_EPOCH_S for time, clock in known):
        texts, read = [_date(time) for time in seconds], read_date
    elif clocks == {"time of day"}:
        texts, read = [_time_of_day(time) for time in seconds], time_of_day
    else:
        return seconds
    pairs = [(time, text) for time, text in zip(seconds, texts, strict=True) if time is not None]
    return texts if all(text is not None and read(text) == time for time, text in pairs) else seconds


def altitude_column(readings: Sequence[Reading], forms: Sequence[Typed], ground: float) -> Column:
    """Altitudes [m] from which a site takes off its ground.

    None where all have that of the site, which it gives them again, and the sum with the ground is rounded.
    """
    heights = [reading.altitude for reading in readings]
    raised = [None if height is None else _add_ground(height, ground) for height in heights]
    exact = all(up is None or up - ground == height for up, height in zip(raised, heights, strict=True))
    return raised if exact or any(form.altitude for form in forms) else [None] * len(readings)


def _add_ground(altitude: float, ground: float) -> float:
    """The number that is this altitude once the ground is taken off; about that where there is none."""
    about = altitude + ground
    near = (about, math.nextafter(about, math.inf), math.nextafter(about, -math.inf))
    return next((number for number in near if number - ground == altitude), about)


def wind_columns(readings: Sequence[Reading], forms: Sequence[Typed]) -> dict[str, Column]:
    """Speed and direction where every wind was typed so, else components."""
    winds = [reading.wind for reading in readings]
    typed = [None if wind is None else form.wind for wind, form in zip(winds, forms, strict=True)]
    known = [wind for wind in winds if wind is not None]
    pairs = [pair for pair in typed if pair is not None]
    if known and len(pairs) == len(known) and np.array_equal(wind_from(*np.transpose(pairs)), known):
        names, columns = ("wind_speed", "wind_from"), typed
    else:
        names, columns = ("wind_u", "wind_v"), winds
    return {
        name: [None if pair is None else pair[part] for pair in columns] for part, name in enumerate(names)
    }


def _date(time: float | None) -> str | None:
    """ISO 8601 in UTC with as many decimals as it needs; `None` where there is no such date."""
    if time is None:
        return None
    try:
        date = datetime.fromtimestamp(time, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    micro = date.microsecond
    spec = "seconds" if micro == 0 else "microseconds" if micro % 1000 else "milliseconds"
    return date.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


def _time_of_day(time: float | None) -> str | None:
    """Hours, minutes and seconds with as many decimals as it needs; `None` where it is no time of a day."""
    if time is None:
        return None
    for decimals in range(_MAX_DECIMALS + 1):
        minutes, seconds = divmod(round(time, decimals), 60)
        width = 2 if decimals == 0 else 3 + decimals
        text = f"{int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{seconds:0{width}.{decimals}f}"
        if _reads_as(text, time):
            return text
    return None


def _reads_as(text: str, time: float) -> bool:
    try:
        return time_of_day(text) == time
    except ValueError:
        return False
