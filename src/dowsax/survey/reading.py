"""One live reading of a sensor: accepted, or refused with a reason that says what to do."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dowsax.site.measured import QUANTITIES, quantity_fault
from dowsax.site.text import cut
from dowsax.survey.csv_file import MAX_NUMBER
from dowsax.survey.lint import altitude_fault, is_missing, wind_fault
from dowsax.survey.times import MIN_EPOCH_MS, read_date, time_of_day

_REMEDY = "leave the reading out, or measure again"


class Refused(ValueError):
    """A reading that is not accepted; the message says why and what to do."""


@dataclass(frozen=True)
class Reading:
    """A reading in the local coordinates of the site. What was not measured is `None`."""

    position: tuple[float, float]
    """[m]; of a path, its first end."""
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
    moving: bool = False
    """Whether it was taken on the way: such readings are none of the budget's."""
    quantities: Mapping[str, float] = field(default_factory=dict, hash=False)
    """What else was measured, by the names of `QUANTITIES`."""
    far_end: tuple[float, float] | None = None
    """[m], the other end of a path along which the value is the mean; `None` for a reading at a point."""
    searcher: str | None = None
    """Name of the searcher, where a site has several."""
    ranges: tuple[float | None, ...] | None = None
    """[m], how far the next wall is in each direction of a range sensor; `None` where it sees none."""

    def __post_init__(self) -> None:
        """Require finite numbers in the ranges that can be measured."""
        numbers = {"position": self.position, "value": (self.value,), "wind": self.wind or ()}
        numbers["far end"] = self.far_end or ()
        numbers["ranges"] = [length for length in self.ranges or () if length is not None]
        for name in ("time", "altitude", "dwell"):
            given = getattr(self, name)
            numbers[name] = () if given is None else (given,)
        numbers |= {name: (given,) for name, given in self.quantities.items()}
        for name, values in numbers.items():
            if not all(math.isfinite(value) and abs(value) < MAX_NUMBER for value in values):
                raise Refused(f"The {name} is not a usable number: {_REMEDY}.")
        if self.dwell is not None and self.dwell <= 0:
            raise Refused(f"`dwell` is a time above 0 s; got {self.dwell:g}.")
        absurd = {
            "altitude": None if self.altitude is None else altitude_fault(self.altitude),
            "wind": None if self.wind is None else wind_fault(math.hypot(*self.wind)),
            **{name: quantity_fault(name, given, "") for name, given in self.quantities.items()},
        }
        for name, wrong in absurd.items():
            if wrong is not None:
                raise Refused(f"`{name}` {wrong}")

    def to_json(self) -> dict[str, Any]:
        """Return an object; what few readings have is in it only where this one has it."""
        body = asdict(self)
        quantities, moving, far_end = body.pop("quantities"), body.pop("moving"), body.pop("far_end")
        body |= {} if far_end is None else {"far_end": far_end}
        for name in ("searcher", "ranges"):
            if body[name] is None:
                del body[name]
        return body | ({"moving": True} if moving else {}) | quantities

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Reading":
        """Return the reading of an object: the inverse of `to_json`."""
        given = {name: body.get(name) for name in ("position", "wind", "far_end", "ranges")}
        pairs: dict[str, Any] = {name: None if pair is None else tuple(pair) for name, pair in given.items()}
        others = {name: item for name, item in body.items() if name not in QUANTITIES}
        quantities = {name: item for name, item in body.items() if name in QUANTITIES}
        return cls(**(others | pairs), quantities=quantities)


