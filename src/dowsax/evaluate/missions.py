"""Whole missions of a site, simulated: what a stop is worth there.

The advisor is told readings of a source that is drawn from the site's own prior, at the places that it
advises itself, until it has found the source or cannot tell. It is the advisor of real missions: the same
filter, stop rule, policy, budget and start. What a rehearsal cannot tell is whether the site file is right.
"""

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.evaluate.statistics import wilson_interval
from dowsax.mission.advice import INCONCLUSIVE, SEARCHING
from dowsax.mission.advisor import Advisor
from dowsax.mission.decision import Spent
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Ended, Rate, Rehearsal, fingerprint
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.version import versions
from dowsax.world import Jump, Model, without_source
from dowsax.world.kinds import WIND

Progress = Callable[[int], None]

_PATIENCE = 10
"""Refused readings in a row after which a mission is broken off."""


@dataclass(frozen=True)
class RehearsalConfig:
    """How a site is rehearsed."""

    missions: int = 200
    without_source: float = 0.2
    """The share of missions in which there is nothing to find."""
    seed: int = 0
    speed: float = 1.0
    """[m/s], between readings: decides when a budget of time is spent, and what a sensor that lags reads."""
    most_readings: int = 500
    """A mission that neither its budget nor its verdict has ended is broken off here."""

    def __post_init__(self) -> None:
        if self.missions < 1:
            raise ValueError(f"There is at least 1 mission to rehearse; got {self.missions}.")
        if not 0 <= self.without_source <= 1:
            raise ValueError(f"The share without a source is from 0 to 1; got {self.without_source:g}.")
        if not (self.speed > 0 and math.isfinite(self.speed)):
            raise ValueError(f"The speed is above 0 m/s; got {self.speed:g}.")
        if self.most_readings < 1:
            raise ValueError(f"A mission has at least 1 reading; got {self.most_readings}.")

    @property
    def num_empty(self) -> int:
        """Missions without a source."""
        return round(self.without_source * self.missions)


def rehearse(
    advisor: Advisor,
    config: RehearsalConfig,
    *,
    truth: Model | None = None,
    progress: Progress = lambda ended: None,
    threads: int | None = None,
) -> Rehearsal:
    """Missions as this advisor would lead them, as many at a time as there are threads, or cores.

    `truth` is the model that readings are drawn from where it is another than the advisor's, with the same
    unknowns: what a site file that is wrong would lead to. `progress` is told how many more have ended. The
    same seed gives the same missions whatever the threads.
    """
    keys = jax.random.split(jax.random.key(config.seed), config.missions)

    def one(number: int) -> Ended:
        source_key, seed_key = jax.random.split(keys[number])
        seed = int(jax.random.randint(seed_key, (), 0, 2**31 - 1))
        present = number < config.missions - config.num_empty
        ended = simulated(advisor.again(seed), source_key, config, present=present, truth=truth)
        progress(1)
        return ended

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return summarised(advisor, config, list(pool.map(one, range(config.missions))))


def simulated(
    advisor: Advisor, key: Key, config: RehearsalConfig, *, present: bool = True, truth: Model | None = None
) -> Ended:
    """One mission, from the start to its end, with a source or `present` off; `truth` as in `rehearse`."""
    plan = advisor.plan
    model = truth or plan.model
    model = model if present else without_source(model)
    source_key, wind_key, reading_key = jax.random.split(key, 3)
    theta = _source(plan.model, source_key)
    draft = Reading(plan.start or plan.middle, 0.0, wind=_wind(wind_key), time=0.0)
    refused = in_a_row = 0
    for number in range(config.most_readings):
        jump_key, noise_key = jax.random.split(jax.random.fold_in(reading_key, number))
        if plan.jump is not None and number > 0:
            theta = moved(plan.model, plan.jump, jump_key, theta)
        draft = replace(draft, sensor=_sensor(plan.stations.sensor.names, number))
        whole = plan.stations.completed(draft, advisor.readings)
        station = plan.stations.station(whole, advisor.readings)
        here, later = draft.position, (draft.time or 0.0) + (whole.dwell or 0.0)
        try:
            value = float(_read(model, noise_key, theta, station))
            there = advisor.take(replace(draft, value=value)).next_position
            in_a_row = 0
        except Refused:
            # As people do: read again at the same place.
            there = here
            refused, in_a_row = refused + 1, in_a_row + 1
        if there is None or in_a_row == _PATIENCE:
            break
        draft = replace(draft, position=there, time=later + math.dist(here, there) / config.speed)
    return _ended(advisor, theta if present else None, refused)


