"""One mission in the console: its advisor, made when it is needed, and what is seen of it meanwhile.

What is named `do_…` runs on a thread of the scheduler, one at a time for a mission. The rest may be read at
any moment: it is replaced as a whole, never changed in place.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dowsax.console.frames import draws_of, frame_of
from dowsax.console.records import FAILED, PREPARING, REAL, SIMULATED, Record, now
from dowsax.console.stops import file_of, said_again, stamp_of
from dowsax.console.store import Draws, Store
from dowsax.console.workshop import Workshop

if TYPE_CHECKING:
    from dowsax.console.simulation import Truth
    from dowsax.mission.advice import Advice
    from dowsax.mission.advisor import Advisor
    from dowsax.mission.reading import Reading

SEARCHING = "searching"
MAX_GIVEN = 10_000
"""Characters of what was given that are kept in the log."""


class Over(RuntimeError):
    """The search has ended, or cannot go on."""


class Hosted:
    """A mission. `told` is called, on any thread, with what has changed: mission, frame, or an event."""

    def __init__(
        self,
        record: Record,
        store: Store,
        workshop: Workshop,
        told: Callable[["Hosted", str, Any], None],
        revealed: bool = False,
    ) -> None:
        self.record = record
        self.revealed = revealed
        self.speed = record.speed
        self.running = False
        self.gone = False
        """Deleted: nothing more is done for it."""
        self.preparing = False
        """Whether what is asked of it has to wait until something is compiled; the message says for what."""
        self.message = ""
        self.status = PREPARING
        self.updated = record.created
        self.latest: dict[str, Any] | None = None
        self.readings = 0
        self.used = 0
        """When something was last asked of the advisor, in turns of the console."""
        self._store = store
        self._workshop = workshop
        self._told = told
        self._advisor: Advisor | None = None
        self._truth: Truth | None = None
        self._stamp: tuple[int, ...] = ()
        """Of the rehearsal that the advisor quotes."""
        self._compiled = -1
        """The generation of compiled functions in which the advisor was made ready."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def is_simulated(self) -> bool:
        return self.record.type == SIMULATED

    @property
    def in_memory(self) -> bool:
        return self._advisor is not None

    def recall(self) -> None:
        """What is known of a mission of an earlier time without making its advisor."""
        from dowsax.mission.log import MissionLog

        path = self._store.log_path(self.id)
        if not path.is_file():
            return
        try:
            with MissionLog.open(path) as log:
                self.readings = len(log)
        except ValueError:
            # Ended before it was quite begun: it is begun anew.
            return
        self.latest = self._store.latest_frame(self.id)
        self.status = SEARCHING if self.latest is None else self.latest["status"]
        self.updated = self.record.created if self.latest is None else self.latest["time"]

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
        advisor = self._workshop.advisor(self.record, self._store.log_path(self.id), generation, file)
        if self.is_simulated:
            self._truth = self._true_source(advisor)
        return advisor

    def _true_source(self, advisor: "Advisor") -> "Truth":
        from dowsax.console.simulation import Truth

        kept = self._store.truth(self.id)
        if kept is None:
            drawn = Truth.drawn(advisor.plan, self.record.scenario or "id", self.record.seed)
            kept = self._store.keep_truth(self.id, drawn.to_json())
        return Truth.from_json(kept)

    def do_read(self, generation: int, body: dict[str, Any]) -> tuple["Advice", dict[str, Any]]:
        """Take in a reading given by the keys of `mission.reading_keys.KEYS`."""
        from dowsax.mission.reading import Refused

        if self.record.type != REAL:
            raise Over("Readings of a simulated mission come from the simulation: step it, or let it run.")
        advisor = self.do_prepare(generation)
        given = json.dumps(body)[:MAX_GIVEN]
        try:
            reading = advisor.plan.reading_of(body)
        except Refused as refusal:
            advisor.note_refusal(given, str(refusal))
            self.note("refused", str(refusal))
            raise
        return self.do_take(generation, reading, given)

    def do_take(
        self, generation: int, reading: "Reading", given: str, is_told: bool = True
    ) -> tuple["Advice", dict[str, Any]]:
        """Take in a reading, and give back the advice and its frame. Both are kept when this returns.

        A refusal is in the mission's own log in any case, and among its events where it `is_told`.
        """
        from dowsax.mission.reading import Refused

        advisor = self.do_prepare(generation)
        self._note_rehearsal(advisor)
        before = len(advisor.readings)
        try:
            advice = advisor.take(reading, given)
        except Refused as refusal:
            if is_told:
                self.note("refused", str(refusal))
            raise
        if advice.number <= before:
            known = self._store.frame(self.id, advice.number)
            return advice, frame_of(advisor, advice) if known is None else known[0]
        return advice, self._show(advisor, advice)

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

    def do_step(self, generation: int) -> dict[str, Any]:
        """One reading of a simulated mission, where the newest advice says; its frame."""
        if not self.is_simulated:
            raise Over("Only a simulated mission can be stepped: send readings to a real one.")
        advisor = self.do_prepare(generation)
        assert self._truth is not None
        latest = advisor.latest
        if latest is not None and latest.next_position is None:
            raise Over(f"The search is over: {latest.status}.")
        here = (advisor.plan.start or advisor.plan.middle) if latest is None else latest.next_position
        assert here is not None
        reading = self._truth.read(advisor.plan, len(advisor.readings) + 1, here)
        return self.do_take(generation, reading, "")[1]

    def truth(self) -> dict[str, Any] | None:
        """The true source of a simulation, as it is now; nothing before it is drawn."""
        from dowsax.console.simulation import Truth

        kept = self._store.truth(self.id)
        if kept is None:
            return None
        theta = Truth.from_json(kept).at(max(self.readings, 1))
        names = [item["name"] for item in self.record.facts["parameters"]]
        return {"position": list(theta[:2]), "theta": dict(zip(names, theta, strict=True))}

    def release(self) -> None:
        """Let the advisor go; it is made again from the log when it is needed."""
        if self._advisor is not None:
            self._advisor.close()
        self._advisor = None

    def note(self, kind: str, text: str) -> None:
        """Keep and tell that something has happened."""
        self._told(self, "event", self._store.add_event(self.id, kind, text))

    def changed(self) -> None:
        """Tell that the mission is not as it was."""
        self._told(self, "mission", None)

    def _show(self, advisor: "Advisor", advice: "Advice") -> dict[str, Any]:
        frame = frame_of(advisor, advice)
        self._store.add_frame(self.id, frame, draws_of(advisor.belief))
        ended = advice.status != self.status
        self.latest, self.readings = frame, advice.number
        self.status, self.updated = advice.status, frame["time"]
        self._told(self, "frame", None)
        for warning in advice.warnings:
            self.note("warning", warning)
        if ended:
            self.note(advice.status, advice.why)
            self.changed()
        return frame

    def _complete_frames(self, advisor: "Advisor") -> None:
        """Make the frames that are not there: at most the last, unless the power was lost."""
        from dowsax.mission.advice import Advice
        from dowsax.mission.log import MissionLog

        self.readings = len(advisor.readings)
        there = self._store.frame_numbers(self.id)
        if len(there) == self.readings:
            return
        with MissionLog.open(self._store.log_path(self.id)) as log:
            for entry in log.entries():
                if entry.number in there:
                    continue
                advice = Advice.from_json(entry.advice)
                frame = frame_of(advisor, advice, entry.received)
                last = entry.number == self.readings
                # The beliefs in between are gone; their estimate is not.
                draws = draws_of(advisor.belief) if last else Draws.at(advice.estimate.mean)
                self._store.add_frame(self.id, frame, draws)
        self.latest = self._store.latest_frame(self.id)
        if self.latest is not None:
            self.status, self.updated = self.latest["status"], self.latest["time"]

    def _say(self, message: str) -> None:
        self.message = message
        self.changed()

    def _fail(self, error: Exception) -> None:
        told = " ".join(str(error).split()) if isinstance(error, ValueError | OSError) else "see the server"
        self.status, self.updated, self.preparing = FAILED, now(), False
        self.note("failed", f"The mission could not be made ready: {told}")
        self._say(f"Could not be made ready: {told}")
