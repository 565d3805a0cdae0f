"""A site as a search problem, which is simulated in bulk: model, filter, actions, budget and start."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.envs import Scenario, SearchProblem, from_prior
from dowsax.inference import Credible
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SitePolicy
from dowsax.mission.state import build_null_filter
from dowsax.mission.stations import example_station
from dowsax.types import Key, Station, Target
from dowsax.world import Budget, Distribution, Model
from dowsax.world.kinds import WIND
from dowsax.world.trails import move_station, set_measurement

MAX_SIMULATED_READINGS, MAX_ON_WAY = 500, 2000
"""In one simulated mission, at places and on the way to them."""


class SiteStart(eqx.Module):
    """The start of a site. What real missions measure with each reading is drawn once, and stays as it is."""

    template: Station
    """With the position of the start, the height and the time of a reading."""
    drawn: tuple[tuple[str, Distribution], ...] = ()
    """Further measurements and their distributions; a measured wind is drawn as where it is unknown."""

    def __call__(self, key: Key) -> Station:
        station = self.template
        for number, (name, distribution) in enumerate(self.drawn):
            station = set_measurement(station, name, distribution.sample(jax.random.fold_in(key, number)))
        if station.wind is None:
            return station
        parts = zip(jax.random.split(key), WIND, strict=True)
        wind = jnp.stack([distribution.sample(part) for part, (_, distribution) in parts])
        return set_measurement(station, "wind", wind)


def build_problem(
    plan: Plan,
    policy: SitePolicy,
    *,
    truth: Model | None = None,
    max_readings: int = MAX_SIMULATED_READINGS,
) -> SearchProblem:
    """Return the search problem of a site.

    Parameters
    ----------
    truth
        What readings are drawn from, with the same unknowns as the model. Default: the model.
    max_readings
        Where the budget has no limit of readings, or a later one.
    """
    fault = find_simulation_fault(plan, max_readings)
    if fault is not None:
        raise ValueError(fault)
    budget = _simulated_budget(plan, max_readings)
    return SearchProblem(
        plan.model,
        plan.preset.with_ranks(),
        Scenario(from_prior, transition=plan.jump, moves=plan.jump),
        policy.actions,
        max_readings=int(budget.readings),
        start=_start(plan, has_time=truth is not None),
        budget=budget,
        stop=Credible(radius=plan.radius, probability=plan.probability),
        null=build_null_filter(plan),
        truth=truth,
        way_readings=plan.reach.way_readings,
        max_on_way=math.ceil(_max_on_way(plan, budget)),
    )


def find_simulation_fault(plan: Plan, max_readings: int = MAX_SIMULATED_READINGS) -> str | None:
    """Return why missions cannot be simulated, and what to change; `None` where they can.

    A real mission may take any number of readings on the way.
    """
    number = _max_on_way(plan, _simulated_budget(plan, max_readings))
    if number <= MAX_ON_WAY:
        return None
    return (
        f"A mission may take {number:,.0f} readings on the way, and at most {MAX_ON_WAY:,} can be simulated: "
        "for a rehearsal, give a longer `reading_interval` in [step], or limit distance, time or readings in "
        "[budget]."
    )


def _simulated_budget(plan: Plan, max_readings: int) -> Budget:
    """Return the budget of the site, with at most this many readings."""
    readings, distance, time = (
        math.inf if limit is None else float(limit)
        for limit in (plan.budget.readings, plan.budget.distance, plan.budget.time)
    )
    return Budget(min(readings, float(max_readings)), distance, time)


def _max_on_way(plan: Plan, budget: Budget) -> float:
    """Return the largest number of readings on the way that the budget allows."""
    way_readings = plan.reach.way_readings
    if way_readings is None:
        return 0.0
    return way_readings.max_number(budget, min(plan.reach.longest or math.inf, math.dist(*plan.reach.area)))


def _start(plan: Plan, *, has_time: bool) -> SiteStart:
    """Return the start, with a time also where only the truth needs it; of paths, the first one.

    The sensor is the first one, with what is known of it, and has settled.
    """
    sensor = plan.stations.sensor
    names = (*plan.stations.names, *(["time"] if has_time else []))
    height = plan.stations.altitude if sensor.height is None else sensor.height
    known = plan.stations.known_of(sensor.names[0] if sensor.names else None)
    unknown = {name: plan.simulated[name] for name in plan.stations.quantities if name not in known}
    drawn = {name: number for name, number in unknown.items() if isinstance(number, Distribution)}
    known |= {name: float(number) for name, number in unknown.items() if not isinstance(number, Distribution)}
    station = example_station(names, altitude=height, dwell=sensor.dwell or 1.0, **known)
    target: Target = jnp.asarray(plan.start or plan.middle, jnp.float32)
    if plan.reach.paths:
        target = jax.tree.map(lambda leaf: leaf[0], plan.reach.open_paths().paths)
    return SiteStart(move_station(station, target), tuple(drawn.items()))
