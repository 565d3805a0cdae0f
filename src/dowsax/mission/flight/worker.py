"""The advisor beside a flight: it is built and asked in a thread of its own, so that the link never waits."""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from dataclasses import dataclass

from dowsax.journal import NotRecorded
from dowsax.mission.advice import SEARCHING, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.flight.commands import Note
from dowsax.mission.flight.events import Advised, NotRead
from dowsax.mission.messages import UNEXPECTED_ERROR, Request, keys_of
from dowsax.mission.next_reading import first_choice
from dowsax.survey.reading import Reading, Refused

RETRY_S = 2.0
"""Before what could not be recorded is tried again."""
_TOO_LATE = "The flight ended before it was counted: send it again."
EVENT, ALARM = "flight", "alarm"
"""Kinds of notes in the log."""
_LOGGER = logging.getLogger(__name__)


@dataclass
class _Job:
    work: Callable[[], tuple[Advice | None, str]]
    """Returns the newest advice, and why readings were refused."""
    given: Sequence[Reading] | str
    """The readings, or the text of a request."""
    answers: str | None
    future: Future
    again: float | None = None
    """[s], when to try again."""

    @property
    def is_unrecorded(self) -> bool:
        """Whether the log has not taken it."""
        return self.future.done() and isinstance(self.future.exception(), NotRecorded)


class AdvisorWorker:
    """Asks an advisor, in order; `poll` yields its answers."""

    def __init__(self, build: Callable[[], Advisor], executor: Executor) -> None:
        self._executor = executor
        self._built: Future[Advisor] = executor.submit(build)
        self.advisor: Advisor | None = None
        """Once it is built, and `poll` has said so."""
        self._jobs: deque[_Job] = deque()
        self._notes: list[Note] = []
        """Those that wait for the log."""
        self._is_recording = True
        """Whether the log took the last reading."""

    def observe(self, readings: Sequence[Reading], answers: str) -> None:
        """Add readings; `answers` says which ones."""
        self._put(lambda: self._add(readings), readings, answers)

    def ask(self, request: Request, given: str) -> None:
        """Carry out a request of a person or another sensor."""
        # After it was built: the executor runs one job after the other.
        self._put(lambda: (self._built.result().answer(request, given), ""), given, None)

    def refuse(self, given: str, reason: str) -> None:
        """Write a reading that is not used to the log, where the disk takes it."""
        if self.advisor is not None:
            try:
                self.advisor.note_refusal(given, reason)
            except NotRecorded as error:
                _LOGGER.warning("%s", error)

    def note(self, note: Note) -> None:
        """Write an event to the log, as soon as there is one."""
        self._notes.append(note)
        if self.advisor is None:
            return
        for one in self._notes:
            kind, is_durable = ALARM if one.is_alarm else EVENT, one.is_alarm or bool(one.data)
            self.advisor.note(kind, one.text, one.data, is_durable)
        self._notes.clear()

    def poll(self, now: float) -> Iterator[Advised | NotRead | Note]:
        """Yield answers; a ValueError where the advisor cannot be built."""
        if self.advisor is None and self._built.done():
            self.advisor = self._built.result()
            yield _first_advice(self.advisor, now)
        while self._jobs and self._jobs[0].future.done():
            job = self._jobs[0]
            if job.again is not None and now < job.again:
                return
            if job.again is not None:
                job.again, job.future = None, self._executor.submit(job.work)
                continue
            failure = job.future.exception()
            if isinstance(failure, NotRecorded):
                job.again = now + RETRY_S
                if self._is_recording:
                    self._is_recording = False
                    yield Note(str(failure), is_alarm=True)
                return
            self._jobs.popleft()
            if not self._is_recording:
                self._is_recording = True
                yield Note("Readings are recorded again.")
            yield from self._answer(job, failure, now)

    def finish(self, seconds: float) -> int:
        """Wait for the advisor to take in what it was given, and return how many readings it has not taken.

        Those are written to the log as refused.
        """
        for job in self._jobs:
            if job.is_unrecorded:
                job.future = self._executor.submit(job.work)
        wait([job.future for job in self._jobs], seconds)
        if self._built.done() and self._built.exception() is None:
            self.advisor = self._built.result()
        late = [job for job in self._jobs if job.future.cancel() or job.is_unrecorded]
        for text in (text for job in late for text in self._texts_of(job.given)):
            self.refuse(text, _TOO_LATE)
        return sum(1 if isinstance(job.given, str) else len(job.given) for job in late)

    def close(self) -> None:
        """Close the log."""
        if self.advisor is not None:
            self.advisor.close()

    def _put(
        self,
        work: Callable[[], tuple[Advice | None, str]],
        given: Sequence[Reading] | str,
        answers: str | None,
    ) -> None:
        self._jobs.append(_Job(work, given, answers, self._executor.submit(work)))

    def _texts_of(self, given: Sequence[Reading] | str) -> list[str]:
        """Return what was given as requests; none where there is no advisor, and so no log."""
        if isinstance(given, str) or self.advisor is None:
            return [given] if isinstance(given, str) else []
        ground = self.advisor.plan.stations.sensor.ground
        return [json.dumps({"id": one.id} | keys_of(one, ground)) for one in given]

    def _add(self, readings: Sequence[Reading]) -> tuple[Advice | None, str]:
        advisor, advice, reasons = self._built.result(), None, []
        for reading in readings:
            try:
                ground = advisor.plan.stations.sensor.ground
                advice = advisor.add(reading, json.dumps(keys_of(reading, ground)))
            except Refused as refusal:
                reasons.append(str(refusal))
        return advice, " ".join(reasons)

    def _answer(self, job: _Job, failure: BaseException | None, now: float) -> Iterator[Advised | NotRead]:
        if isinstance(failure, Refused):
            yield NotRead(now, str(failure), job.answers)
            return
        if failure is not None:
            _LOGGER.error("A reading failed.", exc_info=failure)
            yield NotRead(now, f"{UNEXPECTED_ERROR} ({type(failure).__name__})", job.answers)
            return
        advice, reasons = job.future.result()
        if reasons:
            yield NotRead(now, reasons, None if advice is not None else job.answers)
        if advice is not None:
            yield Advised(
                now, advice.status, advice.next_position, advice.next_height, advice.why, job.answers
            )


def _first_advice(advisor: Advisor, now: float) -> Advised:
    """Return the newest advice of a mission, or where it begins."""
    latest = advisor.latest
    if latest is not None:
        return Advised(now, latest.status, latest.next_position, latest.next_height, latest.why)
    choice, sentence = first_choice(advisor.plan)
    return Advised(now, SEARCHING, choice.position, choice.height, sentence)
