"""The advisor: a reading in, advice out. The only door for real readings; there is no truth in here.

What is advised is a function of the site, the policy, the seed and the readings in order. So a mission that
was ended at any moment goes on from its log as if it had not been: the readings are taken in once more.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from dowsax.geo.formatting import format_length
from dowsax.inference import Belief
from dowsax.journal import NotRecorded
from dowsax.mission.advice import INCONCLUSIVE, SEARCHING, Advice, Disc, Estimate, compass, way
from dowsax.mission.checks import check_reading, require_in_order
from dowsax.mission.decision import LEAST_LEFT, Gist, Spent, heights, in_time, reasons, status_of, stuck
from dowsax.mission.evidence import log_odds
from dowsax.mission.false_stops import said_of_stops
from dowsax.mission.history import History, Standing
from dowsax.mission.log import Header, MissionLog, Step, now
from dowsax.mission.plan import Plan
from dowsax.mission.policy_adapter import Guide, guide_for
from dowsax.mission.questions import require_plausible
from dowsax.mission.requests import Request, Target, keys_of, merged
from dowsax.mission.state import Course, Filters
from dowsax.mission.stations import single
from dowsax.mission.tracker import digest_of
from dowsax.mission.warnings import doubts
from dowsax.policies import Policy
from dowsax.site import Site, read_site
from dowsax.survey import reading as readings_
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Key, Scalar, Station
from dowsax.version import versions
from dowsax.world import Model


class Advisor:
    """Advice for one mission, reading by reading.

    `site` says where and what, a site file or what was read from one; `policy` is a name, a policy of one's
    own, a guide that is made already, or `None` for the best there is.
    `log` is a file in which everything is kept: when it holds this mission already, the mission goes on.
    `model` takes the place of the site's own, for fields of one's own making. All is compiled at once, which
    may take a minute the first time, so that answers come fast; not so with `warm_up` off.
    """

    def __init__(
        self,
        site: Site | Plan | Path | str,
        policy: str | Policy | Guide | None = None,
        seed: int = 0,
        log: MissionLog | Path | str | None = None,
        *,
        model: Model | None = None,
        warm_up: bool = True,
    ) -> None:
        site = read_site(site) if isinstance(site, Path | str) else site
        self.plan = site if isinstance(site, Plan) else Plan.of(site, model)
        self.seed = seed
        ready = isinstance(policy, Guide)
        self.guide = policy if ready else guide_for(self.plan.model, self.plan.reach, policy)
        begin_key, step_key, self._choice_key, null_key = jax.random.split(jax.random.key(seed), 4)
        self._filters = Filters.build(self.plan, begin_key, step_key, null_key)
        by_name = policy is None or isinstance(policy, str)
        self.false_stops = said_of_stops(self.plan, self.guide.name, by_name=by_name)
        """How often a stop was false in simulation, in words."""
        self._log = log if log is None or isinstance(log, MissionLog) else MissionLog.resume(log, self.header)
        self._course = self._filters.begin()
        self._history = History()
        if warm_up:
            self.warm_up()
        self._advices: dict[int, Advice] = {}
        """By the number of the step, where no log has them."""
        self._latest: Advice | None = None
        self._step_taken: Step | None = None
        self._resume()

    @property
    def header(self) -> Header:
        """What the mission is begun with, as its log keeps it."""
        return Header(self.plan.text, self.seed, self.guide.name, self.plan.filter_name, versions())

    def again(self, seed: int) -> "Advisor":
        """Another mission at the same site by the same policy, without a log; nothing is compiled anew."""
        return Advisor(self.plan, self.guide, seed, warm_up=False)

    @property
    def belief(self) -> Belief:
        """Weighted particles, as they are now."""
        return self._course.belief

    @property
    def readings(self) -> tuple[Reading, ...]:
        """The readings that count, in the order in which they were taken in."""
        return self._course.readings

    @property
    def history(self) -> History:
        """All steps so far, also of readings that were withdrawn or corrected."""
        return self._history

    @property
    def course(self) -> Course:
        """The mission as it stands."""
        return self._course

    @property
    def latest(self) -> Advice | None:
        """The advice after the newest step; `None` before the first."""
        return self._latest

    @property
    def step(self) -> Step | None:
        """The newest step: a reading or a correction; `None` before the first."""
        return self._step_taken

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
        confirm=False,
    ) -> Advice:
        """Take in a reading at a position [m] and say what to do next.

        `wind` (u, v) [m/s] is where the air goes; `time` [s] or ISO 8601; `altitude` [m] above ground;
        `dwell` [s]. A reading with the `id` of an earlier one, or the same at the same time, gets the answer
        that one got. `Refused` says why a reading is not taken in; one that is `Doubted` is with `confirm`.
        With a log, the reading is on the disk when this returns; `journal.NotRecorded` says that it is not,
        and that it was not taken in.
        """
        given = repr((position, reading, wind, time, sensor, altitude, dwell, id))
        try:
            made = readings_.build(
                position, reading, wind=wind, time=time, sensor=sensor, altitude=altitude, dwell=dwell, id=id
            )
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        return self.take(made, given, confirmed=confirm)

    def answer(self, request: Request, given: str = "") -> Advice:
        """Do what a request asks for: take in a reading, withdraw one or correct one; or `Refused`."""
        try:
            reading = self._asked_for(request)
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        if request.target is not None:
            return self.correct(request.target, reading, request.reason, given, request.confirmed)
        assert reading is not None
        return self.take(reading, given, request.confirmed)

    def _asked_for(self, request: Request) -> Reading | None:
        """The reading of a request; `None` for a withdrawal. A correction says only what was wrong."""
        if request.is_withdrawal:
            return None
        keys = request.keys
        if request.target is not None:
            old = self._history.original(self._history.find(request.target))
            keys = merged(keys_of(old, self.plan.stations.sensor.ground), keys, self.plan.columns)
        return self.plan.reading_of(keys)

    def take(self, reading: Reading, given: str = "", confirmed: bool = False) -> Advice:
        """`observe` for a reading that is made already; `given` is how it came, for the log."""
        try:
            checked = check_reading(self.plan, reading, self.readings)
            held = reading.wind is None and checked.wind is not None
            answered = self._history.step_of(checked, held)
            if answered is not None:
                return self._advice_of(answered)
            require_in_order(self.plan, checked, self.readings)
            if not confirmed:
                require_plausible(checked, self.readings, self.plan.unit)
            course, station, changed = self._filters.step(self._course, checked)
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        advice = self._advice(course, station, changed)
        advice = replace(advice, warnings=doubts(self.plan, self._course, course))
        self._record(self._step(given, checked, advice, course, held_wind=held), course)
        return advice

    def correct(
        self,
        target: Target,
        reading: Reading | None = None,
        reason: str = "",
        given: str = "",
        confirmed: bool = False,
    ) -> Advice:
        """Withdraw a reading, or have another count in its place; the advice is as if it had been so before.

        Nothing is removed from the log: a correction is a further step. All readings that stand are taken in
        again, which takes as long as it took the first time. `Refused` says why it cannot be. A correction
        that was made already gets the answer it got.
        """
        try:
            number = self._history.find(target)
            made = None if reading is None else self._replacement(number, reading, confirmed)
            known = self._history.correction(number, None if made is None else made.reading)
            if known is not None:
                return self._advice_of(known)
            if self._history.is_withdrawn(number):
                raise Refused(f"{target} was withdrawn: send it again as a new one, with an id of its own.")
            course, station, changed = self._filters.replay(self._history.readings({number: made}))
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        what = "withdrawn" if made is None else "corrected"
        advice = self._advice(course, station, changed, f"Reading {number} was {what}.")
        changes = {"corrects": number, "reason": reason, "held_wind": made is not None and made.held_wind}
        step = self._step(given, None if made is None else made.reading, advice, course, **changes)
        self._record(step, course)
        return advice

    def _replacement(self, number: int, reading: Reading, confirmed: bool) -> Standing:
        """What a corrected reading counts as, or `Refused`."""
        before, after = self._history.around(number)
        id_ = self._history.original(number).id
        checked = check_reading(self.plan, replace(reading, id=id_), before)
        require_in_order(self.plan, checked, before, after)
        if not confirmed:
            require_plausible(checked, before, self.plan.unit)
        held = reading.wind is None and checked.wind is not None
        return Standing(checked, self._history.count + 1, held)

    def _step(
        self, given: str, reading: Reading | None, advice: Advice, course: Course, **changes: Any
    ) -> Step:
        body, measures = None if reading is None else reading.to_json(), course.measures(self.plan.start)
        return Step(advice.number, now(), given, body, advice.to_json(), measures, **changes)

    def _record(self, step: Step, course: Course) -> None:
        """Have a step on the disk, and only then count it: what could not be recorded has not happened."""
        if self._log is not None:
            self._log.append(step)
        self._course = course
        self._remember(step)

    def note_refusal(self, given: str, reason: str) -> None:
        """Keep in the log what was not taken in."""
        if self._log is not None:
            self._log.refuse(given, reason)

    def note(self, what: str, text: str) -> None:
        """Keep in the log what happened to the mission, where the disk takes it."""
        if self._log is not None:
            with suppress(NotRecorded):
                self._log.note(what, text)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _advice_of(self, number: int) -> Advice:
        """What was advised at the step of this number."""
        if self._latest is not None and self._latest.number == number:
            return self._latest
        if self._log is None:
            return self._advices[number]
        return Advice.from_json(self._log.step(number).advice)

    def _advice(self, course: Course, station: Station | None, changed: bool, first: str = "") -> Advice:
        """What is advised in this course; `first` is the sentence that says what has happened."""
        number = self._history.count + 1
        if station is None:
            return self._advice_at_start(course, number, first)
        digest = course.digest(len(course.readings))
        mean, low, high = (tuple(map(float, row)) for row in (digest.mean, digest.low, digest.high))
        place = (mean[0], mean[1])
        evidence = log_odds(course.belief, course.null)
        wind = course.turned.check
        gist = Gist(
            place, float(digest.radius), float(digest.mass), float(digest.fit), evidence, wind.is_reversed
        )
        spent = Spent.on(self.plan.start, course.readings)
        status = status_of(self.plan, spent, gist)
        here = in_time(course.readings)[-1].position
        there, told = (None, "") if status != SEARCHING else self._next(course, station, here, spent)
        if status == SEARCHING and there is None:
            status = INCONCLUSIVE
        bearing, distance = (None, None) if there is None else way(here, there)
        sentences = [
            first,
            f"Source or wind have changed, about at reading {course.regime + 1}: searching anew."
            if changed
            else None,
            wind.message if wind.is_reversed else None,
            reasons(self.plan, spent, gist, status, self.false_stops),
            told,
            stuck(course.readings),
            heights(self.plan, course.readings),
        ]
        return Advice(
            number=number,
            status=status,
            next_position=there,
            bearing=bearing,
            distance=distance,
            estimate=self._estimate(mean, low, high),
            region=Disc(place, float(digest.radius)),
            why=" ".join(sentence for sentence in sentences if sentence),
            evidence=evidence,
            id=course.readings[-1].id,
        )

    def _next(
        self, course: Course, station: Station, here: tuple[float, float], spent: Spent
    ) -> tuple[tuple[float, float] | None, str]:
        """Where to read next and what is said of it; nowhere when no place can be reached."""
        budget = self.plan.budget.distance
        left = None if budget is None else max(budget - spent.distance, 0.0) + LEAST_LEFT
        candidates = self.plan.reach.candidates(here, left)
        if len(candidates) == 0:
            return None, ""
        if self.plan.reach.outside(here):
            back = float(candidates[0, 0]), float(candidates[0, 1])
            return back, "You are where you may not be: go back."
        key = _key_of(self._choice_key, np.asarray(len(course.readings), np.int32))
        at = replace(station, position=single(here))
        choice = self.guide.choose(key, course.belief, at, candidates)
        bearing, distance = way(here, choice.position)
        frame, gain = self.plan.frame, "" if choice.gain is None else ", where a reading should tell most"
        place = f", to {frame.format_position(choice.position)}" if frame.is_geographic else ""
        return choice.position, f"Next: {format_length(distance)} to the {compass(bearing)}{place}{gain}."

    def _advice_at_start(self, course: Course, number: int, first: str) -> Advice:
        """What is advised when the only reading there was is withdrawn."""
        digest = digest_of(self._filters.tracker.describe(course.belief))
        mean, low, high = (tuple(map(float, row)) for row in (digest.mean, digest.low, digest.high))
        there = self.plan.start or self.plan.middle
        words = f"{first} There are no readings: begin at {self.plan.frame.format_position(there)}."
        region = Disc((mean[0], mean[1]), float(digest.radius))
        return Advice(number, SEARCHING, there, None, None, self._estimate(mean, low, high), region, words)

    def _estimate(self, mean: tuple[float, ...], low: tuple[float, ...], high: tuple[float, ...]) -> Estimate:
        parameters = self.plan.model.prior.parameters
        names, units = (tuple(getattr(item, part) for item in parameters) for part in ("name", "unit"))
        return Estimate(names, units, mean, low, high)

    def _remember(self, step: Step) -> None:
        self._history.add(step)
        self._step_taken, self._latest = step, Advice.from_json(step.advice)
        if self._log is None:
            self._advices[step.number] = self._latest

    def warm_up(self) -> None:
        """Compile all that an answer needs, so that the first one comes as fast as the others."""
        start = Reading(self.plan.middle, 0.0)
        made = {"wind": (1.0, 0.0), "altitude": 1.0, "dwell": 1.0, "time": 0.0}
        names = self.plan.stations.names
        start = replace(start, **{name: made[name] for name in made if name in (*names, "time")})
        station = self.plan.stations.station(start, ())
        value = _made_up(self.plan.model, self._filters.begin_key, station)
        candidates, belief = self.plan.reach.candidates(self.plan.middle), self._course.belief
        guide, key = self.guide, self._choice_key

        def choose() -> None:
            if len(candidates) > 1:
                guide.choose(key, belief, station, candidates)
                guide.worth(key, belief, station, candidates)

        # Nothing of it is kept.
        tried = self._filters.trial(self._course, start, station, value, choose)
        self._advice(tried, station, False)

    def _resume(self) -> None:
        """Take in what stands in the log."""
        if self._log is None:
            return
        for step in self._log.steps():
            self._remember(step)
        self._course, _, _ = self._filters.replay(self._history.readings())


@jax.jit
def _key_of(key: Key, number: jax.Array) -> Key:
    """The key of a reading. Compiled, as one by one its parts take ten times as long."""
    return jax.random.fold_in(key, number)


@eqx.filter_jit
def _made_up(model: Model, key: Key, station: Station) -> Scalar:
    """A reading of some source that the prior has."""
    source_key, noise_key = jax.random.split(key)
    return model.sample_reading(noise_key, model.prior.sample(source_key), station)
