"""What became of hostile inputs: counted by their answers, and compared with what the logs hold."""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from dowsax.mission.checks import CONFIRM
from dowsax.mission.log import MissionLog, Refusal, Step
from dowsax.mission.messages import UNEXPECTED_ERROR

MAX_STEPS = 15
"""Readings and corrections of one mission: a correction takes in all of them again."""
MAX_FAULTS = 20
"""That are kept."""
_LOGGERS = ("dowsax", "uvicorn.error", "asyncio")
_MAX_REASON = 400
"""Characters of a reason that are compared: the console shortens long ones."""


@dataclass
class Tally:
    """The inputs of one transport by what became of them."""

    transport: str
    sent: int = 0
    blank: int = 0
    """Lines without anything in them, which have no answer."""
    answered: int = 0
    taken: int = 0
    refused: int = 0
    asked: int = 0
    """Refused, but would be taken in once confirmed."""
    raised: int = 0
    """An exception, an answer that nobody foresaw, or one of HTTP 500 and above."""
    unanswered: int = 0
    missions: int = 0
    """Whose logs held all that the answers said."""
    faults: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return self.raised == self.unanswered == 0 and not self.faults

    def fault(self, words: str, given: bytes = b"") -> None:
        """Keep what went wrong, and the beginning of what it went wrong with."""
        if len(self.faults) < MAX_FAULTS:
            self.faults.append(f"{words} {given[:200]!r} ({len(given)} bytes)" if given else words)

    def count(self, given: bytes, answer: str | Exception | None) -> dict[str, Any]:
        """Count an answer in JSON, or what there was in its place, and give back what it says."""
        if answer is None:
            self.unanswered += 1
            self.fault("No answer to", given)
            return {}
        if isinstance(answer, Exception):
            self.raised += 1
            self.fault(f"{type(answer).__name__} ({answer}) at", given)
            return {}
        self.answered += 1
        try:
            body = strictly_parsed(answer)
        except ValueError as error:
            self.fault(f"{error} in the answer to", given)
            return {}
        self.count_body(given, body)
        return body

    def count_body(self, given: bytes, body: Any) -> None:
        """Count an answer by whether it is an error, and which."""
        error = body.get("error") if isinstance(body, dict) else None
        if error is None:
            self.taken += 1
        elif error.startswith(UNEXPECTED_ERROR):
            self.raised += 1
            self.fault(error, given)
        elif CONFIRM in body:
            self.asked += 1
        else:
            self.refused += 1


def strictly_parsed(text: str) -> Any:
    """The JSON in a text; a ValueError where it has a number that JSON has not."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


@dataclass
class Expected:
    """What the log of a mission has to hold, by the answers that were given."""

    numbers: set[int] = field(default_factory=set)
    """Of the advice."""
    surveyed: int = 0
    """Readings besides, of which the advice was not told."""
    reasons: Counter = field(default_factory=Counter)
    """Of refusals."""

    def refuse(self, reason: str) -> None:
        self.reasons[_plain(reason)] += 1

    def faults(self, path: Path) -> Iterator[str]:
        """How a log differs from it; a log that is damaged raises `Damaged`."""
        records = list(MissionLog.open(path).records())
        steps = [record.number for record in records if isinstance(record, Step)]
        if steps != list(range(1, len(steps) + 1)):
            yield f"The steps of {path} are numbered {steps}."
        if not self.numbers <= set(steps) or len(steps) != len(self.numbers) + self.surveyed:
            told = len(self.numbers) + self.surveyed
            yield f"{path} holds {len(steps)} steps, and {told} were answered."
        held = Counter(_plain(record.reason) for record in records if isinstance(record, Refusal))
        for reason, number in (self.reasons - held).items():
            yield f"{path} lacks {number} refusals: {reason}"


def _plain(reason: str) -> str:
    return " ".join(reason.split()).encode("utf-8", "replace").decode()[:_MAX_REASON]


class _Errors(logging.Handler):
    """Keeps the errors that are logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = logging.Formatter().format(record).strip().splitlines()
        self.lines.append(" … ".join(dict.fromkeys((text[0][:200], *text[-3:]))))


@contextmanager
def errors_counted(tally: Tally) -> Iterator[None]:
    """Count also those errors that were logged and not answered, and tell of all."""
    handler, loggers = _Errors(), [logging.getLogger(name) for name in _LOGGERS]
    passed_on = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, passed_on, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate
    tally.raised = max(tally.raised, len(handler.lines))
    for line in handler.lines:
        tally.fault(line)
