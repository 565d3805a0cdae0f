"""Rehearsals: simulated missions of a site, to measure how often its stops are right.

The source is drawn from the prior of the site. The advisor of real missions, with its filter, stop rule,
policy, budget and start, gets simulated readings at the places that it advises. A rehearsal cannot find out
whether the site file is right.
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
from dowsax.mission.decision import BudgetUse
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Rate, Rehearsal, SimulatedMission, fingerprint
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.version import versions
from dowsax.world import Jump, Model, without_source
from dowsax.world.kinds import WIND

Progress = Callable[[int], None]

_MAX_REFUSED_IN_A_ROW = 10
"""A mission ends after this many refused readings in a row."""


@dataclass(frozen=True)
class RehearsalConfig:
    """The settings of rehearsals."""

    missions: int = 200
    without_source: float = 0.2
    """Share of missions without a source."""
    seed: int = 0
    speed: float = 1.0
    """[m/s], between readings: decides when a budget of time is spent, and what a sensor that lags reads."""
    max_readings: int = 500
    """A mission ends after this many readings at the latest."""

    def __post_init__(self) -> None:
        if self.missions < 1:
            raise ValueError(f"`missions` must be at least 1; got {self.missions}.")
        if not 0 <= self.without_source <= 1:
            raise ValueError(f"`without_source` must be a share from 0 to 1; got {self.without_source:g}.")
        if not (self.speed > 0 and math.isfinite(self.speed)):
            raise ValueError(f"`speed` must be > 0 m/s; got {self.speed:g}.")
        if self.max_readings < 1:
            raise ValueError(f"`max_readings` must be at least 1; got {self.max_readings}.")

    @property
    def num_empty(self) -> int:
        """Number of missions without a source."""
        return round(self.without_source * self.missions)


def rehearse(
    advisor: Advisor,
    config: RehearsalConfig,
    *,
    truth: Model | None = None,
    on_progress: Progress = lambda ended: None,
    threads: int | None = None,
) -> Rehearsal:
    """Simulate missions of this advisor. The same seed gives the same missions for any number of threads.

    Parameters
    ----------
    truth
        The model that readings are drawn from, with the same unknowns as the advisor's, to find out what a
        wrong site file leads to. Default: the advisor's.
    on_progress
        Called with the number of missions that have just ended.
    threads
        Missions at a time. Default: the number of cores.
    """
    keys = jax.random.split(jax.random.key(config.seed), config.missions)

    def one(number: int) -> SimulatedMission:
        source_key, seed_key = jax.random.split(keys[number])
        seed = int(jax.random.randint(seed_key, (), 0, 2**31 - 1))
        present = number < config.missions - config.num_empty
        ended = simulate_mission(advisor.new_mission(seed), source_key, config, present=present, truth=truth)
        on_progress(1)
        return ended

    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        return summarise_missions(advisor, config, list(pool.map(one, range(config.missions))))


def simulate_mission(
    advisor: Advisor, key: Key, config: RehearsalConfig, *, present: bool = True, truth: Model | None = None
) -> SimulatedMission:
    """Simulate one mission, with a source if `present`; `truth` as in `rehearse`."""
    plan = advisor.plan
    model = truth or plan.model
    model = model if present else without_source(model)
    source_key, wind_key, reading_key = jax.random.split(key, 3)
    theta = _source(plan.model, source_key)
    draft = Reading(plan.start or plan.middle, 0.0, wind=_wind(wind_key), time=0.0)
    refused = in_a_row = 0
    for number in range(config.max_readings):
        jump_key, noise_key = jax.random.split(jax.random.fold_in(reading_key, number))
        if plan.jump is not None and number > 0:
            theta = move_source(plan.model, plan.jump, jump_key, theta)
        draft = replace(draft, sensor=_sensor(plan.stations.sensor.names, number))
        whole = plan.stations.complete(draft, advisor.readings)
        station = plan.stations.station(whole, advisor.readings)
        here, later = draft.position, (draft.time or 0.0) + (whole.dwell or 0.0)
        try:
            value = float(_read(model, noise_key, theta, station))
            target = advisor.add(replace(draft, value=value)).next_position
            in_a_row = 0
        except Refused:
            # Read again at the same place, as people do.
            target = here
            refused, in_a_row = refused + 1, in_a_row + 1
        if target is None or in_a_row == _MAX_REFUSED_IN_A_ROW:
            break
        draft = replace(draft, position=target, time=later + math.dist(here, target) / config.speed)
    return _result(advisor, theta if present else None, refused)


def _result(advisor: Advisor, theta: Theta | None, refused: int) -> SimulatedMission:
    advice = advisor.latest
    source = None if theta is None else (float(theta[0]), float(theta[1]))
    estimate = None if advice is None else advice.estimate.position
    spent = BudgetUse.of(advisor.plan.start, advisor.readings)
    return SimulatedMission(
        status=SEARCHING if advice is None else advice.status,
        source=source,
        estimate=estimate,
        error=None if source is None or estimate is None else math.dist(source, estimate),
        region=None if advice is None else advice.region.radius,
        readings=spent.readings,
        distance=spent.distance,
        refused=refused,
    )


def summarise_missions(
    advisor: Advisor, config: RehearsalConfig, missions: Sequence[SimulatedMission]
) -> Rehearsal:
    """Summarise the missions."""
    plan = advisor.plan
    present = [one for one in missions if one.source is not None]
    absent = [one for one in missions if one.source is None]
    stops = [one for one in present if one.found]
    return Rehearsal(
        site=fingerprint(plan.text),
        name=plan.name,
        policy=advisor.adapter.name,
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
    """Return the assumptions beyond the site file, one sentence each."""
    sentences, sensor = [], plan.stations.sensor
    if "wind" in plan.stations.names:
        sentences.append("The measured wind is steady in each mission, and drawn as where it is unknown.")
    if plan.stations.depends_on_order or plan.budget.time is not None:
        sentences.append(f"Between readings one goes {config.speed:g} m/s.")
    if len(sensor.names) > 1:
        sentences.append("The sensors take turns.")
    if sensor.redundancy is not None and sensor.redundancy > 1:
        sentences.append(
            f"Simulated readings err one by one, though {sensor.redundancy:g} of the site's count as one: "
            "where real ones err together, more stops are wrong."
        )
    if plan.jump is not None:
        sentences.append(f"The source moves with a probability of {plan.jump.hazard:g} at each reading.")
    return sentences


def rate(cases: Sequence[bool]) -> Rate:
    """Return the rate of true cases, with Wilson's 95 % interval."""
    low, high = wilson_interval(sum(cases), len(cases))
    return Rate(sum(cases), len(cases), low, high)


def _sensor(names: tuple[str, ...], number: int) -> str | None:
    """Return the sensor of a reading: several sensors take turns."""
    return names[number % len(names)] if names else None


def _wind(key: Key) -> tuple[float, float]:
    """Draw the measured wind [m/s] of one mission from the prior of an unknown wind; it stays steady."""
    east, north = (
        distribution.sample(part) for part, (_, distribution) in zip(jax.random.split(key), WIND, strict=True)
    )
    return float(east), float(north)


@eqx.filter_jit
def _source(model: Model, key: Key) -> Theta:
    return model.prior.sample(key)


@eqx.filter_jit
def move_source(model: Model, jump: Jump, key: Key, theta: Theta) -> Theta:
    """Return the source of the next reading: it jumps with the probability that the filter assumes."""
    whether_key, source_key = jax.random.split(key)
    elsewhere = jump.sample(source_key, model.prior, theta)
    return jnp.where(jax.random.bernoulli(whether_key, jump.hazard), elsewhere, theta)


@eqx.filter_jit
def _read(model: Model, key: Key, theta: Theta, station: Station) -> Scalar:
    return model.sample_reading(key, theta, station)
