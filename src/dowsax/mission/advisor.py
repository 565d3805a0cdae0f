"""The advisor: a reading in, advice out.

Advice is a function of the site, the policy, the seed and the readings in order; of several searchers also of
which readings waited, and of the earlier advice, which the log has. So a mission continues from its log as if
it had never stopped: its readings are assimilated again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from dowsax.inference import Belief
from dowsax.journal import NotRecorded
from dowsax.mission.advice import Advice
from dowsax.mission.advice_builder import AdviceBuilder, Turn
from dowsax.mission.checks import check_reading, find_warnings, require_expected
from dowsax.mission.corrections import merged_reading, replacement, restored
from dowsax.mission.history import ActiveReading, History
from dowsax.mission.log import Header, MissionLog, Step, now
from dowsax.mission.messages import Request, Target, read_request
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SitePolicy
from dowsax.mission.state import Filters, MissionState
from dowsax.mission.stop_statistics import describe_stops
from dowsax.policies import Policy
from dowsax.site import Site, read_site
from dowsax.survey import reading as readings_
from dowsax.survey.reading import Reading, Refused
from dowsax.version import versions
from dowsax.world import Model


class Advisor:
    """Advice for one mission, reading by reading.

    Parameters
    ----------
    site
        A site file, a site, or a plan.
    policy
        A policy, its name, or that of a site (default: the best policy for the site).
    log
        A file for readings and advice. Where it holds this mission already, the mission continues.
    model
        Replaces the model of the site.
    warm_up
        Compile everything now, which may take minutes the first time, so that every answer is fast.
    ahead
        How many places are planned, 1 to 10: `Advice.ahead` has them in the order of flight.
    on_progress
        Called with the number of readings of the log that are assimilated again, and of all of them.
    """

    def __init__(
        self,
        site: Site | Plan | Path | str,
        policy: str | Policy | SitePolicy | None = None,
        seed: int = 0,
        log: MissionLog | Path | str | None = None,
        *,
        model: Model | None = None,
        warm_up: bool = True,
        ahead: int = 1,
        on_progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        site = read_site(site) if isinstance(site, Path | str) else site
        self.plan = site if isinstance(site, Plan) else Plan.of(site, model)
        self.seed = seed
        self.policy = policy if isinstance(policy, SitePolicy) else self.plan.site_policy(policy)
        init_key, step_key, choice_key, null_key = jax.random.split(jax.random.key(seed), 4)
        self._filters = Filters.build(self.plan, init_key, step_key, null_key)
        by_name = policy is None or isinstance(policy, str)
        self.false_stops = describe_stops(self.plan, self.policy.name, by_name=by_name)
        """How often a stop was wrong in simulation, as text."""
        rules = self.plan, self._filters.tracker, self.policy, self.false_stops
        self._builder = AdviceBuilder.of(*rules, choice_key, ahead)
        self._log = log if log is None or isinstance(log, MissionLog) else MissionLog.resume(log, self.header)
        self._state = self._filters.init()
        self._history = History()
        self._assigned: dict[str | None, Advice] = {}
        """The newest advice of each searcher."""
        if warm_up:
            self.warm_up()
        self._advices: dict[int, Advice] = {}
        """By the number of the step; empty where there is a log."""
        self._latest: tuple[Step, Advice] | None = None
        self._resume(on_progress)

    @property
    def header(self) -> Header:
        """The header of the mission's log."""
        return Header(self.plan.text, self.seed, self.policy.name, self.plan.filter_name, versions())

    def new_mission(self, seed: int) -> "Advisor":
        """Return an advisor for another mission at this site, without a log; nothing is compiled again."""
        return Advisor(self.plan, self.policy, seed, warm_up=False, ahead=self._builder.ahead)

    @property
    def belief(self) -> Belief:
        return self._state.belief

    @property
    def reported_belief(self) -> Belief:
        """The belief of advice and exports: wider than `belief` where readings err together."""
        return self._filters.tracker.widen(self._state.belief, self._state.redundancy)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The readings that count, in the order in which they were assimilated."""
        return self._state.readings

    @property
    def history(self) -> History:
        """All steps so far, withdrawn and corrected readings included."""
        return self._history

    @property
    def state(self) -> MissionState:
        return self._state

    @property
    def latest(self) -> Advice | None:
        """The advice after the newest step; `None` before the first."""
        return None if self._latest is None else self._latest[1]

    @property
    def step(self) -> Step | None:
        """The newest step: a reading or a correction; `None` before the first."""
        return None if self._latest is None else self._latest[0]

    @property
    def assigned(self) -> Mapping[str | None, Advice]:
        """The newest advice of each searcher; `None` is the name of the only one."""
        return self._assigned

    def observe(
        self,
        position,
        reading,
        wind=None,
        time=None,
        sensor=None,
        *,
        altitude=None,
        dwell=None,
        id=None,
        moving=False,
        far_end=None,
        searcher=None,
        ranges=None,
        confirm=False,
        **quantities,
    ) -> Advice:
        """Assimilate a reading at a position [m] and advise what to do next.

        The same `id`, or the same reading at the same time, gets the same answer again. With a log, the
        reading is on the disk when this returns. `Refused` (or `NeedsConfirmation`, for an implausible value)
        says why a reading does not count, `NotRecorded` that the log could not be written.

        Parameters
        ----------
        wind
            (u, v) [m/s], where the air goes.
        time
            [s] or ISO 8601.
        altitude
            [m] above ground. Default: the height of the newest advice, else that of the site.
        dwell
            [s]
        moving
            The reading was taken on the way, and is none of the budget's readings.
        far_end
            [m], the other end of the path along which the reading is the mean.
        searcher
            The name of the searcher, where the site has several.
        ranges
            [m], of a range sensor: how far the next wall is in each direction; `None` where none is seen.
        confirm
            The value is right, although it is implausible.
        quantities
            What else the site needs: `background`, `efficiency`, `uncertainty` or `heading`.
        """
        others = {"time": time, "sensor": sensor, "altitude": altitude, "dwell": dwell, "moving": moving}
        others |= {"far_end": far_end, "searcher": searcher, "ranges": ranges, **quantities}
        given = repr((position, reading, wind, id, *others.items()))
        with self._noting_refusals(given):
            made = readings_.build(position, reading, wind=wind, id=id, **others)
        return self.add(made, given, confirmed=confirm)

    def answer(self, request: Request, given: str = "") -> Advice:
        """Carry out a request: add a reading, withdraw one or correct one; or `Refused`."""
        if request.target is not None and not self.plan.searchers:
            request = replace(request, target=replace(request.target, searcher=None))
        with self._noting_refusals(given):
            reading = self._requested_reading(request)
        if request.target is None:
            assert reading is not None
            return self.add(reading, given, request.confirmed, request.waiting)
        if request.is_restoration:
            return self.restore(request.target, request.as_of, request.reason, given)
        return self.correct(request.target, reading, request.reason, given, request.confirmed)

    def _requested_reading(self, request: Request) -> Reading | None:
        """Return the reading of a request, merged with the old one to correct that; `None` to withdraw."""
        if request.is_withdrawal or request.is_restoration:
            return None
        if request.target is None:
            return self.plan.parse_reading(request.keys)
        return merged_reading(self.plan, self._history, request.target, request.keys)

    def add(
        self,
        reading: Reading,
        given: str = "",
        confirmed: bool = False,
        waiting: Sequence[bytes | str] = (),
    ) -> Advice:
        """Do what `observe` does, for a parsed reading; `given` is the text it came as, for the log.

        No new place is planned where one of the requests of the same searcher that are `waiting` adds a
        reading, after which one is planned.
        """
        with self._noting_refusals(given):
            checked, held_wind, answered = self._check_new(reading, self.readings, confirmed)
            if answered is not None:
                return self._advice_of(answered)
            state, station, has_changed = self._filters.step(self._state, checked)
        keeps_place = any(self._adds_reading(request, checked, state.readings) for request in waiting)
        turn = self._turn(checked.searcher, has_changed=has_changed, keeps_place=keeps_place)
        advice = self._builder.build(state, station, turn)
        advice = replace(advice, warnings=find_warnings(self.plan, self._state, state))
        self._record(self._build_step(given, checked, advice, state, held_wind=held_wind), state)
        return advice

    def _check_new(
        self, reading: Reading, before: Sequence[Reading], confirmed: bool
    ) -> tuple[Reading, bool, int | None]:
        """Return a new reading, completed, whether it holds a wind, and the step that added it already."""
        height = self._advised_height(reading, before)
        checked = check_reading(self.plan, reading, before, height)
        held_wind = reading.wind is None and checked.wind is not None
        levels = self.plan.for_searcher(checked.searcher).reach.levels
        advised = reading.altitude is None and bool(levels)
        answered = self._history.step_of(checked, held_wind, advised_height=advised)
        if answered is None:
            require_expected(self.plan, checked, before, confirmed=confirmed)
        return checked, held_wind, answered

    def _advised_height(self, reading: Reading, before: Sequence[Reading]) -> float | None:
        """Return the height [m] of a reading that does not say it, where its searcher was advised one.

        On the way to a lower place one stays as high as one was.
        """
        advice = self._assigned.get(reading.searcher)
        if reading.altitude is not None or advice is None or advice.next_height is None:
            return None
        own = [one.altitude or 0.0 for one in before if one.searcher == reading.searcher]
        return max(advice.next_height, own[-1]) if reading.moving and own else advice.next_height

    def _adds_reading(self, data: bytes | str, newest: Reading, before: Sequence[Reading]) -> bool:
        """Return whether a request that waits will add a reading: it is neither refused nor sent again."""
        try:
            request = read_request(data)
            reading = None if request.target is not None else self._requested_reading(request)
            if reading is None:
                return False
            checked, _, answered = self._check_new(reading, before, request.confirmed)
        except Exception:
            # Its error is its own answer, later.
            return False
        is_again = checked == newest if checked.id is None else checked.id == newest.id
        return answered is None and not is_again

    def correct(
        self,
        target: Target,
        reading: Reading | None = None,
        reason: str = "",
        given: str = "",
        confirmed: bool = False,
    ) -> Advice:
        """Replace a reading, or withdraw it where `reading` is `None`; or `Refused`.

        The advice is the same as if the reading had been right from the start. The log keeps the old reading:
        a correction is a further step. All readings that count are assimilated again. A correction that was
        made already gets the answer it got.
        """
        with self._noting_refusals(given):
            number = self._history.find(target)
            new = (
                None if reading is None else replacement(self.plan, self._history, number, reading, confirmed)
            )
            known = self._history.correction(number, None if new is None else new.reading)
            if known is not None:
                return self._advice_of(known)
            if self._history.is_withdrawn(number):
                hint = "send it again as a new one, with an id of its own, or restore it"
                raise Refused(f"{target} was withdrawn: {hint}.")
            return self._change(number, new, "withdrawn" if new is None else "corrected", reason, given)

    def restore(self, target: Target, as_of: int | None = None, reason: str = "", given: str = "") -> Advice:
        """Undo a withdrawal or a correction: the reading counts again as it was after the step `as_of`.

        Without `as_of` a withdrawn reading counts again. The log keeps all steps, and this is a further one.
        """
        with self._noting_refusals(given):
            number = self._history.find(target)
            new = restored(self.plan, self._history, number, as_of)
            known = self._history.step_with(number, new.reading)
            return self._advice_of(known) if known else self._change(number, new, "restored", reason, given)

    def _change(self, number: int, new: ActiveReading | None, what: str, reason: str, given: str) -> Advice:
        """Replace a reading, or withdraw it, and return the advice of this step."""
        state, station, has_changed = self._filters.replay(self._history.readings({number: new}))
        searcher = (self._history.original(number) if new is None else new.reading).searcher
        turn = self._turn(searcher, f"Reading {number} was {what}.", has_changed=has_changed)
        advice = self._builder.build(state, station, turn)
        changes = {"corrects": number, "reason": reason, "held_wind": new is not None and new.held_wind}
        step = self._build_step(given, None if new is None else new.reading, advice, state, **changes)
        self._record(step, state)
        return advice

    def _build_step(
        self, given: str, reading: Reading | None, advice: Advice, state: MissionState, **changes: Any
    ) -> Step:
        body, measures = None if reading is None else reading.to_json(), state.measures(self.plan)
        return Step(advice.number, now(), given, body, advice.to_json(), measures, **changes)

    def _record(self, step: Step, state: MissionState) -> None:
        """Write a step to the disk, then count it: a step that could not be written does not count."""
        if self._log is not None:
            self._log.append(step)
        self._state = state
        self._remember(step)

    def note_refusal(self, given: str, reason: str) -> None:
        """Write a refused request to the log."""
        if self._log is not None:
            self._log.refuse(given, reason)

    @contextmanager
    def _noting_refusals(self, given: str) -> Iterator[None]:
        try:
            yield
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise

    def note(self, what: str, text: str, data: dict[str, Any] | None = None, durable: bool = False) -> None:
        """Write an event to the log, where the disk takes it."""
        if self._log is not None:
            with suppress(NotRecorded):
                self._log.note(what, text, data, durable)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _advice_of(self, number: int) -> Advice:
        """Return the advice of an earlier step."""
        if self._log is None:
            return self._advices[number]
        return Advice.from_json(self._log.step(number).advice)

    def _turn(
        self, searcher: str | None, first: str = "", *, has_changed: bool, keeps_place: bool = False
    ) -> Turn:
        number = self._history.count + 1
        return Turn(number, searcher, self._assigned, first, has_changed, keeps_place)

    def _remember(self, step: Step) -> None:
        self._history.add(step)
        advice = Advice.from_json(step.advice)
        self._latest = step, advice
        self._assigned[advice.searcher] = advice
        if self._log is None:
            self._advices[step.number] = advice

    def warm_up(self) -> None:
        """Compile everything an answer needs, so that the first one is as fast as the others."""
        state, station = self._filters.compile(
            self._state, lambda station: self._builder.warm_up(self._state.belief, station)
        )
        self._builder.build(state, station, self._turn(None, has_changed=False))

    def _resume(self, on_progress: Callable[[int, int], None]) -> None:
        """Assimilate the readings of the log."""
        if self._log is None:
            return
        for step in self._log.steps():
            self._remember(step)
        self._state, _, _ = self._filters.replay(self._history.readings(), on_progress)
