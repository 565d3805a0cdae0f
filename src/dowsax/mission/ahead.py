"""The next places of a searcher in the order of flight, for plans that hold several.

They are chosen one after the other, as those of several searchers are: each is the best place given that the
readings at the places before it are taken, seen from the last of them, within the budget that is left there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np

from dowsax.inference import Belief
from dowsax.mission.next_reading import bearing_and_length
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SITE_POLICY, Choice, SitePolicy
from dowsax.mission.stations import to_float32
from dowsax.mission.team import room_for_others
from dowsax.policies.inner_planner import takes_planned
from dowsax.policies.planned import PlannedReadings, planned_readings
from dowsax.types import Key, Station
from dowsax.world import Budget
from dowsax.world.trails import height_of, set_measurement

MAX_AHEAD = 10
"""Places in one advice."""


class Others(NamedTuple):
    """Where the other searchers of a mission are about to read."""

    places: Sequence[tuple[float, float]] = ()
    """[m]"""
    heights: Sequence[float] | None = None
    """[m] above ground; `None` where all read at one height."""


def require_ahead(policy: SitePolicy, ahead: int) -> None:
    """Raise a ValueError unless a policy can plan this number of places ahead."""
    if not 1 <= ahead <= MAX_AHEAD:
        raise ValueError(f"`ahead` must be from 1 to {MAX_AHEAD} places; got {ahead}.")
    if ahead == 1:
        return
    if policy.reach.paths:
        raise ValueError("At a site with [[paths]] nobody goes anywhere: leave `ahead` out.")
    if not takes_planned(policy.policy):
        raise ValueError(
            f"The policy {policy.name!r} does not plan several places ahead: choose {SITE_POLICY}, or leave "
            "`ahead` out."
        )


class Departure(NamedTuple):
    """Where a searcher is when it chooses a place, and what it may spend from there."""

    station: Station
    """With what the newest reading had, besides its position."""
    position: tuple[float, float]
    """[m]"""
    budget: Budget


def choose_ahead(
    first: Choice,
    number: int,
    plan: Plan,
    policy: SitePolicy,
    key: Key,
    belief: Belief,
    start: Departure,
    others: Others,
) -> tuple[Choice, ...]:
    """Return the first choice and those after it, at most `number`; fewer where no other can be reached.

    `plan` and `policy` are those of the searcher, and `start` is where the first place was chosen.
    """
    choices, here = [first], start
    while len(choices) < number:
        here = after(here, policy, choices[-1])
        planned = pending_readings(plan, choices, others)
        order = np.asarray(len(choices), np.int32)
        choice = policy.choose(_key_of(key, order), belief, here.station, here.position, here.budget, planned)
        if choice is None:
            break
        choices.append(choice)
    return tuple(choices)


def after(here: Departure, policy: SitePolicy, choice: Choice) -> Departure:
    """Return the departure from a place, after the way there and the reading."""
    _, way = bearing_and_length(choice, here.position)
    station = here.station
    if choice.height is not None:
        way += abs(choice.height - float(height_of(station)))
        station = set_measurement(station, "altitude", to_float32(choice.height))
    seconds = way / policy.reach.speed + policy.reach.reading_time
    budget = here.budget
    spent = (budget.readings, 1.0), (budget.distance, way), (budget.time, seconds)
    left = Budget(*(to_float32(float(whole) - part) for whole, part in spent))
    return Departure(station, choice.position, left)


def pending_readings(plan: Plan, choices: Sequence[Choice], others: Others) -> PlannedReadings:
    """Return the readings that others are about to take, and those at the chosen places of a searcher."""
    heights = None
    if others.heights is not None or plan.reach.levels:
        usual = plan.stations.usual_height
        own = [usual if choice.height is None else choice.height for choice in choices]
        heights = [*(others.heights or ()), *own]
    places = [*others.places, *(choice.position for choice in choices)]
    # Room for all, so that one compiled program serves every number of them.
    room = room_for_others(plan) + MAX_AHEAD - 1
    return planned_readings(places, room, heights)


_key_of = jax.jit(jax.random.fold_in)
