"""A reading as a JSON object: keys by the names that loggers use, as in survey files, and what they say."""

import difflib
import json
from collections.abc import Mapping
from typing import Any

from dowsax.geo.local import Frame, look_swapped, require_degrees
from dowsax.geo.wind import wind_from
from dowsax.site.missing_values import direction_fault, is_missing, wind_fault
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import Column, recognised, split_header
from dowsax.survey.reading import Reading, Refused, build, number

KEYS = {
    "id": "a name of the reading, so that it is recognised when it is sent again",
    "x": "[m], east in the site's frame",
    "y": "[m], north",
    "latitude": "[degrees], instead of x and y",
    "longitude": "[degrees]",
    "value": "what the sensor read, in the site's unit unless `unit` says otherwise",
    "unit": "of the value",
    "time": "seconds, milliseconds since 1970, or a date and time in ISO 8601",
    "wind_u": "[m/s], the velocity of the air to the east: where it goes",
    "wind_v": "[m/s], to the north",
    "wind_speed": "[m/s], instead of wind_u and wind_v",
    "wind_from": "[degrees clockwise from north], where the wind comes from",
    "altitude": "[m], above ground",
    "dwell": "[s], how long the sensor counted",
    "sensor": "the name of the sensor",
}
"""What a reading may say, and what it means; `columns.NAMES` has the other names that each goes by.

Other keys are left alone unless they look like one of these.
"""
_PLACES = (("x", "y"), ("latitude", "longitude"))
_WINDS = (("wind_u", "wind_v"), ("wind_speed", "wind_from"))
_OWN = ("id", "unit")
"""Keys that no column of a survey has."""
_SUCH = 'send one JSON object a line, such as {"x": 3.2, "y": 8.1, "value": 0.4}'
MAX_DIGITS = 30
"""Of a whole number."""
MAX_KEYS = 200
MAX_DEPTH = 20
"""Lists and objects in each other. What Python can just read, it may not be able to write down again."""
Area = tuple[tuple[float, float], tuple[float, float]]


def decoded(text: str) -> dict[str, Any]:
    """Keys and values of one JSON object, `{"id": "7", "x": 3.2, "y": 8.1, "value": 0.4}`, or `Refused`."""
    try:
        body = json.loads(
            text, parse_constant=float, parse_int=_whole_number, object_pairs_hook=_without_repeats
        )
    except json.JSONDecodeError as error:
        length = len(text.rstrip())
        if 0 < length <= error.pos or error.msg.startswith("Unterminated"):
            raise Refused(
                f"Not JSON: cut short after column {length}; send the whole object again, in one line."
            ) from None
        raise Refused(f"Not JSON: {error.msg} at column {error.colno}; {_SUCH}.") from None
    except RecursionError:
        raise Refused(f"Not a reading: nested too deep; {_SUCH}.") from None
    if not isinstance(body, dict):
        raise Refused(f"Not a reading: {_SUCH}.")
    _require_shallow(body)
    try:
        json.dumps(body, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("Not text: it has half a character (a lone surrogate); leave that out.") from None
    return body


def _require_shallow(body: dict[str, Any]) -> None:
    level: list[Any] = [body]
    for _ in range(MAX_DEPTH):
        items = (item.values() if isinstance(item, dict) else item for item in level)
        level = [part for item in items for part in item if isinstance(part, dict | list)]
    if level:
        raise Refused(f"Not a reading: nested too deep; {_SUCH}.")


def _whole_number(digits: str) -> int | float:
    """A number as long as numbers are; a longer one is beyond all that is measured."""
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) > MAX_KEYS:
        raise Refused(f"Not a reading: it has more than {MAX_KEYS} keys; leave out what no reading has.")
    body: dict[str, Any] = {}
    for key, value in pairs:
        if key in body:
            raise Refused(f"`{key[:40]}` is given twice: leave one.")
        body[key] = value
    return body


