"""What a line of JSON asks an advisor for: to take in a reading, to withdraw one, or to correct one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dowsax.mission.questions import CONFIRM
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.reading_json import given_roles, parse_object

MAX_BYTES = 64 * 1024
"""Of one request."""
WITHDRAW, CORRECT = "withdraw", "correct"
_TARGET = ("id", "number")
_WAYS = ((("x", "y"), ("latitude", "longitude")), (("wind_u", "wind_v"), ("wind_speed", "wind_from")))
"""Of saying the same."""
_WORDS = (WITHDRAW, CORRECT, CONFIRM, "reason")


@dataclass(frozen=True)
class Target:
    """The reading that is meant: by the id that it was sent with, or by the number of its advice."""

    id: str | None = None
    number: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {"number": self.number} if self.id is None else {"id": self.id}

    def __str__(self) -> str:
        return f"Reading {self.number}" if self.id is None else f"The reading {self.id!r}"


@dataclass(frozen=True)
class Request:
    """What is asked for, in the keys of `reading_json.KEYS` as they came."""

    keys: dict[str, Any]
    """Of the reading, or of what is corrected of it; none for a withdrawal."""
    target: Target | None = None
    """The reading that is withdrawn or corrected; `None` for one to take in."""
    is_withdrawal: bool = False
    confirmed: bool = False
    """Whether the sender says that an odd value is right."""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it would be sent."""
        body = dict(self.keys)
        if self.target is not None:
            body |= {WITHDRAW if self.is_withdrawal else CORRECT: True, **self.target.to_json()}
        if self.confirmed:
            body[CONFIRM] = True
        return body | ({"reason": self.reason} if self.reason else {})


def read_request(data: bytes | str) -> Request:
    """Understand one line of JSON, or `Refused`."""
    size = len(data)
    if size > MAX_BYTES:
        raise Refused(f"Too long: {size:,} bytes; a reading has at most {MAX_BYTES:,}, leave the rest out.")
    text = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
    return request_of(parse_object(text))


def request_of(body: Mapping[str, Any]) -> Request:
    """Understand the keys and values of a request, or `Refused`."""
    chosen = [word for word in (WITHDRAW, CORRECT) if _flag(body, word)]
    if len(chosen) > 1:
        raise Refused("Give `withdraw` or `correct`, not both.")
    confirmed, reason = _flag(body, CONFIRM), body.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise Refused(f"`reason` must be a text; got {json.dumps(reason)[:40]}.")
    keys = {key: value for key, value in body.items() if key not in _WORDS}
    if not chosen:
        return Request(keys, confirmed=confirmed)
    target = _target(keys)
    keys = {key: value for key, value in keys.items() if key not in _TARGET}
    is_withdrawal = chosen == [WITHDRAW]
    if is_withdrawal and any(value is not None for value in keys.values()):
        raise Refused("A withdrawal has no values: give `id` or `number` alone, or `correct` instead.")
    if not is_withdrawal and all(value is None for value in keys.values()):
        raise Refused('A correction says what is right instead: give it, such as "value": 0.4.')
    return Request(keys, target, is_withdrawal, confirmed, (reason or "").strip()[:500])


def keys_of(reading: Reading, ground: float) -> dict[str, Any]:
    """The keys by which a reading that was taken in would be sent; `ground` [m] is added to its altitude."""
    keys: dict[str, Any] = {"x": reading.position[0], "y": reading.position[1], "value": reading.value}
    if reading.wind is not None:
        keys |= {"wind_u": reading.wind[0], "wind_v": reading.wind[1]}
    altitude = None if reading.altitude is None else reading.altitude + ground
    others = {"time": reading.time, "sensor": reading.sensor, "altitude": altitude, "dwell": reading.dwell}
    return keys | {name: value for name, value in others.items() if value is not None}


def merged(old: dict[str, Any], new: dict[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """The keys of a reading with what is corrected of it, a place or a wind also in the other way."""
    given = {key: value for key, value in new.items() if value is not None}
    roles = given_roles(given, columns)
    for one, other in _WAYS:
        if roles & set(other):
            roles |= set(one)
    return {key: value for key, value in old.items() if key not in roles} | given


def _flag(body: Mapping[str, Any], key: str) -> bool:
    value = body.get(key)
    if value is not None and not isinstance(value, bool):
        raise Refused(f"`{key}` must be true or false; got {json.dumps(value)[:40]}.")
    return bool(value)


def _target(keys: Mapping[str, Any]) -> Target:
    id_, number = (keys.get(name) for name in _TARGET)
    if (id_ is None) == (number is None):
        raise Refused("Say which reading: give its `id`, or the `number` that its advice had.")
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
        raise Refused(f"`number` must be a whole number from 1; got {json.dumps(number)[:40]}.")
    return Target(None if id_ is None else str(id_), number)
