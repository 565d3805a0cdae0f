"""A live reading as a JSON object, with the key names that loggers use, as in survey files."""

import difflib
import json
from collections.abc import Collection, Mapping
from typing import Any

from dowsax.geo.local import LocalCoordinates, look_swapped, require_degrees
from dowsax.geo.wind import wind_from
from dowsax.site.measured import QUANTITIES, READING_UNIT, Quantity, unit_of_quantity
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import (
    FAR_END_ROLES,
    NAMES,
    POSITION_ROLES,
    WIND_ROLES,
    Column,
    is_near_end,
    match_columns,
    split_header,
)
from dowsax.survey.lint import direction_fault, is_missing, wind_fault
from dowsax.survey.reading import Reading, Refused, build, number


def _explain(quantity: Quantity) -> str:
    unit = {READING_UNIT: "[unit of the site; of counts, per second], ", "deg": "[degrees], "}
    return unit.get(quantity.unit, "") + quantity.meaning


KEYS = {
    "id": "a name of the reading, so that it is recognised when it is sent again",
    "x": "[m], east in the local coordinates of the site",
    "y": "[m], north",
    "latitude": "[degrees], instead of x and y",
    "longitude": "[degrees]",
    "x2": "[m], east of the far end of a path, of which x and y (or x1 and y1) are the first end",
    "y2": "[m], north",
    "latitude2": "[degrees], instead of x2 and y2",
    "longitude2": "[degrees]",
    "value": "the reading of the sensor, in `unit`",
    "unit": "unit of the value. Default: that of the site",
    "time": "seconds, milliseconds since 1970, or a date and time in ISO 8601",
    "wind_u": "[m/s], the velocity of the air to the east: where it goes",
    "wind_v": "[m/s], to the north",
    "wind_speed": "[m/s], instead of wind_u and wind_v",
    "wind_from": "[degrees clockwise from north], where the wind comes from",
    "altitude": "[m], above ground",
    "dwell": "[s], how long the sensor counted",
    "sensor": "the name of the sensor",
    **{name: _explain(quantity) for name, quantity in QUANTITIES.items()},
    "moving": "true for a reading on the way, which is none of the budget's readings",
    "searcher": "the name of the searcher, where a site has several",
    "ranges": "[m], of a range sensor: how far the next wall is in each direction; `null` where none is seen",
}
"""The keys of a reading and their meaning; `columns.NAMES` has further names for each.

Other keys are ignored, except those that look like a misspelling of one of these.
"""
_ALL_NAMES = {*KEYS, *(name for names in NAMES.values() for name in names)}
_JSON_ONLY_KEYS = ("id", "unit", "moving", "searcher", "ranges")
"""Keys that are no role of a column."""
_AS_GIVEN = ("sensor", "altitude", "dwell", "id", "moving", "searcher", "ranges")
_EXAMPLE = 'send one JSON object a line, such as {"x": 3.2, "y": 8.1, "value": 0.4}'
MAX_DIGITS = 30
"""Of a whole number."""
MAX_KEYS = 200
MAX_DEPTH = 20
"""Of lists and objects in each other: Python may read deeper ones and fail to write them."""
Area = tuple[tuple[float, float], tuple[float, float]]


def parse_object(text: str) -> dict[str, Any]:
    """Return the keys and values of one JSON object, or raise `Refused`."""
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
        raise Refused(f"Not JSON: {error.msg} at column {error.colno}; {_EXAMPLE}.") from None
    except RecursionError:
        raise Refused(f"Not a reading: nested too deep; {_EXAMPLE}.") from None
    if not isinstance(body, dict):
        raise Refused(f"Not a reading: {_EXAMPLE}.")
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
        raise Refused(f"Not a reading: nested too deep; {_EXAMPLE}.")