def from_object(
    body: dict[str, Any],
    frame: Frame,
    unit: str = "",
    dwell: float | None = None,
    *,
    area: Area | None = None,
    columns: Mapping[str, str] | None = None,
) -> Reading:
    """A reading from keys and values: those of `KEYS`, or by any name that a column of a survey may have.

    `unit` is the site's, and `dwell` [s] that of its readings which have none of their own; `area` [m] tells
    whether latitude and longitude are exchanged, and `columns` which key is what, as for surveys. `null`, and
    what loggers write where they have nothing, count as not given.
    """
    given, found = values_by_role(body, columns or {})
    winds = _wind(given)
    _require_no_halves(given, _PLACES)
    if "value" not in given:
        raise Refused("`value` is missing: what the sensor read.")
    time = moment(given)
    if "dwell" in given and is_missing("dwell", given["dwell"]):
        del given["dwell"]
    return build(
        _place(given, frame, area),
        _value(given, found, unit, dwell),
        wind=winds,
        time=time,
        **{name: given.get(name) for name in ("sensor", "altitude", "dwell", "id")},
    )


def roles_of(body: dict[str, Any], columns: Mapping[str, str] | None = None) -> set[str]:
    """What is given, by the names of `KEYS`, whatever its keys are called."""
    said = [key for key, value in body.items() if value is not None and key.strip().lower() not in _OWN]
    return set(_recognised(said, _mapping(said, columns or {})))


