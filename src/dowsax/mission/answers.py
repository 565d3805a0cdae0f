"""Answers to requests: advice, or an error that says what became of it. Nothing sent ends a mission."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, runtime_checkable

from dowsax.journal import NotRecorded
from dowsax.mission.advice import Advice
from dowsax.mission.log import MAX_GIVEN
from dowsax.mission.plan import Plan
from dowsax.mission.questions import CONFIRM, Doubted
from dowsax.mission.requests import MAX_BYTES, Request, read_request
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object

UNFORESEEN = "Not taken in, for a reason that was not foreseen"
MAX_REPORTED = 20
"""Unused keys in one warning."""
_LOGGER = logging.getLogger(__name__)


@runtime_checkable
class Advising(Protocol):
    """An advisor, or who passes requests on to one."""

    @property
    def plan(self) -> Plan: ...
    @property
    def latest(self) -> Advice | None: ...
    def answer(self, request: Request, given: str) -> Advice: ...
    def note_refusal(self, given: str, reason: str) -> None: ...


@runtime_checkable
class Stream(Protocol):
    """Bytes that come line by line."""

    def readline(self, size: int, /) -> bytes: ...


def answer(advisor: Advising, data: bytes | str, reported: set[str] | None = None) -> dict[str, Any]:
    """Answer one request: advice, or `error` with a reason. Never raises, whatever was sent.

    An error says that nothing is `recorded`, and whether the request was `refused`. What was refused is in
    the log as refused, with the reason: sent again as it is, it is refused again, unless the answer says that
    it can be confirmed. What was not refused could not be written: it is in no log, was not acknowledged, and
    has to be sent again. `reported` are unused keys of which a warning was given; others are added to it.
    """
    given = ""
    try:
        given = _text(data).strip()[:MAX_GIVEN]
        request = _read(advisor, data, given)
        advice = advisor.answer(request, given)
        body = advice.message(advisor.plan.frame)
        unused = unused_words(advisor.plan.unused(request.keys), set() if reported is None else reported)
        return body if unused is None else body | {"warnings": [*body["warnings"], unused]}
    except Refused as refusal:
        doubted = {CONFIRM: False} if isinstance(refusal, Doubted) else {}
        return _error(str(refusal), given, refused=True) | doubted
    except NotRecorded as error:
        return _error(str(error), given, refused=False)
    except Exception as error:
        return _unforeseen(advisor, given, error)


def _error(reason: str, given: str, refused: bool) -> dict[str, Any]:
    return {"error": reason, "id": _id_of(given), "recorded": False, "refused": refused}


def _unforeseen(advisor: Advising, given: str, error: Exception) -> dict[str, Any]:
    """A request that no check foresaw must end neither the mission nor the ones after it."""
    reason = f"{UNFORESEEN} ({type(error).__name__}): check it, and report this line."
    _LOGGER.exception("A request failed: %r", given[:200])
    try:
        advisor.note_refusal(given, reason)
    except NotRecorded as failure:
        return _error(str(failure), given, refused=False)
    return _error(reason, given, refused=True)


def _text(data: bytes | str) -> str:
    """What was sent, as far as it can be written down."""
    return data if isinstance(data, str) else data[: 4 * MAX_GIVEN].decode("utf-8", errors="replace")


def _read(advisor: Advising, data: bytes | str, given: str) -> Request:
    try:
        return read_request(data)
    except Refused as refusal:
        advisor.note_refusal(given, str(refusal))
        raise


def unused_words(keys: Iterable[str], reported: set[str]) -> str | None:
    """A sentence on those keys that have not been `reported` yet, which are added to it."""
    new = [key for key in keys if key not in reported][:MAX_REPORTED]
    reported.update(new)
    if not new:
        return None
    return f"Not used, as no key of a reading is called so: {', '.join(new)}."


def _id_of(text: str) -> str | None:
    """The id of what was refused, where it can be made out."""
    try:
        found = parse_object(text).get("id")
    except Refused:
        return None
    return None if found is None else str(found)[:MAX_GIVEN]


def lines_of(stream: Stream) -> Iterator[bytes]:
    """Yield the lines of a stream as they come; of one that is too long its beginning."""
    while line := stream.readline(MAX_BYTES + 1):
        rest = line
        while not rest.endswith(b"\n") and len(rest) > MAX_BYTES:
            rest = stream.readline(MAX_BYTES + 1)
        yield line


def serve_lines(advisor: Advising, lines: Iterable[bytes | str], write: Callable[[str], None]) -> None:
    """Answer every line that is not empty by one line of JSON; an error names the line, counted from 1."""
    reported: set[str] = set()
    for number, line in enumerate(lines, start=1):
        # Of one that is too long, what is not blank may be in the part that was not kept.
        if not line.strip() and len(line) <= MAX_BYTES:
            continue
        body = answer(advisor, line, reported)
        if "error" in body:
            body["line"] = number
        write(json.dumps(body, allow_nan=False) + "\n")