def _whole_number(digits: str) -> int | float:
    """Return a whole number; a longer one becomes a float, which is refused later."""
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
    coordinates: LocalCoordinates,
    unit: str = "",
    dwell: float | None = None,
    *,
    area: Area | None = None,
    columns: Mapping[str, str] | None = None,
    quantities: Collection[str] = tuple(QUANTITIES),
) -> Reading:
    """Return the reading of an object with the keys of `KEYS`, or any name that a survey column may have.

    `null` and the missing values of loggers count as not given.

    Parameters
    ----------
    body
        Keys and values.
    coordinates
        Local coordinates of the site.
    unit
        Unit of the site.
    dwell
        How long a reading counts that does not say so [s].
    area
        The area of the site [m], to find latitude and longitude exchanged.
    columns
        Which key is what, as for surveys.
    quantities
        Those of `QUANTITIES` that are used; keys of others are ignored.
    """
    given, found = values_by_role(body, columns or {}, quantities)
    winds = _wind(given)
    _require_no_halves(given, (*POSITION_ROLES, *FAR_END_ROLES))
    if "value" not in given:
        raise Refused("`value` is missing: what the sensor read.")
    time = date_and_time(given)
    if "dwell" in given and is_missing("dwell", given["dwell"]):
        del given["dwell"]
    return build(
        _position(given, coordinates, area),
        _value(given, found, unit, dwell),
        wind=winds,
        time=time,
        far_end=_far_end(given, found, coordinates, area),
        **{name: given.get(name) for name in _AS_GIVEN},
        **{name: _convert(name, given, found, unit) for name in QUANTITIES if name in given},
    )


def given_roles(
    body: dict[str, Any],
    columns: Mapping[str, str] | None = None,
    quantities: Collection[str] = tuple(QUANTITIES),
) -> set[str]:
    """Return the roles that a reading has, by the names of `KEYS`."""
    keys = _keys_with_values(body)
    return set(_match_keys(keys, _mapping(keys, columns or {}), quantities))


def unknown_keys(
    body: dict[str, Any],
    columns: Mapping[str, str] | None = None,
    quantities: Collection[str] = tuple(QUANTITIES),
) -> tuple[str, ...]:
    """Return the keys that have a value but no role in a reading."""
    keys = _keys_with_values(body)
    found = _match_keys(keys, _mapping(keys, columns or {}), quantities)
    used = {keys[column.index] for column in found.values()}
    return tuple(key for key in keys if key not in used)


def _keys_with_values(body: dict[str, Any]) -> list[str]:
    return [
        key for key, value in body.items() if value is not None and key.strip().lower() not in _JSON_ONLY_KEYS
    ]


def values_by_role(
    body: dict[str, Any], columns: Mapping[str, str], quantities: Collection[str] = ()
) -> tuple[dict[str, Any], dict[str, Column]]:
    """Return the values by the names of `KEYS`, in their units, and the key of each.

    A wind of which one half is `null` keeps that half, so that it is no error. Of `QUANTITIES`, those in
    `quantities` are looked for.
    """
    _require_each_once(body)
    keys = _keys_with_values(body)
    null_keys = [key for key, value in body.items() if value is None]
    found = _match_keys(keys, _mapping(keys, columns), quantities)
    given = {role: _scale(body[keys[column.index]], column.scale) for role, column in found.items()}
    for role in _match_keys(null_keys, {}, ()) if null_keys else ():
        if any(role in pair for pair in WIND_ROLES):
            given.setdefault(role, None)
    for key, value in body.items():
        name = key.strip().lower()
        if name in _JSON_ONLY_KEYS and value is not None:
            given[name] = value
    names = {*given, *(key.strip().lower() for key in keys)} - _headers(found)
    _require_no_misspellings(names, {key for key in KEYS if key not in QUANTITIES or key in quantities})
    return given, found


