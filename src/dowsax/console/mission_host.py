"""One mission in the console: its advisor, built when it is needed, and its public state.

Methods named `do_…` run on a thread of the scheduler, one at a time for a mission. Attributes may be read at
any moment: they are replaced, never changed in place.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dowsax.console.advisor_cache import AdvisorCache
from dowsax.console.expected_field import expected_field
from dowsax.console.records import (
    DAMAGED,
    FAILED,
    MAX_EVENTS,
    PREPARING,
    REVEALED,
    SIMULATED,
    TRUTH,
    LoggedMission,
    MissionRecord,
    event_of,
)
from dowsax.console.simulation import Truth
from dowsax.console.snapshots import ParticleSamples, build_snapshot
from dowsax.console.stop_statistics import find_site_file, rehearsal_stamp
from dowsax.console.store import Store
from dowsax.journal import Damaged
from dowsax.mission.advice import SEARCHING, Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.history import History
from dowsax.mission.log import MAX_GIVEN, MissionLog, Note, Step, now
from dowsax.mission.messages import Request
from dowsax.mission.sources import theta_of
from dowsax.mission.stop_statistics import describe_stops
from dowsax.survey.reading import Reading, Refused


class Conflict(RuntimeError):
    """The mission cannot do this in its present state."""


class MissionHost:
    """A mission. `publish` is called, on any thread, when the mission, its snapshot or its events change."""

    def __init__(
        self,
        record: MissionRecord,
        store: Store,
        cache: AdvisorCache,
        publish: Callable[["MissionHost", str, Any], None],
        logged: LoggedMission | None = None,
    ) -> None:
        self.record = record
        self.speed = record.speed
        self.running = False
        self.is_deleted = False
        self.preparing = False
        """Whether requests have to wait until something is compiled; the message says for what."""
        self.message = ""
        self.alarm = ""
        """A fault that needs attention, such as a feed that is down; empty where there is none."""
        self.status = PREPARING
        self.updated = record.created
        self.latest: dict[str, Any] | None = None
        """The newest snapshot, without particles."""
        self.steps = 0
        """Readings and corrections so far: the number of snapshots."""
        self.readings = 0
        """Readings that count."""
        self.last_used = 0
        """The newest request to the advisor, on a counter of the console."""
        self.events: tuple[dict[str, str], ...] = ()
        self.is_revealed = False
        self._truth: dict[str, Any] | None = None
        self._store = store
        self._cache = cache
        self._publish = publish
        self._advisor: Advisor | None = None
        self._log: MissionLog | None = None
        self._log_lock = threading.RLock()
        """Held while the log is opened, written or closed."""
        self._stamp: tuple[int, ...] = ()
        """Of the rehearsal that the advisor quotes."""
        self._compiled = -1
        """The generation of compiled functions for which the advisor is ready."""
        if logged is not None:
            self._restore(logged)

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def is_simulated(self) -> bool:
        return self.record.type == SIMULATED

    @property
    def in_memory(self) -> bool:
        return self._advisor is not None

    def _restore(self, logged: LoggedMission) -> None:
        """Restore the state of a logged mission."""
        self.events, self.is_revealed = tuple(logged.events), logged.is_revealed
        self._truth = logged.truth
        step = logged.latest
        if step is not None:
            self._set_latest(step, build_snapshot(step, None), logged.readings)

    def waits_for(self, generation: int) -> str:
        """Say what the next reading has to wait for; empty where it does not have to."""
        # It may be released at any moment.
        advisor = self._advisor
        if advisor is None:
            again = f", and {self.readings} readings are assimilated again" if self.readings else ""
            return f"Preparing: the filter is being compiled{again}."
        if self._compiled != generation:
            return "Preparing: the filter is being compiled once more."
        if len(advisor.readings) >= advisor.belief.history.readings.shape[0]:
            return "Preparing: the filter is being compiled for more readings."
        return ""

    def announce(self, generation: int) -> None:
        """Say that requests have to wait, where they do; from any thread."""
        message = self.waits_for(generation)
        if message and not (self.preparing and self.message == message):
            self.preparing = True
            self._set_message(message)

    def end_announcement(self) -> None:
        """Say that requests no longer wait, where they did."""
        if self.preparing:
            self.preparing = False
            self._set_message("")

    def do_prepare(self, generation: int) -> Advisor:
        """Return the advisor, built from the log and compiled."""
        if self._advisor is not None and self._compiled == generation:
            return self._advisor
        is_first = self._advisor is None
        self.announce(generation)
        try:
            advisor = self._advisor or self._build_advisor(generation)
            if not is_first:
                self._cache.warm_up(advisor)
        except Exception as error:
            self._fail(error)
            raise
        self._compiled, self._advisor = generation, advisor
        self._complete_snapshots(advisor)
        if self.status in (PREPARING, FAILED):
            self.status = SEARCHING
        self.end_announcement()
        return advisor

    def _build_advisor(self, generation: int) -> Advisor:
        copy = self._store.site_path(self.record)
        self._stamp, file = rehearsal_stamp(self.record, copy), find_site_file(self.record, copy)
        with self._log_lock:
            log = self._log or MissionLog.open(self._store.log_path(self.id)).writable()
            self._log = log
        advisor = self._cache.build_advisor(self.record, log, generation, file)
        if self.is_simulated and self._truth is None:
            truth = Truth.sample(advisor.plan, self.record.scenario or "id", self.record.seed)
            self._truth = truth.to_json()
            log.note(TRUTH, "", self._truth, durable=True)
        return advisor

    def do_answer(
        self, generation: int, request: Request, given: str | None = None
    ) -> tuple[Advice, dict[str, Any]]:
        """Carry out a request to a real mission: add, withdraw, correct or restore a reading."""
        if given is None:
            given = json.dumps(request.to_json())[:MAX_GIVEN]
        if request.target is not None and not self.preparing:
            self.preparing = True
            self._set_message(f"Computing the belief again from {self.readings} readings.")
        return self._do(generation, lambda advisor: advisor.answer(request, given))

    def do_add(
        self, generation: int, reading: Reading, given: str, is_noted: bool = True, confirmed: bool = False
    ) -> tuple[Advice, dict[str, Any]]:
        """Add a parsed reading."""
        return self._do(generation, lambda advisor: advisor.add(reading, given, confirmed), is_noted)

    def _do(
        self, generation: int, work: Callable[[Advisor], Advice], is_noted: bool = True
    ) -> tuple[Advice, dict[str, Any]]:
        """Return the advice of some work of the advisor, and its snapshot; both are stored.

        A refusal is in the log in any case, and among the events where it `is_noted`.
        """
        advisor = self.do_prepare(generation)
        self._update_rehearsal(advisor)
        before = advisor.history.count
        try:
            advice = work(advisor)
        except Refused as refusal:
            if is_noted:
                self.note("refused", str(refusal))
            raise
        if advice.number > before:
            return advice, self._publish_step(advisor, advice)
        stored = self._store.snapshots(self.id).get(advice.number)
        if stored is not None:
            return advice, stored[0]
        assert self._log is not None
        return advice, build_snapshot(self._log.step(advice.number), advisor.plan.coordinates)

    def _update_rehearsal(self, advisor: Advisor) -> None:
        """Quote the rehearsal of the site, also one that was made since the mission began."""
        if self.is_simulated:
            return
        copy = self._store.site_path(self.record)
        stamp = rehearsal_stamp(self.record, copy)
        if stamp != self._stamp:
            self._stamp = stamp
            advisor.plan = replace(advisor.plan, file=str(find_site_file(self.record, copy)))
            advisor.false_stops = describe_stops(advisor.plan, advisor.policy.name)

    def do_expected_field(self, generation: int, number: int) -> dict[str, Any] | None:
        """Return the expected readings after a step; `None` where there is no such step, or no reading."""
        advisor, stored = self.do_prepare(generation), self._store.snapshots(self.id).get(number)
        assert self._log is not None
        readings = History.of(step for step in self._log.steps() if step.number <= number).readings()
        return expected_field(advisor.plan, stored[1], readings) if stored and readings else None

    def do_step(self, generation: int) -> dict[str, Any]:
        """Take one reading of a simulated mission, where the newest advice says; return its snapshot."""
        if not self.is_simulated:
            raise Conflict("Only a simulated mission can be stepped: send readings to a real one.")
        advisor = self.do_prepare(generation)
        latest = advisor.latest
        if latest is not None and latest.next_position is None:
            raise Conflict(f"The search is over: {latest.status}.")
        here = (advisor.plan.start or advisor.plan.middle) if latest is None else latest.next_position
        assert here is not None
        assert self._truth is not None
        reading = Truth.from_json(self._truth).read(advisor, here)
        return self.do_add(generation, reading, "", confirmed=True)[1]

    def truth(self) -> dict[str, Any] | None:
        """Return the true source of a simulation at this moment; `None` before it is sampled."""
        if self._truth is None:
            return None
        theta = Truth.from_json(self._truth).at(max(self.readings, 1))
        names = [item["name"] for item in self.record.facts["parameters"]]
        return {"position": list(theta[:2]), "theta": dict(zip(names, theta, strict=True))}

    def reveal(self) -> None:
        """Allow the truth to be shown; that is on the disk when this returns."""
        self.note(REVEALED, "The truth was revealed.", durable=True)
        self.is_revealed = True

    def release(self) -> None:
        """Release the advisor and the files; they are opened again when they are needed."""
        with self._log_lock:
            self._advisor = None
            if self._log is not None:
                self._log.close()
            self._log = None
        self._store.snapshots(self.id).close()

    def note(self, kind: str, text: str, durable: bool = False) -> None:
        """Write an event to the log, and publish it.

        Unless it is `durable`, it is published also where the log cannot be written: a recorded reading must
        not be answered with an error, and a feed must not end.
        """
        try:
            with self._writable_log() as log:
                note = log.note(kind, text, durable=durable)
        except (OSError, ValueError):
            if durable:
                raise
            note = Note(now(), kind, text)
        event = event_of(note)
        self.events = (*self.events, event)[-MAX_EVENTS:]
        self._publish(self, "event", event)

    @contextmanager
    def _writable_log(self) -> Iterator[MissionLog]:
        with self._log_lock:
            if self._log is not None:
                yield self._log
                return
            with MissionLog.open(self._store.log_path(self.id)).writable() as log:
                yield log

    def publish_change(self) -> None:
        """Notify clients that the mission has changed."""
        self._publish(self, "mission", None)

    def set_feed_state(self, text: str, is_up: bool) -> None:
        """Report what happened to the feed; a feed that is down is an alarm until it is up again."""
        self.alarm = "" if is_up else text
        self.note("feed" if is_up else "alarm", text)
        self.publish_change()

    def _publish_step(self, advisor: Advisor, advice: Advice) -> dict[str, Any]:
        """Store and publish the newest step; return its snapshot."""
        step = advisor.step
        assert step is not None
        snapshot = build_snapshot(step, advisor.plan.coordinates)
        self._store.snapshots(self.id).add(snapshot, ParticleSamples.of(advisor.reported_belief))
        has_new_status = advice.status != self.status
        self._set_latest(step, snapshot, len(advisor.readings))
        self._publish(self, "snapshot", None)
        if step.corrects is not None:
            is_restored = advice.why.startswith(f"Reading {step.corrects} was restored")
            what = "withdrawn" if step.reading is None else "restored" if is_restored else "corrected"
            self.note(what, f"Reading {step.corrects} was {what}{f': {step.reason}' if step.reason else '.'}")
        for warning in advice.warnings:
            self.note("warning", warning)
        if has_new_status:
            self.note(advice.status, advice.why)
        if has_new_status or step.corrects is not None:
            self.publish_change()
        return snapshot

    def _set_latest(self, step: Step, snapshot: dict[str, Any], readings: int) -> None:
        self.latest, self.steps, self.readings = snapshot, step.number, readings
        self.status, self.updated = step.advice["status"], step.received

    def _complete_snapshots(self, advisor: Advisor) -> None:
        """Build the missing snapshots: at most the last one, unless the file was damaged."""
        assert self._log is not None
        snapshots, last = self._store.snapshots(self.id), advisor.step
        known = snapshots.numbers()
        for step in self._log.steps() if len(known) < advisor.history.count else ():
            if step.number in known:
                continue
            # The belief is known only after the last step; before it, the estimate has to do.
            is_last = last is not None and step.number == last.number
            estimate = Advice.from_json(step.advice).estimate
            theta = theta_of(advisor.plan.model.prior, estimate)
            samples = (
                ParticleSamples.of(advisor.reported_belief) if is_last else ParticleSamples.single(theta)
            )
            snapshots.add(build_snapshot(step, advisor.plan.coordinates), samples)
        if last is not None:
            self._set_latest(last, build_snapshot(last, advisor.plan.coordinates), len(advisor.readings))

    def _set_message(self, message: str) -> None:
        self.message = message
        self.publish_change()

    def _fail(self, error: Exception) -> None:
        is_known = isinstance(error, ValueError | OSError)
        reason = " ".join(str(error).split()) if is_known else "see the log of the server"
        self.preparing, self.updated = False, now()
        if isinstance(error, Damaged):
            self.mark_damaged(reason)
            return
        self.status = FAILED
        self.note("failed", f"The mission could not be prepared: {reason}")
        self._set_message(f"Could not be prepared: {reason}")

    def mark_damaged(self, reason: str) -> None:
        """Mark the mission as damaged, as its log cannot be read: it can only be deleted."""
        self.status = DAMAGED
        self._set_message(reason)
