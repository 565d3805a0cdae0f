"""The work of many missions on few threads, shared fairly.

Each mission has a lane of its own, of which one piece of work is done at a time and in order. Lanes take
turns. What may take long, because something has to be compiled, is done by other threads than the rest.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

ROOM = 64
"""Pieces of work that may wait in one lane."""


class Full(RuntimeError):
    """A lane has no room left; what was to be done has not been taken on."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class _Job:
    work: Callable[[], Any]
    is_long: Callable[[], bool]
    """Asked when it is its turn."""
    future: Future = field(default_factory=Future)


class Scheduler:
    """Threads that do the work of lanes: `quick` of them what is short, `patient` ones what may take long."""

    def __init__(self, quick: int = 2, patient: int = 2, room: int = ROOM) -> None:
        self._room = room
        self._lanes: OrderedDict[str, deque[_Job]] = OrderedDict()
        self._busy: set[str] = set()
        self._alone = 0
        """How many wait to be, or are, the only one at work."""
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(is_long,), name=f"console-{name}-{count}", daemon=True)
            for name, number, is_long in (("quick", quick, False), ("patient", patient, True))
            for count in range(number)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self, lane: str, work: Callable[[], Any], is_long: Callable[[], bool] = _never, limited: bool = True
    ) -> Future:
        """Take on a piece of work, or raise `Full`; what is not `limited` is always taken on."""
        with self._changed:
            if self._closed:
                raise RuntimeError("The console is being closed.")
            jobs = self._lanes.setdefault(lane, deque())
            if limited and len(jobs) >= self._room:
                raise Full(
                    f"{len(jobs)} readings of this mission are waiting already: send them more slowly."
                )
            job = _Job(work, is_long)
            jobs.append(job)
            self._changed.notify_all()
        return job.future

    def waiting(self, lane: str) -> int:
        """How much of a lane has not been begun."""
        with self._changed:
            return len(self._lanes.get(lane, ()))

    def alone(self, work: Callable[[], None]) -> None:
        """Do something while nothing else is being done; called by a job, from its own thread."""
        with self._changed:
            self._alone += 1
            # The one that calls is busy itself, and so may be others that have come here too.
            while len(self._busy) > self._alone:
                self._changed.wait()
            try:
                work()
            finally:
                self._alone -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Take on nothing more, give up what has not been begun, and wait for what has."""
        with self._changed:
            self._closed = True
            waiting = [job for jobs in self._lanes.values() for job in jobs]
            self._lanes.clear()
            self._changed.notify_all()
        for job in waiting:
            job.future.cancel()
        for thread in self._threads:
            thread.join()

    def _next(self, is_long: bool) -> tuple[str, _Job] | None:
        """The first piece of work of this kind in turn; its lane goes to the end."""
        if self._alone:
            return None
        for lane, jobs in self._lanes.items():
            if lane in self._busy or not jobs or jobs[0].is_long() != is_long:
                continue
            job = jobs.popleft()
            self._lanes.move_to_end(lane)
            if not jobs:
                del self._lanes[lane]
            return lane, job
        return None

    def _take(self, is_long: bool) -> tuple[str, _Job] | None:
        """Wait for work; nothing when there will be none."""
        with self._changed:
            while (found := self._next(is_long)) is None:
                if self._closed:
                    return None
                self._changed.wait()
            self._busy.add(found[0])
            return found

    def _serve(self, is_long: bool) -> None:
        while (found := self._take(is_long)) is not None:
            lane, job = found
            _do(job)
            with self._changed:
                self._busy.discard(lane)
                self._changed.notify_all()


def _do(job: _Job) -> None:
    if not job.future.set_running_or_notify_cancel():
        return
    try:
        result = job.work()
    except BaseException as error:
        job.future.set_exception(error)
    else:
        job.future.set_result(result)