def build(
    position,
    value,
    *,
    wind=None,
    time=None,
    sensor=None,
    altitude=None,
    dwell=None,
    id=None,
    moving=None,
    far_end=None,
    searcher=None,
    ranges=None,
    **quantities,
) -> Reading:
    """Return a reading from the numbers and names of a program, in any type.

    `quantities` are those of `QUANTITIES`. Missing values of loggers, such as an altitude of -999, count as
    not measured. A path whose ends are one place is a point.
    """
    for name in quantities:
        if name not in QUANTITIES:
            raise TypeError(f"a reading has no {name!r}; known are {', '.join(QUANTITIES)}.")
    given = {"time": time, "sensor": sensor, "altitude": altitude, "dwell": dwell, "id": id}
    known = {name: None if is_missing(name, item) else item for name, item in given.items()}
    place = _pair("position", position)
    end = None if far_end is None else _pair("far_end", far_end)
    return Reading(
        position=place,
        value=number("value", value),
        wind=_wind(wind),
        time=None if known["time"] is None else read_time(known["time"])[0],
        sensor=None if known["sensor"] is None else str(known["sensor"]),
        altitude=None if known["altitude"] is None else number("altitude", known["altitude"]),
        dwell=None if known["dwell"] is None else number("dwell", known["dwell"]),
        id=None if known["id"] is None else str(known["id"]),
        moving=_flag("moving", moving),
        quantities={
            name: number(name, given) for name, given in quantities.items() if not is_missing(name, given)
        },
        far_end=None if end == place else end,
        searcher=None if searcher is None else str(searcher),
        ranges=None if ranges is None else _ranges(ranges),
    )


def _ranges(values) -> tuple[float | None, ...]:
    """Return the lengths [m] of ranges; `None`, and infinity, is where nothing is seen."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise Refused(f"`ranges` is a list of lengths [m], null where nothing is seen; got {_short(values)}.")
    lengths = [None if value in (None, math.inf) else number("ranges", value) for value in values]
    for length in lengths:
        if length is not None and length < 0:
            raise Refused(f"`ranges` are lengths of 0 m and more; got {length:g}.")
    return tuple(lengths)


def _flag(name: str, value) -> bool:
    """Return true or false; nothing is false."""
    if value is not None and not isinstance(value, bool):
        raise Refused(f"`{name}` must be true or false; got {_short(value)}.")
    return bool(value)


def _wind(velocity) -> tuple[float, float] | None:
    """Return the wind east and north [m/s]; `None` where either is missing."""
    if velocity is None or is_missing("wind_u", velocity):
        return None
    try:
        parts = list(velocity)
    except TypeError:
        parts = []
    if any(is_missing("wind_u", part) for part in parts):
        return None
    return _pair("wind", velocity)


def number(name: str, value) -> float:
    """Return a number, also from a string; refuse true and false."""
    if isinstance(value, bool):
        raise Refused(f"`{name}` is not a number: {json.dumps(value)}; correct it.")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        if is_missing(name, value):
            raise Refused(f"`{name}` says nothing, {_short(value)}: {_REMEDY}.") from None
        raise Refused(f"`{name}` is not a number: {_short(value)}; correct it.") from None
    if not math.isfinite(number):
        raise Refused(f"`{name}` is {number}: {_REMEDY}.")
    return number


def _pair(name: str, values) -> tuple[float, float]:
    try:
        first, second = values
    except (TypeError, ValueError):
        raise Refused(f"`{name}` is a pair of numbers; got {_short(values)}.") from None
    return number(name, first), number(name, second)


def read_time(value) -> tuple[float, str]:
    """Return the time [s] and the form of `CLOCKS` in which it was given.

    A date and time becomes seconds since 1970, in UTC where it has no zone. A time of day alone becomes
    seconds since midnight, as in a survey.
    """
    if not isinstance(value, str):
        return _from_milliseconds(number("time", value)), "seconds"
    for clock, read in CLOCKS.items():
        try:
            return read(value), clock
        except ValueError:
            continue
    raise Refused(
        f"`time` is neither seconds nor a date such as 2026-05-04T12:30:00Z: {_short(value)}; correct it."
    )


def _from_milliseconds(number: float) -> float:
    return number / 1000 if number >= MIN_EPOCH_MS else number


CLOCKS: dict[str, Callable[[str], float]] = {
    "date": read_date,
    "seconds": lambda text: _from_milliseconds(number("time", text)),
    "time of day": time_of_day,
}
"""The forms of a time in text, in the order in which they are tried, and how each is read."""


def _short(value) -> str:
    return cut(repr(value), 40)
