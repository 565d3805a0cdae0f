"""Missions of the real advisor with simulated readings, one by one.

Rehearsals simulate the same in bulk (`missions`). This is the slow way, with everything that an advisor does:
readings that are refused, winds that look reversed, sensors that take turns, logs.
"""

import math
from contextlib import suppress
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.evaluate.missions import RehearsalConfig
from dowsax.inference.belief import History, recall
from dowsax.inference.summaries import distance_to_truth
from dowsax.mission.advice import SEARCHING
from dowsax.mission.advisor import Advisor
from dowsax.mission.decision import count_use
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import SimulatedMission
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world import Jump, Model, without_source
from dowsax.world.fence import length_of
from dowsax.world.kinds import WIND

_MAX_REFUSED_IN_A_ROW = 10
"""A mission ends after this many refused readings in a row."""


def simulate_mission(
    advisor: Advisor, key: Key, config: RehearsalConfig, *, present: bool = True, truth: Model | None = None
) -> SimulatedMission:
    """Simulate one mission, with a source if `present`; `truth` as in `missions.rehearse`."""
    plan = advisor.plan
    model = truth or plan.model
    model = model if present else without_source(model)
    source_key, wind_key, reading_key = jax.random.split(key, 3)
    theta = _source(plan.model, source_key)
    draft = Reading(plan.start or plan.middle, 0.0, wind=_wind(wind_key), time=0.0)
    path = plan.reach.paths[0].name if plan.reach.paths else None
    if path is not None:
        draft = _along(draft, plan, path)
    in_a_row = 0
    for number in range(config.max_readings):
        jump_key, noise_key = jax.random.split(jax.random.fold_in(reading_key, number))
        if plan.jump is not None and number > 0:
            theta = move_source(plan.model, plan.jump, jump_key, theta)
        draft = replace(draft, sensor=_sensor(plan.stations.sensor.names, number))
        whole = plan.stations.complete(draft, advisor.readings)
        station = plan.stations.station(whole, advisor.readings)
        here, later = draft.position, (draft.time or 0.0) + plan.reach.reading_time
        try:
            value = float(_read(model, noise_key, theta, station, advisor.belief.history))
            advice = advisor.add(replace(draft, value=value))
            target, path = advice.next_position, advice.next_path
            height = advice.next_height
            in_a_row = 0
        except Refused:
            # Read again at the same place, as people do.
            target, height = here, None
            in_a_row += 1
        if target is None or in_a_row == _MAX_REFUSED_IN_A_ROW:
            break
        if path is not None:
            draft = replace(_along(draft, plan, path), time=later)
            continue
        way_key = jax.random.fold_in(noise_key, 1)
        way = math.dist(here, target)
        if height is not None:
            before, ground = whole.altitude or 0.0, plan.stations.sensor.ground
            way += abs(height - before)
            draft = replace(draft, altitude=max(height, before) + ground)
        _read_on_way(advisor, model, way_key, theta, replace(draft, time=later), target)
        draft = replace(draft, position=target, time=later + way / plan.reach.speed)
        draft = draft if height is None else replace(draft, altitude=height + plan.stations.sensor.ground)
    return _result(advisor, theta if present else None)


def _along(draft: Reading, plan: Plan, name: str) -> Reading:
    """Return the reading along a listed path; the site takes its ground off the altitude again."""
    path = next(path for path in plan.reach.paths if path.name == name)
    assert path.height is not None
    altitude = path.height + plan.stations.sensor.ground
    return replace(draft, position=path.ends[0], far_end=path.ends[1], altitude=altitude)


def _read_on_way(
    advisor: Advisor, model: Model, key: Key, theta: Theta, draft: Reading, target: tuple[float, float]
) -> None:
    """Give the advisor the readings on the way to the target; one that is refused is left out."""
    way_readings, stations = advisor.plan.reach.way_readings, advisor.plan.stations
    if way_readings is None:
        return
    reach = advisor.plan.reach.at(stations.complete(draft, ()).altitude)
    corners = (draft.position, *reach.bends(draft.position, target), target)
    way = jnp.array(corners, jnp.float32)
    for number in range(1, int(way_readings.number(length_of(way))) + 1):
        x, y = way_readings.place(way, jnp.asarray(number)).tolist()
        time = (draft.time or 0.0) + number * float(way_readings.interval)
        passed = replace(draft, position=(x, y), time=time, moving=True)
        station = stations.station(stations.complete(passed, advisor.readings), advisor.readings)
        noise_key = jax.random.fold_in(key, number)
        value = float(_read(model, noise_key, theta, station, advisor.belief.history))
        with suppress(Refused):
            advisor.add(replace(passed, value=value))


def _result(advisor: Advisor, theta: Theta | None) -> SimulatedMission:
    advice = advisor.latest
    source = distance = None
    if theta is not None:
        x, y = advisor.plan.model.position(theta)
        source = float(x), float(y)
        if advice is not None:
            distance = float(distance_to_truth(advisor.reported_belief, theta))
    estimate = None if advice is None else advice.estimate.position
    spent = count_use(advisor.plan, advisor.readings)
    return SimulatedMission(
        status=SEARCHING if advice is None else advice.status,
        source=source,
        estimate=estimate,
        error=distance,
        region=None if advice is None else advice.region.radius,
        readings=spent.readings,
        distance=spent.distance,
        time=spent.time or 0.0,
    )


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
def _read(model: Model, key: Key, theta: Theta, station: Station, history: History) -> Scalar:
    return model.sample_reading(key, theta, recall(model, history, station))
