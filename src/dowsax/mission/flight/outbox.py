"""Commands on their way to an autopilot: one at a time, each repeated until it is acknowledged."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dowsax.mission.flight.commands import Command, GoTo, SetMode, TakeOff
from dowsax.mission.flight.events import HOME, Done, Failed

REPEAT_S = 1.0
MAX_ATTEMPTS = 6
_ACCEPTED, _IN_PROGRESS, _BUSY, _FAILED = 0, 5, 1, 4
"""MAV_RESULT_ACCEPTED, MAV_RESULT_IN_PROGRESS, MAV_RESULT_TEMPORARILY_REJECTED, MAV_RESULT_FAILED"""
_REASONS = {1: "not now", 2: "denied", 3: "not supported", 4: "failed", 6: "cancelled"}
"""Of MAV_RESULT."""


@dataclass
class _Pending:
    command: Command
    number: int
    """MAV_CMD"""
    build: Callable[[int], Any]
    """The message of an attempt, counted from 0."""
    attempts: int = 0
    sent: float | None = None
    reason: str = "no answer"


class Outbox:
    """A queue of commands; `send` writes a message."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._queue: deque[_Pending] = deque()

    def put(self, command: Command, number: int, build: Callable[[int], Any]) -> None:
        """Add a command. A waypoint replaces those that wait, and the way home replaces everything."""
        if isinstance(command, SetMode) and command.mode == HOME:
            self._queue.clear()
        if isinstance(command, GoTo):
            self._queue = deque(one for one in self._queue if not isinstance(one.command, GoTo))
        self._queue.append(_Pending(command, number, build))

    def clear(self) -> None:
        """Forget everything that has no answer yet."""
        self._queue.clear()

    def answer(self, number: int, result: int, text: str, now: float) -> Done | Failed | None:
        """Take in an acknowledgement; `text` is the newest complaint of the autopilot."""
        if not self._queue or self._queue[0].number != number or self._queue[0].sent is None:
            return None
        first = self._queue[0]
        if result == _IN_PROGRESS:
            first.sent, first.attempts = now, 1
            return None
        if result == _BUSY and first.attempts < MAX_ATTEMPTS:
            first.reason = f"{_REASONS[_BUSY]}{f', {text!r}' if text else ''}"
            return None
        self._queue.popleft()
        # In the air another take-off fails: the answer to the one before was lost.
        is_off = result == _FAILED and isinstance(first.command, TakeOff) and first.attempts > 1
        if result == _ACCEPTED or is_off:
            return Done(now, first.command)
        reason = _REASONS.get(result, f"result {result}")
        return Failed(now, first.command, f"{reason}{f', {text!r}' if text else ''}")

    def tick(self, now: float) -> Failed | None:
        """Send what is due; return what has failed for good."""
        if not self._queue:
            return None
        first = self._queue[0]
        if first.sent is not None and now - first.sent < REPEAT_S:
            return None
        if first.attempts >= MAX_ATTEMPTS:
            self._queue.popleft()
            return Failed(now, first.command, first.reason)
        self._send(first.build(first.attempts))
        first.sent, first.attempts = now, first.attempts + 1
        return None