def _mapping(keys: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Return the columns that the site names and this reading has; it may use the plain names instead."""
    plain = {split_header(key)[0] for key in keys}
    return {role: name for role, name in columns.items() if not name or split_header(name)[0] in plain}


def _match_keys(
    keys: list[str], mapping: Mapping[str, str], quantities: Collection[str]
) -> dict[str, Column]:
    unused = [name for name in QUANTITIES if name not in quantities]
    try:
        return match_columns("Among the keys", keys, mapping, unused=unused, option=None)
    except ValueError as error:
        raise Refused(str(error)) from None


def _headers(found: dict[str, Column]) -> set[str]:
    return {column.header.lower() for column in found.values()} - found.keys()


def _scale(value: Any, scale: float) -> Any:
    """Return a number in the unit of its role, and anything else as it is, to be refused later."""
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


def _require_no_misspellings(names: set[str], known: set[str]) -> None:
    for name in sorted(names - _ALL_NAMES):
        near = difflib.get_close_matches(name, sorted(known - names), n=1, cutoff=0.8)
        if near:
            raise Refused(f"Unknown key {name!r}: is {near[0]!r} meant? ({KEYS[near[0]]})")


def _require_no_halves(given: dict[str, Any], pairs: tuple[tuple[str, str], ...]) -> None:
    for first, second in pairs:
        if (first in given) != (second in given):
            here, missing = (first, second) if first in given else (second, first)
            raise Refused(f"`{missing}` is missing: give it with `{here}`.")


def _position(given: dict[str, Any], coordinates: LocalCoordinates, area: Area | None) -> tuple[float, float]:
    found = _place(given, POSITION_ROLES, coordinates, area)
    if found is None:
        raise Refused("The position is missing: give x and y [m], or latitude and longitude [degrees].")
    return found


def _far_end(
    given: dict[str, Any], found: dict[str, Column], coordinates: LocalCoordinates, area: Area | None
) -> tuple[float, float] | None:
    """Return the other end of a path [m]; it may be in degrees where the first end is in metres."""
    for pair in FAR_END_ROLES:
        if all(role in given and is_missing(role, given[role]) for role in pair):
            for role in pair:
                del given[role]
    far_end = _place(given, FAR_END_ROLES, coordinates, area)
    for role in POSITION_ROLES[0] + POSITION_ROLES[1]:
        if far_end is None and role in found and is_near_end(role, found[role].header):
            raise Refused(
                f"`{found[role].header}` is of one end of a path, and the other is missing: give x2 and y2 "
                "[m], or latitude2 and longitude2 [degrees]; or x and y for a reading at a point."
            )
    return far_end


def _place(
    given: dict[str, Any],
    roles: tuple[tuple[str, str], tuple[str, str]],
    coordinates: LocalCoordinates,
    area: Area | None,
) -> tuple[float, float] | None:
    """Return a place [m] given in metres or degrees; `None` where it is not given."""
    (x, y), (north, east) = roles
    if x in given and north in given:
        raise Refused(f"Give either {x} and {y} [m] or {north} and {east} [degrees], not both.")
    if x in given:
        return number(x, given[x]), number(y, given[y])
    if north not in given:
        return None
    latitude, longitude = number(north, given[north]), number(east, given[east])
    try:
        require_degrees(latitude, longitude)
        metres = coordinates.to_metres(latitude, longitude)[0]
    except ValueError as error:
        raise Refused(str(error)) from None
    if area is not None and look_swapped(coordinates, area, latitude, longitude):
        raise Refused(
            f"`{north}` {latitude:g} and `{east}` {longitude:g} look swapped, as the reading lies in the "
            "area of the site the other way round: exchange the two."
        )
    return float(metres[0]), float(metres[1])


def _wind(given: dict[str, Any]) -> tuple[float, float] | None:
    """Return the wind [m/s], where the air goes; `None` where half of it is missing, as in a survey."""
    for pair in WIND_ROLES:
        if any(is_missing(role, given[role]) for role in pair if role in given):
            for role in pair:
                given.pop(role, None)
    _require_no_halves(given, WIND_ROLES)
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


def date_and_time(given: dict[str, Any]) -> Any:
    """Return the time, joined with the date where they are separate."""
    time, date = given.get("time"), given.get("date")
    if isinstance(time, str) and isinstance(date, str) and ":" in time and "-" not in time:
        return f"{date.strip().replace('/', '-')}T{time.strip()}"
    return time


def _value(given: dict[str, Any], found: dict[str, Column], unit: str, dwell: float | None) -> float:
    """Return the value in the unit of the site; a count rate becomes whole counts by the time counted."""
    value = number("value", given["value"])
    # The name of a key may have the unit, as in ch4_ppb; a field without a unit accepts any.
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


def _convert(name: str, given: dict[str, Any], found: dict[str, Column], unit: str) -> Any:
    """Return a quantity in the unit of the site, where the name of its key has another one."""
    spelling, wanted = found[name].unit, unit_of_quantity(name, known_unit(unit) or unit)
    if spelling is None or QUANTITIES[name].unit != READING_UNIT or is_missing(name, given[name]):
        return given[name]
    times = factor(known_unit(spelling) or spelling, wanted)
    if times is None:
        raise Refused(f"`{found[name].header}` is no multiple of {wanted!r}: convert it.")
    return times * number(name, given[name])


def _time_counted(given: dict[str, Any], spelling: str, dwell: float | None) -> float:
    if "dwell" in given:
        return number("dwell", given["dwell"])
    if dwell is None:
        raise Refused(
            f"`unit` is {spelling!r}, and a rate becomes counts by the time counted: give `dwell` [s], or "
            "set it in [sensor] of the site file."
        )
    return dwell
