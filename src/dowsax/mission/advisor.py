"""The advisor: a reading in, advice out. The only door for real readings; there is no truth in here.

What is advised is a function of the site, the policy, the seed and the readings in order. So a mission that
was ended at any moment goes on from its log as if it had not been: the readings are taken in once more.
"""

import math
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import numpy as np

from dowsax.inference import Belief
from dowsax.inference.survey import checked_survey
from dowsax.mission import reading as readings_
from dowsax.mission.advice import CANNOT_TELL, SEARCHING, Advice, Disc, Estimate, compass, way
from dowsax.mission.course import Course, Filters
from dowsax.mission.doubts import doubts
from dowsax.mission.evidence import log_odds
from dowsax.mission.false_stops import said_of_stops
from dowsax.mission.findings import versions
from dowsax.mission.geometry import TOUCH
from dowsax.mission.guides import Guide, guide_for
from dowsax.mission.log import Header, MissionLog
from dowsax.mission.marks import POSITIVE, is_mark
from dowsax.mission.phrases import metres, outside
from dowsax.mission.plan import Plan
from dowsax.mission.reading import Reading, Refused
from dowsax.mission.site import Site, read_site
from dowsax.mission.stations import single
from dowsax.mission.verdicts import LEAST_LEFT, Gist, Spent, heights, in_time, reasons, status_of, stuck
from dowsax.policies import Policy
from dowsax.types import Key, Scalar, Station
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
        if warm_up:
            self.warm_up()
        self._by_id: dict[str, int] = {}
        self._by_time: dict[tuple | None, int] = {}
        self._given: dict[int, Advice] = {}
        """Of earlier readings, by their numbers, where no log keeps it."""
        self._latest: Advice | None = None
        self._go_on()

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
        """What has been taken in."""
        return self._course.readings

    @property
    def course(self) -> Course:
        """The mission as it stands."""
        return self._course

    @property
    def latest(self) -> Advice | None:
        """The advice after the newest reading; `None` before the first."""
        return self._latest

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
    ) -> Advice:
        """Take in a reading at a position [m] and say what to do next.

        `wind` (u, v) [m/s] is where the air goes; `time` [s] or ISO 8601; `altitude` [m] above ground;
        `dwell` [s]. A reading with the `id` of an earlier one, or the same at the same time, gets the answer
        that one got. `Refused` says why a reading is not taken in. With a log, the reading is on the disk
        when this returns; `log.NotRecorded` says that it is not, and that it was not taken in.
        """
        given = repr((position, reading, wind, time, sensor, altitude, dwell, id))
        try:
            made = readings_.build(
                position, reading, wind=wind, time=time, sensor=sensor, altitude=altitude, dwell=dwell, id=id
            )
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        return self.take(made, given)

    def take(self, reading: Reading, given: str = "") -> Advice:
        """`observe` for a reading that is made already; `given` is how it came, for the log."""
        try:
            reading = self._checked(reading)
            answered = self._answered(reading)
            if answered is not None:
                return answered
            self._require_in_order(reading)
            course, advice = self._considered(reading)
        except Refused as refusal:
            self.note_refusal(given, str(refusal))
            raise
        if self._log is not None:
            number = len(course.readings)
            self._log.append(number, reading.id, given, reading.to_json(), advice.to_json())
        # Only now: what could not be recorded has not happened.
        self._course = course
        self._remember(reading, advice)
        return advice

    def note_refusal(self, given: str, reason: str) -> None:
        """Keep in the log what was not taken in."""
        if self._log is not None:
            self._log.refuse(given, reason)

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()

    def _checked(self, reading: Reading) -> Reading:
        """The reading as the model needs it, or `Refused`."""
        x, y = reading.position
        (west, south), (east, north) = self.plan.reach.area
        inside = west - TOUCH <= x <= east + TOUCH and south - TOUCH <= y <= north + TOUCH
        if not inside and not self.plan.takes_outside:
            far_off = outside(self.plan.frame, self.plan.reach.area, reading.position)
            raise Refused(
                f'The position {far_off}: check it, or set outside = "allow" in [area] of the site file.'
            )
        if self.plan.kind in POSITIVE and is_mark(reading.value):
            raise Refused(
                f"`value` is {reading.value:g}, what loggers write where they have nothing: leave it out."
            )
        if self.plan.least is not None and reading.value < self.plan.least:
            raise Refused(
                f"`value` is {reading.value:.4g} {self.plan.unit}, far below the background of the site: if "
                "the sensor dropped out, leave it out; if it is in another unit, give `unit`; or correct "
                "[background]."
            )
        try:
            checked_survey([reading.position], [reading.value], self.plan.model.sensor)
        except ValueError as error:
            # One reading at a time: which of them it is goes without saying.
            raise Refused(str(error).replace("Reading 0 (counted from 0)", "`value`")) from None
        return self.plan.stations.completed(reading, self._course.readings)

    def _answered(self, reading: Reading) -> Advice | None:
        """The answer to a reading that was taken in before."""
        if reading.id is not None and reading.id in self._by_id:
            number = self._by_id[reading.id]
            if self._course.readings[number - 1] != reading:
                raise Refused(f"The id {reading.id!r} was given to another reading: give each its own.")
            return self._advice_of(number)
        if reading.id is None and _moment(reading) in self._by_time:
            return self._advice_of(self._by_time[_moment(reading)])
        return None

    def _advice_of(self, number: int) -> Advice:
        """What was advised after the reading of this number."""
        if self._latest is not None and self._latest.number == number:
            return self._latest
        if self._log is None:
            return self._given[number]
        return Advice.from_json(self._log.entry(number).advice)

    def _require_in_order(self, reading: Reading) -> None:
        """`Refused` for a late reading where it matters. To a source that stays as it is, it does not."""
        times = [item.time for item in self._course.readings if item.time is not None]
        if reading.time is None or not times or reading.time >= max(times):
            return
        if self.plan.jump is None and not self.plan.stations.ordered:
            return
        why = "the sensor lags" if self.plan.stations.ordered else "the source may change"
        late = max(times) - reading.time
        raise Refused(
            f"The reading is {late:g} s older than the newest one, and the order matters, as {why}: "
            "send readings in the order of their times."
        )

    def _considered(self, reading: Reading) -> tuple[Course, Advice]:
        """The mission after this reading, and what is advised; nothing is changed."""
        course, station, changed = self._filters.step(self._course, reading)
        advice = self._advice(course, station, changed)
        return course, replace(advice, warnings=doubts(self.plan, self._course, course))

    def _advice(self, course: Course, station: Station, changed: bool) -> Advice:
        digest = course.digest(len(course.readings))
        mean, low, high = (tuple(map(float, row)) for row in (digest.mean, digest.low, digest.high))
        place = (mean[0], mean[1])
        evidence = log_odds(course.belief, course.null)
        wind = course.turned.check
        gist = Gist(
            place, float(digest.radius), float(digest.mass), float(digest.fit), evidence, wind.flipped
        )
        spent = Spent.on(self.plan.start, course.readings)
        status = status_of(self.plan, spent, gist)
        here = in_time(course.readings)[-1].position
        there, told = (None, "") if status != SEARCHING else self._next(course, station, here, spent)
        if status == SEARCHING and there is None:
            status = CANNOT_TELL
        bearing, distance = (None, None) if there is None else way(here, there)
        sentences = [
            f"Source or wind have changed, about at reading {course.regime + 1}: searching anew."
            if changed
            else None,
            wind.words if wind.flipped else None,
            reasons(self.plan, spent, gist, status, self.false_stops),
            told,
            stuck(course.readings),
            heights(self.plan, course.readings),
        ]
        parameters = self.plan.model.prior.parameters
        return Advice(
            number=len(course.readings),
            status=status,
            next_position=there,
            bearing=bearing,
            distance=distance,
            estimate=Estimate(
                tuple(item.name for item in parameters),
                tuple(item.unit for item in parameters),
                mean,
                low,
                high,
            ),
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
            return (
                float(candidates[0, 0]),
                float(candidates[0, 1]),
            ), "You are where you may not be: go back."
        key = _key_of(self._choice_key, np.asarray(len(course.readings), np.int32))
        at = replace(station, position=single(here))
        choice = self.guide.choose(key, course.belief, at, candidates)
        bearing, distance = way(here, choice.position)
        gain = "" if choice.gain is None else ", where a reading should tell most"
        place = f", to {self.plan.frame.words(choice.position)}" if self.plan.frame.is_geographic else ""
        return choice.position, f"Next: {metres(distance)} to the {compass(bearing)}{place}{gain}."

    def _remember(self, reading: Reading, advice: Advice) -> None:
        if reading.id is not None:
            self._by_id[reading.id] = advice.number
        if reading.time is not None:
            self._by_time[_moment(reading)] = advice.number
        if self._log is None and (reading.id is not None or reading.time is not None):
            self._given[advice.number] = advice
        self._latest = advice

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

    def _go_on(self) -> None:
        """Take in what the log holds already."""
        if self._log is None:
            return
        for entry in self._log.entries():
            reading, advice = Reading.from_json(entry.reading), Advice.from_json(entry.advice)
            self._course, _, _ = self._filters.step(self._course, reading)
            self._remember(reading, advice)


@jax.jit
def _key_of(key: Key, number: jax.Array) -> Key:
    """The key of a reading. Compiled, as one by one its parts take ten times as long."""
    return jax.random.fold_in(key, number)


@eqx.filter_jit
def _made_up(model: Model, key: Key, station: Station) -> Scalar:
    """A reading of some source that the prior has."""
    source_key, noise_key = jax.random.split(key)
    return model.sample_reading(noise_key, model.prior.sample(source_key), station)


def _moment(reading: Reading) -> tuple | None:
    """What two readings without an id have in common when they are the same one."""
    if reading.time is None:
        return None
    value = reading.value if math.isfinite(reading.value) else None
    return reading.time, reading.sensor, reading.position, value
