"""One reading as it comes from a sensor: understood, or refused with a reason that says what to do."""

import difflib
import json
import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from dowsax.mission.clocks import EPOCH_MILLISECONDS
from dowsax.mission.frame import Frame, require_degrees
from dowsax.mission.marks import altitude_fault, wind_fault
from dowsax.mission.units import factor, known_unit
from dowsax.mission.wind import wind_from

_ALIASES = {
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
    "timestamp": "time",
    "windspeed": "wind_speed",
    "winddir": "wind_from",
}
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
"""What a reading may say, and what it means. Other keys are left alone unless they look like one of these."""
_PAIRS = (("x", "y"), ("latitude", "longitude"), ("wind_u", "wind_v"), ("wind_speed", "wind_from"))
_LARGEST = 1e30


class Refused(ValueError):
    """A reading that is not taken in; the message says why and what to do."""


@dataclass(frozen=True)
class Reading:
    """A reading in the site's frame. What was not measured is `None`."""

    position: tuple[float, float]
    """[m]"""
    value: float
    wind: tuple[float, float] | None = None
    """[m/s], where the air goes."""
    time: float | None = None
    """[s], since 1970 where a date was given, else as given."""
    sensor: str | None = None
    altitude: float | None = None
    """[m], above ground."""
    dwell: float | None = None
    """[s]"""
    id: str | None = None

    def __post_init__(self) -> None:
        """Numbers are finite: what could not be measured must not pass for a number."""
        numbers = {"position": self.position, "value": (self.value,), "wind": self.wind or ()}
        for name in ("time", "altitude", "dwell"):
            given = getattr(self, name)
            numbers[name] = () if given is None else (given,)
        for name, values in numbers.items():
            if not all(math.isfinite(value) and abs(value) < _LARGEST for value in values):
                raise Refused(f"The {name} is not a usable number: leave the reading out, or measure again.")
        if self.dwell is not None and self.dwell <= 0:
            raise Refused(f"`dwell` is a time above 0 s; got {self.dwell:g}.")
        absurd = {
            "altitude": None if self.altitude is None else altitude_fault(self.altitude),
            "wind": None if self.wind is None else wind_fault(math.hypot(*self.wind)),
        }
        for name, wrong in absurd.items():
            if wrong is not None:
                raise Refused(f"`{name}`: {wrong}")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Reading":
        """The inverse of `to_json`."""
        wind = body["wind"]
        pairs = {"position": tuple(body["position"]), "wind": None if wind is None else tuple(wind)}
        return cls(**(body | pairs))


def build(
    position, value, *, wind=None, time=None, sensor=None, altitude=None, dwell=None, id=None
) -> Reading:
    """A reading from what a program gives: a pair of numbers, numbers and names of any kind."""
    return Reading(
        position=_pair("position", position),
        value=_number("value", value),
        wind=None if wind is None else _pair("wind", wind),
        time=None if time is None else _seconds(time),
        sensor=None if sensor is None else str(sensor),
        altitude=None if altitude is None else _number("altitude", altitude),
        dwell=None if dwell is None else _number("dwell", dwell),
        id=None if id is None else str(id),
    )


def parse(text: str, frame: Frame, unit: str = "", dwell: float | None = None) -> Reading:
    """A reading from one JSON object: `{"id": "7", "x": 3.2, "y": 8.1, "value": 0.4}`; see `KEYS`."""
    try:
        body = json.loads(text, parse_constant=lambda name: float(name))
    except json.JSONDecodeError as error:
        raise Refused(f"Not JSON: {error.msg} at column {error.colno}.") from None
    except RecursionError:
        raise Refused("Not a reading: nested too deep.") from None
    if not isinstance(body, dict):
        raise Refused('A reading is a JSON object such as {"x": 3.2, "y": 8.1, "value": 0.4}.')
    return from_object(body, frame, unit, dwell)


