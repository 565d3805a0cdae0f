"""One mission in the console: its advisor, made when it is needed, and what is seen of it meanwhile.

What is named `do_…` runs on a thread of the scheduler, one at a time for a mission. The rest may be read at
any moment: it is replaced as a whole, never changed in place.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dowsax.console.draws import Draws
from dowsax.console.expected import expected_field
from dowsax.console.frames import draws_of, frame_of
from dowsax.console.recall import MAX_EVENTS, REVEALED, TRUTH, Recalled, event_of
from dowsax.console.records import DAMAGED, FAILED, PREPARING, SIMULATED, Record
from dowsax.console.simulation import Truth
from dowsax.console.stops import file_of, said_again, stamp_of
from dowsax.console.store import Store
from dowsax.console.workshop import Workshop
from dowsax.journal import Damaged
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.history import History
from dowsax.mission.log import MAX_GIVEN, MissionLog, Note, Step, now
from dowsax.mission.requests import Request
from dowsax.survey.reading import Reading, Refused

SEARCHING = "searching"


class Over(RuntimeError):
    """The search has ended, or cannot go on."""


class Hosted:
    """A mission. `publish` is called, on any thread, with what has changed: mission, frame, or an event."""

    def __init__(
        self,
        record: Record,
        store: Store,
        workshop: Workshop,
        publish: Callable[["Hosted", str, Any], None],
        recalled: Recalled | None = None,
    ) -> None:
        self.record = record
        self.speed = record.speed
        self.running = False
        self.gone = False
        """Deleted: nothing more is done for it."""
        self.preparing = False
        """Whether what is asked of it has to wait until something is compiled; the message says for what."""
        self.message = ""
        self.alarm = ""
        """What has to be seen to, such as a feed that is down; empty where nothing has."""
        self.status = PREPARING
        self.updated = record.created
        self.latest: dict[str, Any] | None = None
        self.steps = 0
        """Readings and corrections so far: as many as there are frames."""
        self.readings = 0
        """Readings that count."""
        self.used = 0
        """When something was last asked of the advisor, in turns of the console."""
        self.events: tuple[dict[str, str], ...] = ()
        self.revealed = False
        self._truth: dict[str, Any] | None = None
        self._store = store
        self._workshop = workshop
        self._publish = publish
        self._advisor: Advisor | None = None
        self._log: MissionLog | None = None
        self._writing = threading.RLock()
        """Held by those who open, write or close the log."""
        self._stamp: tuple[int, ...] = ()
        """Of the rehearsal that the advisor quotes."""
        self._compiled = -1
        """The generation of compiled functions in which the advisor was made ready."""
        if recalled is not None:
            self._recall(recalled)

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def is_simulated(self) -> bool:
        return self.record.type == SIMULATED

    @property
    def in_memory(self) -> bool:
        return self._advisor is not None

    def _recall(self, recalled: Recalled) -> None:
        """Be as the log has it."""
        self.events, self.revealed = tuple(recalled.events), recalled.is_revealed
        self._truth = recalled.truth
        step = recalled.latest
        if step is not None:
            self.steps, self.readings = step.number, recalled.readings
            self.latest = frame_of(step, None)
            self.status, self.updated = step.advice["status"], step.received

    def waits_for(self, generation: int) -> str:
        """What the next reading has to wait for, in words; none where it does not have to."""
        # It may be let go at any moment.
        advisor = self._advisor
        if advisor is None:
            again = f", and what was read is taken in again ({self.readings})" if self.readings else ""
            return f"Preparing: the filter is being compiled{again}."
        if self._compiled != generation:
            return "Preparing: the filter is being compiled once more."
        if len(advisor.readings) >= advisor.belief.history.readings.shape[0]:
            return "Preparing: the filter is being compiled for more readings."
        return ""

    def announce(self, generation: int) -> None:
        """Say that what is asked for has to wait, where it does; from any thread."""
        words = self.waits_for(generation)
        if words and not (self.preparing and self.message == words):
            self.preparing = True
            self._say(words)

    def settle(self) -> None:
        """Say that nothing waits any longer, where something did."""
        if self.preparing:
            self.preparing = False
            self._say("")

    def do_prepare(self, generation: int) -> "Advisor":
        """Make the advisor ready, and take in what its log holds."""
        if self._advisor is not None and self._compiled == generation:
            return self._advisor
        first = self._advisor is None
        self.announce(generation)
        try:
            advisor = self._advisor or self._made(generation)
            if not first:
                self._workshop.warm(advisor)
        except Exception as error:
            self._fail(error)
            raise
        self._compiled, self._advisor = generation, advisor
        self._complete_frames(advisor)
        if self.status in (PREPARING, FAILED):
            self.status = SEARCHING
        self.settle()
        return advisor

    def _made(self, generation: int) -> "Advisor":
        copy = self._store.site_path(self.record)
        self._stamp, file = stamp_of(self.record, copy), file_of(self.record, copy)
        with self._writing:
            log = self._log or MissionLog.open(self._store.log_path(self.id)).writable()
            self._log = log
        advisor = self._workshop.advisor(self.record, log, generation, file)
        if self.is_simulated and self._truth is None:
            self._truth = self._drawn(advisor).to_json()
            log.note(TRUTH, "", self._truth, durable=True)
        return advisor

    def _drawn(self, advisor: "Advisor") -> "Truth":

        return Truth.drawn(advisor.plan, self.record.scenario or "id", self.record.seed)

    def do_answer(
        self, generation: int, request: "Request", given: str | None = None
    ) -> tuple["Advice", dict[str, Any]]:
        """Do what a request to a real mission asks for: take in a reading, withdraw one or correct one."""
        if given is None:
            given = json.dumps(request.to_json())[:MAX_GIVEN]
        return self._do(generation, lambda advisor: advisor.answer(request, given))

    def do_take(
        self, generation: int, reading: "Reading", given: str, is_noted: bool = True, confirmed: bool = False
    ) -> tuple["Advice", dict[str, Any]]:
        """Take in a reading that is made already."""
        return self._do(generation, lambda advisor: advisor.take(reading, given, confirmed), is_noted)

    def _do(
        self, generation: int, work: Callable[["Advisor"], "Advice"], is_noted: bool = True
    ) -> tuple["Advice", dict[str, Any]]:
        """Have the advisor do something, and give back its advice and the frame. Both are kept then.

        A refusal is in the mission's own log in any case, and among its events where it `is_noted`.
        """
        advisor = self.do_prepare(generation)
        self._note_rehearsal(advisor)
        before = advisor.history.count
        try:
            advice = work(advisor)
        except Refused as refusal:
            if is_noted:
                self.note("refused", str(refusal))
            raise
        if advice.number <= before:
            known = self._store.frames(self.id).get(advice.number)
            return advice, self._old_frame(advisor, advice.number) if known is None else known[0]
        return advice, self._show(advisor, advice)

    def _old_frame(self, advisor: "Advisor", number: int) -> dict[str, Any]:
        assert self._log is not None
        return frame_of(self._log.step(number), advisor.plan.frame)

    def _note_rehearsal(self, advisor: "Advisor") -> None:
        """Have a stop quote the rehearsal of its site, also one that was made since the mission began."""
        if self.is_simulated:
            return
        copy = self._store.site_path(self.record)
        stamp = stamp_of(self.record, copy)
        if stamp != self._stamp:
            self._stamp = stamp
            advisor.plan = replace(advisor.plan, file=str(file_of(self.record, copy)))
            advisor.false_stops = said_again(advisor)

    def do_expect(self, generation: int, number: int) -> dict[str, Any] | None:
        """The readings that are expected after a step; nothing where there is no such step, or no reading."""
        advisor, kept = self.do_prepare(generation), self._store.frames(self.id).get(number)
        assert self._log is not None
        readings = History.of(step for step in self._log.steps() if step.number <= number).readings()
        return expected_field(advisor.plan, kept[1], readings) if kept and readings else None

    def do_step(self, generation: int) -> dict[str, Any]:
        """One reading of a simulated mission, where the newest advice says; its frame."""
        if not self.is_simulated:
            raise Over("Only a simulated mission can be stepped: send readings to a real one.")
        advisor = self.do_prepare(generation)
        latest = advisor.latest
        if latest is not None and latest.next_position is None:
            raise Over(f"The search is over: {latest.status}.")
        here = (advisor.plan.start or advisor.plan.middle) if latest is None else latest.next_position
        assert here is not None
        reading = self._source().read(advisor.plan, len(advisor.readings) + 1, here)
        return self.do_take(generation, reading, "", confirmed=True)[1]

    def _source(self) -> "Truth":

        assert self._truth is not None
        return Truth.from_json(self._truth)

    def truth(self) -> dict[str, Any] | None:
        """The true source of a simulation, as it is now; nothing before it is drawn."""
        if self._truth is None:
            return None
        theta = self._source().at(max(self.readings, 1))
        names = [item["name"] for item in self.record.facts["parameters"]]
        return {"position": list(theta[:2]), "theta": dict(zip(names, theta, strict=True))}

    def reveal(self) -> None:
        """From now on the truth may be told; it is on the disk that it may when this returns."""
        self.note(REVEALED, "The truth was revealed.", durable=True)
        self.revealed = True

    def release(self) -> None:
        """Let the advisor and the files go; they are opened again when they are needed."""
        with self._writing:
            self._advisor = None
            if self._log is not None:
                self._log.close()
            self._log = None
        self._store.frames(self.id).close()

    def note(self, kind: str, text: str, durable: bool = False) -> None:
        """Keep in the log and tell that something has happened.

        It is told also where the log does not take it, unless it is to be `durable`: a reading that is
        recorded must not be answered with an error, and a feed must not end.
        """
        try:
            with self._writable() as log:
                note = log.note(kind, text, durable=durable)
        except (OSError, ValueError):
            if durable:
                raise
            note = Note(now(), kind, text)
        event = event_of(note)
        self.events = (*self.events, event)[-MAX_EVENTS:]
        self._publish(self, "event", event)

    @contextmanager
    def _writable(self) -> Iterator[MissionLog]:
        """The log to write to, opened where it is not."""
        with self._writing:
            if self._log is not None:
                yield self._log
                return
            with MissionLog.open(self._store.log_path(self.id)).writable() as log:
                yield log

    def changed(self) -> None:
        """Tell that the mission is not as it was."""
        self._publish(self, "mission", None)

    def feed_changed(self, text: str, is_up: bool) -> None:
        """Tell what has happened to the feed; one that is down is an alarm until it is up again."""
        self.alarm = "" if is_up else text
        self.note("feed" if is_up else "alarm", text)
        self.changed()

    def _show(self, advisor: "Advisor", advice: "Advice") -> dict[str, Any]:
        step = advisor.step
        assert step is not None
        frame = frame_of(step, advisor.plan.frame)
        self._store.frames(self.id).add(frame, draws_of(advisor.belief))
        ended = advice.status != self.status
        self._be_at(step, frame, len(advisor.readings))
        self._publish(self, "frame", None)
        if step.corrects is not None:
            what = "withdrawn" if step.reading is None else "corrected"
            self.note(what, f"Reading {step.corrects} was {what}{f': {step.reason}' if step.reason else '.'}")
        for warning in advice.warnings:
            self.note("warning", warning)
        if ended:
            self.note(advice.status, advice.why)
        if ended or step.corrects is not None:
            self.changed()
        return frame

    def _be_at(self, step: "Step", frame: dict[str, Any], readings: int) -> None:
        self.latest, self.steps, self.readings = frame, step.number, readings
        self.status, self.updated = step.advice["status"], step.received

    def _complete_frames(self, advisor: "Advisor") -> None:
        """Make the frames that are not there: at most the last, unless something was lost."""
        assert self._log is not None
        frames, last = self._store.frames(self.id), advisor.step
        known = frames.numbers()
        for step in self._log.steps() if len(known) < advisor.history.count else ():
            if step.number in known:
                continue
            # The beliefs in between are gone; their estimate is not.
            is_last = last is not None and step.number == last.number
            draws = draws_of(advisor.belief) if is_last else Draws.at(step.advice["estimate"]["mean"])
            frames.add(frame_of(step, advisor.plan.frame), draws)
        if last is not None:
            self._be_at(last, frame_of(last, advisor.plan.frame), len(advisor.readings))

    def _say(self, message: str) -> None:
        self.message = message
        self.changed()

    def _fail(self, error: Exception) -> None:
        told = " ".join(str(error).split()) if isinstance(error, ValueError | OSError) else "see the server"
        self.preparing, self.updated = False, now()
        if isinstance(error, Damaged):
            self.damage(told)
            return
        self.status = FAILED
        self.note("failed", f"The mission could not be made ready: {told}")
        self._say(f"Could not be made ready: {told}")

    def damage(self, why: str) -> None:
        """Be a mission whose log cannot be read: nothing more is done for it but to delete it."""
        self.status = DAMAGED
        self._say(why)
