"""Live messages: parse a request, answer it, and serve JSON lines.

A request asks to add a reading, to withdraw one, to correct one, or to restore one. An answer is advice, or
an error that says what became of the request. No message can end a mission.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from dowsax.journal import NotRecorded
from dowsax.mission.advice import Advice
from dowsax.mission.checks import CONFIRM, NeedsConfirmation
from dowsax.mission.log import MAX_GIVEN
from dowsax.mission.plan import Plan
from dowsax.mission.stations import SEARCHER
from dowsax.mission.waiting import read_ahead
from dowsax.survey.columns import FAR_END_ROLES, POSITION_ROLES, WIND_ROLES
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.reading_json import given_roles, parse_object

MAX_BYTES = 64 * 1024
"""Of one request."""
MAX_REPORTED_KEYS = 20
"""Unused keys in one warning."""
UNEXPECTED_ERROR = "Not added, because of an unexpected error"
WITHDRAW, CORRECT, RESTORE = "withdraw", "correct", "restore"
_TARGET_KEYS = ("id", "number")
_REQUEST_KEYS = (WITHDRAW, CORRECT, RESTORE, CONFIRM, "reason")
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """The reading to withdraw or correct: by the id it was sent with, or by the number of its advice."""

    id: str | None = None
    number: int | None = None
    searcher: str | None = None
    """Whose id it is, where several searchers gave it."""

    def to_json(self) -> dict[str, Any]:
        if self.id is None:
            return {"number": self.number}
        return {"id": self.id} | ({} if self.searcher is None else {"searcher": self.searcher})

    def __str__(self) -> str:
        return f"Reading {self.number}" if self.id is None else f"The reading {self.id!r}"


@dataclass(frozen=True)
class Request:
    """A parsed request, with the keys of `reading_json.KEYS` as they were sent."""

    keys: dict[str, Any]
    """Of the reading, or of the part that is corrected; empty for a withdrawal."""
    target: Target | None = None
    """The reading to withdraw, correct or restore; `None` for a new reading."""
    is_withdrawal: bool = False
    is_restoration: bool = False
    as_of: int | None = None
    """The step after which a reading to restore was right; `None` for one that was withdrawn."""
    confirmed: bool = False
    """Whether the sender confirms an implausible value."""
    reason: str = ""
    waiting: tuple[bytes | str, ...] = ()
    """Later requests of the same searcher that wait: no place is planned where one adds a reading."""

    def to_json(self) -> dict[str, Any]:
        """Return the request as it would be sent."""
        body = dict(self.keys)
        if self.target is not None:
            what = WITHDRAW if self.is_withdrawal else RESTORE if self.is_restoration else CORRECT
            body |= {what: True, **self.target.to_json()}
        if self.as_of is not None:
            body["as_of"] = self.as_of
        if self.confirmed:
            body[CONFIRM] = True
        return body | ({"reason": self.reason} if self.reason else {})


def read_request(data: bytes | str) -> Request:
    """Parse one line of JSON, or `Refused`."""
    size = len(data)
    if size > MAX_BYTES:
        raise Refused(f"Too long: {size:,} bytes; a reading has at most {MAX_BYTES:,}, leave the rest out.")
    text = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
    return parse_request(parse_object(text))


def parse_request(body: Mapping[str, Any]) -> Request:
    """Parse the keys and values of a request, or `Refused`."""
    chosen = [word for word in (WITHDRAW, CORRECT, RESTORE) if _flag(body, word)]
    if len(chosen) > 1:
        raise Refused("Give one of `withdraw`, `correct` and `restore`, not several.")
    confirmed, reason = _flag(body, CONFIRM), body.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise Refused(f"`reason` must be a text; got {json.dumps(reason)[:40]}.")
    keys = {key: value for key, value in body.items() if key not in _REQUEST_KEYS}
    if not chosen:
        return Request(keys, confirmed=confirmed)
    target = _parse_target(keys)
    is_correction, is_restoration = chosen == [CORRECT], chosen == [RESTORE]
    as_of = _step_number(keys.pop("as_of", None), "as_of") if is_restoration else None
    # With an id it says whose id that is, else it is what is corrected.
    own = () if is_correction and target.id is None else (SEARCHER,)
    keys = {key: value for key, value in keys.items() if key not in (*_TARGET_KEYS, *own)}
    if not is_correction and any(value is not None for value in keys.values()):
        what = "restoration" if is_restoration else "withdrawal"
        raise Refused(f"A {what} has no values: give `id` or `number` alone, or `correct` instead.")
    if is_correction and all(value is None for value in keys.values()):
        raise Refused('A correction says what is right instead: give it, such as "value": 0.4.')
    return Request(
        keys if is_correction else {},
        target,
        is_withdrawal=chosen == [WITHDRAW],
        is_restoration=is_restoration,
        as_of=as_of,
        confirmed=confirmed,
        reason=(reason or "").strip()[:500],
    )


def _flag(body: Mapping[str, Any], key: str) -> bool:
    value = body.get(key)
    if value is not None and not isinstance(value, bool):
        raise Refused(f"`{key}` must be true or false; got {json.dumps(value)[:40]}.")
    return bool(value)


def _parse_target(keys: Mapping[str, Any]) -> Target:
    id_, number = (keys.get(name) for name in _TARGET_KEYS)
    if (id_ is None) == (number is None):
        raise Refused("Say which reading: give its `id`, or the `number` that its advice had.")
    number = _step_number(number, "number")
    searcher = keys.get(SEARCHER)
    return Target(*(None if id_ is None else str(id_), number), None if searcher is None else str(searcher))


def _step_number(number: Any, key: str) -> int | None:
    """Return a number of a step, or `Refused`."""
    if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
        raise Refused(f"`{key}` must be a whole number from 1; got {json.dumps(number)[:40]}.")
    return number


def keys_of(reading: Reading, ground: float) -> dict[str, Any]:
    """Return the keys that would send this reading; `ground` [m] is added to its altitude."""
    keys: dict[str, Any] = {"x": reading.position[0], "y": reading.position[1], "value": reading.value}
    if reading.far_end is not None:
        keys |= {"x2": reading.far_end[0], "y2": reading.far_end[1]}
    if reading.wind is not None:
        keys |= {"wind_u": reading.wind[0], "wind_v": reading.wind[1]}
    altitude = None if reading.altitude is None else reading.altitude + ground
    others = {
        "time": reading.time,
        "sensor": reading.sensor,
        "altitude": altitude,
        "dwell": reading.dwell,
        "moving": reading.moving or None,
        "searcher": reading.searcher,
        "ranges": None if reading.ranges is None else list(reading.ranges),
        **reading.quantities,
    }
    return keys | {name: value for name, value in others.items() if value is not None}


def merge_keys(plan: Plan, old: Reading, new: dict[str, Any]) -> dict[str, Any]:
    """Replace the corrected keys of a reading; a place or a wind may be given the other way."""
    given = plan.with_ends({key: value for key, value in new.items() if value is not None})
    roles = given_roles(given, plan.columns, plan.stations.quantities)
    for one, other in (POSITION_ROLES, FAR_END_ROLES, WIND_ROLES):
        if roles & set(other):
            roles |= set(one)
    keys = keys_of(old, plan.stations.sensor.ground)
    return {key: value for key, value in keys.items() if key not in roles} | given


@runtime_checkable
class AdvisorLike(Protocol):
    """An advisor, or an object that passes requests on to one."""

    @property
    def plan(self) -> Plan: ...
    @property
    def latest(self) -> Advice | None: ...
    def answer(self, request: Request, given: str) -> Advice: ...
    def note_refusal(self, given: str, reason: str) -> None: ...


def answer(
    advisor: AdvisorLike,
    data: bytes | str,
    reported: set[str] | None = None,
    *,
    waiting: tuple[bytes | str, ...] = (),
) -> dict[str, Any]:
    """Answer one request: advice, or `error` with a reason. Never raises.

    An error has `recorded` false, and `refused`. A refused request is in the log with the reason: sent again
    unchanged it is refused again, unless the answer says that it can be confirmed. A request that was not
    refused could not be written to the log; it has to be sent again. `reported` are the unused keys that were
    warned about; new ones are added to it. `waiting` is that of `Request`.
    """
    given = ""
    try:
        given = _text(data).strip()[:MAX_GIVEN]
        request = replace(_read(advisor, data, given), waiting=waiting)
        advice = advisor.answer(request, given)
        body = advice.message(advisor.plan.coordinates)
        unused = unused_keys_warning(
            advisor.plan.unused_keys(request.keys), set() if reported is None else reported
        )
        return body if unused is None else body | {"warnings": [*body["warnings"], unused]}
    except Refused as refusal:
        confirm = {CONFIRM: False} if isinstance(refusal, NeedsConfirmation) else {}
        return _error(str(refusal), given, refused=True) | confirm
    except NotRecorded as error:
        return _error(str(error), given, refused=False)
    except Exception as error:
        return _unexpected_error(advisor, given, error)


def _error(reason: str, given: str, refused: bool) -> dict[str, Any]:
    return {"error": reason, "id": _id_of(given), "recorded": False, "refused": refused}


def _unexpected_error(advisor: AdvisorLike, given: str, error: Exception) -> dict[str, Any]:
    """Refuse a request that no check foresaw: it must not end the mission."""
    reason = f"{UNEXPECTED_ERROR} ({type(error).__name__}): check it, and report this line."
    _LOGGER.exception("A request failed: %r", given[:200])
    try:
        advisor.note_refusal(given, reason)
    except NotRecorded as failure:
        return _error(str(failure), given, refused=False)
    return _error(reason, given, refused=True)


def _text(data: bytes | str) -> str:
    """Decode what was sent, as far as it can be written down."""
    return data if isinstance(data, str) else data[: 4 * MAX_GIVEN].decode("utf-8", errors="replace")


def _read(advisor: AdvisorLike, data: bytes | str, given: str) -> Request:
    try:
        return read_request(data)
    except Refused as refusal:
        advisor.note_refusal(given, str(refusal))
        raise


def unused_keys_warning(keys: Iterable[str], reported: set[str]) -> str | None:
    """Warn of the keys that are not in `reported` yet, and add them to it."""
    new = [key for key in keys if key not in reported][:MAX_REPORTED_KEYS]
    reported.update(new)
    if not new:
        return None
    return f"Not used at this site: {', '.join(new)}."


def _id_of(text: str) -> str | None:
    """Return the id of a refused request, where it can be parsed."""
    try:
        found = parse_object(text).get("id")
    except Refused:
        return None
    return None if found is None else str(found)[:MAX_GIVEN]


@runtime_checkable
class Stream(Protocol):
    """A stream of bytes that is read line by line."""

    def readline(self, size: int, /) -> bytes: ...


def read_lines(stream: Stream) -> Iterator[bytes]:
    """Yield the lines of a stream as they arrive; a line that is too long is cut."""
    while line := stream.readline(MAX_BYTES + 1):
        rest = line
        while not rest.endswith(b"\n") and len(rest) > MAX_BYTES:
            rest = stream.readline(MAX_BYTES + 1)
        yield line


def serve_lines(advisor: AdvisorLike, lines: Iterable[bytes | str], write: Callable[[str], None]) -> None:
    """Answer every line that is not empty by one line of JSON; an error names the line, counted from 1.

    Lines of several searchers are read ahead: no place is planned for one whose next reading waits.
    """
    reported: set[str] = set()
    arrived = read_ahead(lines) if advisor.plan.searchers else ((line, ()) for line in lines)
    for number, (line, waiting) in enumerate(arrived, start=1):
        # A line that was cut may have its text in the part that was dropped.
        if not line.strip() and len(line) <= MAX_BYTES:
            continue
        body = answer(advisor, line, reported, waiting=waiting)
        if "error" in body:
            body["line"] = number
        write(json.dumps(body, allow_nan=False) + "\n")