def from_object(body: dict[str, Any], frame: Frame, unit: str = "", dwell: float | None = None) -> Reading:
    """A reading from the keys and values of `KEYS`; `null` counts as not given.

    `unit` is the site's, and `dwell` [s] that of its readings which have none of their own.
    """
    given: dict[str, Any] = {}
    for key, value in body.items():
        name = _ALIASES.get(key.lower(), key.lower())
        if value is None:
            continue
        if name in given:
            raise Refused(f"`{name}` is given twice: leave one.")
        given[name] = value
    _require_no_slips(given)
    for first, second in _PAIRS:
        if (first in given) != (second in given):
            missing = second if first in given else first
            raise Refused(f"`{missing}` is missing: {first} and {second} go together.")
    if "value" not in given:
        raise Refused("`value` is missing: what the sensor read.")
    return build(
        _place(given, frame),
        _value(given, unit, dwell),
        wind=_wind(given),
        **{name: given.get(name) for name in ("time", "sensor", "altitude", "dwell", "id")},
    )


def _require_no_slips(given: dict[str, Any]) -> None:
    for name in given.keys() - KEYS.keys():
        near = difflib.get_close_matches(name, KEYS.keys() - given.keys(), n=1, cutoff=0.8)
        if near:
            raise Refused(f"Unknown key {name!r}: is {near[0]!r} meant? ({KEYS[near[0]]})")


def _place(given: dict[str, Any], frame: Frame) -> tuple[float, float]:
    if "x" in given and "latitude" in given:
        raise Refused("Give either x and y [m] or latitude and longitude [degrees], not both.")
    if "x" in given:
        return _number("x", given["x"]), _number("y", given["y"])
    if "latitude" not in given:
        raise Refused("The position is missing: give x and y [m], or latitude and longitude [degrees].")
    latitude, longitude = _number("latitude", given["latitude"]), _number("longitude", given["longitude"])
    try:
        require_degrees(latitude, longitude)
        east, north = frame.to_metres(latitude, longitude)[0]
    except ValueError as error:
        raise Refused(str(error)) from None
    return float(east), float(north)


def _wind(given: dict[str, Any]) -> tuple[float, float] | None:
    if "wind_u" in given and "wind_speed" in given:
        raise Refused("Give the wind as wind_u and wind_v, or as wind_speed and wind_from, not both.")
    if "wind_u" in given:
        return _number("wind_u", given["wind_u"]), _number("wind_v", given["wind_v"])
    if "wind_speed" not in given:
        return None
    speed = _number("wind_speed", given["wind_speed"])
    if speed < 0:
        raise Refused(f"`wind_speed` is not below 0 m/s; got {speed:g}.")
    direction = _number("wind_from", given["wind_from"])
    if not -360 <= direction <= 360:
        raise Refused(f"`wind_from` is between 0 and 360 degrees; got {direction:g}.")
    east, north = wind_from(speed, direction)
    return float(east), float(north)


def _value(given: dict[str, Any], unit: str, dwell: float | None) -> float:
    """The value in the site's unit; a count rate becomes whole counts by the time counted."""
    value = _number("value", given["value"])
    if "unit" not in given:
        return value
    spelling = str(given["unit"])
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
        return _number("dwell", given["dwell"])
    if dwell is None:
        raise Refused(
            f"`unit` is {spelling!r}, and a rate becomes counts by the time counted: give `dwell` [s], or "
            "set it in [sensor] of the site file."
        )
    return dwell


def _number(name: str, value) -> float:
    """A number, also in a string; not a truth value, which JSON writes like one."""
    if isinstance(value, bool):
        raise Refused(f"`{name}` is not a number: {json.dumps(value)}.")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Refused(f"`{name}` is not a number: {_short(value)}.") from None
    if not math.isfinite(number):
        raise Refused(f"`{name}` is {number}: leave the reading out, or measure again.")
    return number


def _pair(name: str, values) -> tuple[float, float]:
    try:
        first, second = values
    except (TypeError, ValueError):
        raise Refused(f"`{name}` is a pair of numbers; got {_short(values)}.") from None
    return _number(name, first), _number(name, second)


def _seconds(value) -> float:
    """Seconds as they are; a date and time as seconds since 1970, in UTC unless it says otherwise."""
    if not isinstance(value, str):
        return _on_a_clock(_number("time", value))
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        try:
            return _on_a_clock(_number("time", value))
        except Refused:
            raise Refused(
                f"`time` is neither seconds nor a date such as 2026-05-04T12:30:00Z: {_short(value)}."
            ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _on_a_clock(number: float) -> float:
    return number / 1000 if number >= EPOCH_MILLISECONDS else number


def _short(value) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
