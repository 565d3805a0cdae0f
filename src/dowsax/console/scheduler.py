"""The work of many missions on few threads, shared fairly.

Each mission has a queue, whose jobs are done one at a time and in order. Queues take turns. Long jobs, which
compile something, have threads of their own. What only looks at a mission waits aside: behind all other jobs
of its queue, and under a limit of its own, so that who looks keeps nobody from adding readings.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MAX_WAITING, MAX_ASIDE = 64, 8
"""Jobs that may wait in one queue, and aside."""


_TOO_MANY = "{} readings of this mission are waiting already: send them more slowly."
_TOO_MANY_ASIDE = "Too much of this kind is asked for at once: ask again in a few seconds."


class QueueFull(RuntimeError):
    """The queue has no room left; the job was not accepted."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class _Job:
    work: Callable[[], Any]
    is_long: Callable[[], bool]
    """Called when the job is next."""
    future: Future = field(default_factory=Future)


class _Queue(NamedTuple):
    own: deque[_Job]
    aside: deque[_Job]
    """Done when there are no others."""

    @property
    def next_jobs(self) -> deque[_Job]:
        return self.own or self.aside


class Scheduler:
    """Threads that work through queues: `num_short` for short jobs, `num_long` for long ones."""

    def __init__(self, num_short: int = 2, num_long: int = 2, max_waiting: int = MAX_WAITING) -> None:
        self._max_waiting = max_waiting
        self._queues: OrderedDict[str, _Queue] = OrderedDict()
        self._busy: set[str] = set()
        self._exclusive = 0
        """Jobs that are, or wait to be, the only one that runs."""
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(is_long,), name=f"console-{name}-{count}", daemon=True)
            for name, number, is_long in (("short", num_short, False), ("long", num_long, True))
            for count in range(number)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        queue: str,
        work: Callable[[], Any],
        is_long: Callable[[], bool] = _never,
        limited: bool = True,
        aside: bool = False,
    ) -> Future:
        """Accept a job, or raise `QueueFull`; a job that is not `limited` is always accepted."""
        with self._changed:
            if self._closed:
                raise RuntimeError("The console is being closed.")
            both = self._queues.get(queue) or _Queue(deque(), deque())
            jobs, most = (both.aside, MAX_ASIDE) if aside else (both.own, self._max_waiting)
            if limited and len(jobs) >= most:
                raise QueueFull(_TOO_MANY_ASIDE if aside else _TOO_MANY.format(len(jobs)))
            job = _Job(work, is_long)
            jobs.append(job)
            self._queues.setdefault(queue, both)
            self._changed.notify_all()
        return job.future

    def num_waiting(self, queue: str) -> int:
        """Return the number of jobs in a queue that have not started."""
        with self._changed:
            return sum(map(len, self._queues.get(queue, ())))

    def run_exclusively(self, work: Callable[[], None]) -> None:
        """Run something while no other job runs; called by a job, on its own thread."""
        with self._changed:
            self._exclusive += 1
            # The calling job is busy itself, and so are others that wait here.
            while len(self._busy) > self._exclusive:
                self._changed.wait()
            try:
                work()
            finally:
                self._exclusive -= 1
                self._changed.notify_all()

    def close(self) -> None:
        """Accept no more jobs, cancel those that wait, and wait for those that run."""
        with self._changed:
            self._closed = True
            waiting = [job for both in self._queues.values() for jobs in both for job in jobs]
            self._queues.clear()
            self._changed.notify_all()
        for job in waiting:
            job.future.cancel()
        for thread in self._threads:
            thread.join()

    def _next(self, is_long: bool) -> tuple[str, _Job] | None:
        """Return the next job of this length; its queue moves to the end."""
        if self._exclusive:
            return None
        for queue, both in self._queues.items():
            jobs = both.next_jobs
            if queue in self._busy or not jobs or jobs[0].is_long() != is_long:
                continue
            job = jobs.popleft()
            self._queues.move_to_end(queue)
            if not both.next_jobs:
                del self._queues[queue]
            return queue, job
        return None

    def _take(self, is_long: bool) -> tuple[str, _Job] | None:
        """Wait for a job; `None` once the scheduler is closed."""
        with self._changed:
            while (found := self._next(is_long)) is None:
                if self._closed:
                    return None
                self._changed.wait()
            self._busy.add(found[0])
            return found

    def _serve(self, is_long: bool) -> None:
        while (found := self._take(is_long)) is not None:
            queue, job = found
            _run(job)
            with self._changed:
                self._busy.discard(queue)
                self._changed.notify_all()


def _run(job: _Job) -> None:
    if not job.future.set_running_or_notify_cancel():
        return
    try:
        result = job.work()
    except BaseException as error:
        job.future.set_exception(error)
    else:
        job.future.set_result(result)