def strange_keys(body: dict[str, Any], columns: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Keys with something to say that are left alone, as none of them says anything of a reading."""
    said = [key for key, value in body.items() if value is not None and key.strip().lower() not in _OWN]
    used = {said[column.index] for column in _recognised(said, _mapping(said, columns or {})).values()}
    return tuple(key for key in said if key not in used)


def values_by_role(
    body: dict[str, Any], columns: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Column]]:
    """What is given by the names of `KEYS`, in their units, and the key that each came by.

    A wind of which one half is `null` keeps that half, so that it is not taken for a slip.
    """
    _require_each_once(body)
    said = [key for key, value in body.items() if value is not None and key.strip().lower() not in _OWN]
    silent = [key for key, value in body.items() if value is None]
    found = _recognised(said, _mapping(said, columns))
    given = {role: _scaled(body[said[column.index]], column.scale) for role, column in found.items()}
    for role in _recognised(silent, {}) if silent else ():
        if any(role in way for way in _WINDS):
            given.setdefault(role, None)
    for key, value in body.items():
        name = key.strip().lower()
        if name in _OWN and value is not None:
            given[name] = value
    _require_no_slips({*given, *(key.strip().lower() for key in said)} - _headers(found))
    return given, found


def _mapping(said: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Of what a site says of its columns, that which this reading has; it may as well use the plain names."""
    plain = {split_header(key)[0] for key in said}
    return {role: name for role, name in columns.items() if not name or split_header(name)[0] in plain}


def _recognised(keys: list[str], mapping: Mapping[str, str]) -> dict[str, Column]:
    try:
        return recognised("Among the keys", keys, mapping, option=None)
    except ValueError as error:
        raise Refused(str(error)) from None


def _headers(found: dict[str, Column]) -> set[str]:
    return {column.header.lower() for column in found.values()} - found.keys()


def _scaled(value: Any, scale: float) -> Any:
    """The number in the unit of its role; what is no number is left to be complained of."""
    if scale == 1.0 or isinstance(value, bool):
        return value
    try:
        return scale * float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _require_each_once(body: dict[str, Any]) -> None:
    names = [key.strip().lower() for key, value in body.items() if value is not None]
    for name in names:
        if names.count(name) > 1:
            raise Refused(f"`{name}` is given twice: leave one.")


def _require_no_slips(names: set[str]) -> None:
    for name in sorted(names - KEYS.keys()):
        near = difflib.get_close_matches(name, sorted(KEYS.keys() - names), n=1, cutoff=0.8)
        if near:
            raise Refused(f"Unknown key {name!r}: is {near[0]!r} meant? ({KEYS[near[0]]})")


def _require_no_halves(given: dict[str, Any], pairs: tuple[tuple[str, str], ...]) -> None:
    for first, second in pairs:
        if (first in given) != (second in given):
            here, missing = (first, second) if first in given else (second, first)
            raise Refused(f"`{missing}` is missing: give it with `{here}`.")


def _place(given: dict[str, Any], frame: Frame, area: Area | None) -> tuple[float, float]:
    if "x" in given and "latitude" in given:
        raise Refused("Give either x and y [m] or latitude and longitude [degrees], not both.")
    if "x" in given:
        return number("x", given["x"]), number("y", given["y"])
    if "latitude" not in given:
        raise Refused("The position is missing: give x and y [m], or latitude and longitude [degrees].")
    latitude, longitude = number("latitude", given["latitude"]), number("longitude", given["longitude"])
    try:
        require_degrees(latitude, longitude)
        east, north = frame.to_metres(latitude, longitude)[0]
    except ValueError as error:
        raise Refused(str(error)) from None
    if area is not None and look_swapped(frame, area, latitude, longitude):
        raise Refused(
            f"`latitude` {latitude:g} and `longitude` {longitude:g} look swapped, as the reading lies in the "
            "area of the site the other way round: exchange the two."
        )
    return float(east), float(north)


def _wind(given: dict[str, Any]) -> tuple[float, float] | None:
    """The wind [m/s] where the air goes; none where a half of it says nothing, as in a survey."""
    for way in _WINDS:
        if any(is_missing(role, given[role]) for role in way if role in given):
            for role in way:
                given.pop(role, None)
    _require_no_halves(given, _WINDS)
    if "wind_u" in given and "wind_speed" in given:
        raise Refused("Give the wind as wind_u and wind_v, or as wind_speed and wind_from, not both.")
    if "wind_u" in given:
        return number("wind_u", given["wind_u"]), number("wind_v", given["wind_v"])
    if "wind_speed" not in given:
        return None
    speed, direction = number("wind_speed", given["wind_speed"]), number("wind_from", given["wind_from"])
    for name, wrong in (("wind_speed", wind_fault(speed)), ("wind_from", direction_fault(direction))):
        if wrong is not None:
            raise Refused(f"`{name}` {wrong}")
    east, north = wind_from(speed, direction)
    return float(east), float(north)


def moment(given: dict[str, Any]) -> Any:
    """The time, with the date where that comes by itself."""
    time, date = given.get("time"), given.get("date")
    if isinstance(time, str) and isinstance(date, str) and ":" in time and "-" not in time:
        return f"{date.strip().replace('/', '-')}T{time.strip()}"
    return time


def _value(given: dict[str, Any], found: dict[str, Column], unit: str, dwell: float | None) -> float:
    """The value in the site's unit; a count rate becomes whole counts by the time counted."""
    value = number("value", given["value"])
    # The name of a key may say the unit, as in ch4_ppb; a field without a unit takes any.
    by_name = found["value"].unit if unit else None
    if "unit" not in given and by_name is None:
        return value
    spelling = str(given["unit"]) if "unit" in given else str(by_name)
    named, wanted = known_unit(spelling) or spelling, known_unit(unit) or unit
    times, per_second = factor(named, wanted), factor(named, "cps")
    if times is None and per_second is not None and wanted == "counts":
        return float(round(value * per_second * _time_counted(given, spelling, dwell)))
    if times is None:
        raise Refused(
            f"`unit` is {spelling!r}, which is no multiple of the site's {unit or 'own'!r}: convert it."
        )
    return value * times


def _time_counted(given: dict[str, Any], spelling: str, dwell: float | None) -> float:
    if "dwell" in given:
        return number("dwell", given["dwell"])
    if dwell is None:
        raise Refused(
            f"`unit` is {spelling!r}, and a rate becomes counts by the time counted: give `dwell` [s], or "
            "set it in [sensor] of the site file."
        )
    return dwell