def _ended(advisor: Advisor, theta: Theta | None, refused: int) -> Ended:
    advice = advisor.latest
    source = None if theta is None else (float(theta[0]), float(theta[1]))
    estimate = None if advice is None else advice.estimate.position
    spent = Spent.on(advisor.plan.start, advisor.readings)
    return Ended(
        status=SEARCHING if advice is None else advice.status,
        source=source,
        estimate=estimate,
        error=None if source is None or estimate is None else math.dist(source, estimate),
        region=None if advice is None else advice.region.radius,
        readings=spent.readings,
        distance=spent.distance,
        refused=refused,
    )


def summarised(advisor: Advisor, config: RehearsalConfig, missions: Sequence[Ended]) -> Rehearsal:
    """What the missions come to."""
    plan = advisor.plan
    present = [one for one in missions if one.source is not None]
    absent = [one for one in missions if one.source is None]
    stops = [one for one in present if one.found]
    return Rehearsal(
        site=fingerprint(plan.text),
        name=plan.name,
        policy=advisor.guide.name,
        preset=plan.filter_name,
        version=versions()["dowsax"],
        seed=config.seed,
        speed=config.speed,
        radius=plan.radius,
        probability=plan.probability,
        assumed=tuple(assumptions(plan, config)),
        stopped=rate([one.found for one in present]),
        false_stops=rate([one.wrong(plan.radius) for one in stops]),
        covered=rate([one.covered for one in present]),
        cannot_tell=rate([one.status == INCONCLUSIVE for one in present]),
        found_nothing=rate([one.found for one in absent]),
        missions=tuple(missions),
    )


def assumptions(plan: Plan, config: RehearsalConfig) -> list[str]:
    """What is taken for granted beyond the site file, a sentence each."""
    told, sensor = [], plan.stations.sensor
    if "wind" in plan.stations.names:
        told.append("The measured wind is steady in each mission, and drawn as where it is unknown.")
    if plan.stations.ordered or plan.budget.time is not None:
        told.append(f"Between readings one goes {config.speed:g} m/s.")
    if len(sensor.names) > 1:
        told.append("The sensors take turns.")
    if sensor.redundancy is not None and sensor.redundancy > 1:
        told.append(
            f"Simulated readings err one by one, though {sensor.redundancy:g} of the site's count as one: "
            "where real ones err together, more stops are wrong."
        )
    if plan.jump is not None:
        told.append(f"The source moves with a probability of {plan.jump.hazard:g} at each reading.")
    return told


def rate(cases: Sequence[bool]) -> Rate:
    """How many of the cases, with Wilson's 95 % interval."""
    low, high = wilson_interval(sum(cases), len(cases))
    return Rate(sum(cases), len(cases), low, high)


def _sensor(names: tuple[str, ...], number: int) -> str | None:
    """Where there are several sensors they take turns."""
    return names[number % len(names)] if names else None


def _wind(key: Key) -> tuple[float, float]:
    """[m/s], as measured in one mission: drawn from what is believed of an unknown wind, and then steady."""
    east, north = (law.sample(part) for part, (_, law) in zip(jax.random.split(key), WIND, strict=True))
    return float(east), float(north)


@eqx.filter_jit
def _source(model: Model, key: Key) -> Theta:
    return model.prior.sample(key)


@eqx.filter_jit
def moved(model: Model, jump: Jump, key: Key, theta: Theta) -> Theta:
    """The source before the next reading, as the filter reckons with it: now and then it is elsewhere."""
    whether_key, source_key = jax.random.split(key)
    elsewhere = jump.sample(source_key, model.prior, theta)
    return jnp.where(jax.random.bernoulli(whether_key, jump.hazard), elsewhere, theta)


@eqx.filter_jit
def _read(model: Model, key: Key, theta: Theta, station: Station) -> Scalar:
    return model.sample_reading(key, theta, station)
