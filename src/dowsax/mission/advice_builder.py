"""From the state of a mission to an advice: the status, where its searcher goes next, and why."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from dowsax.inference import Belief
from dowsax.inference.excess_noise import describe_excess_noise
from dowsax.mission import decision
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING, Advice, Disc
from dowsax.mission.ahead import Departure, Others, choose_ahead, pending_readings, require_ahead
from dowsax.mission.decision import BudgetUse
from dowsax.mission.next_reading import advice_fields, describe_choice, first_choice, legs_of
from dowsax.mission.plan import Plan
from dowsax.mission.seen_walls import seen_walls
from dowsax.mission.site_policy import Choice, SitePolicy
from dowsax.mission.sources import estimate_of, number_chances, source_discs
from dowsax.mission.state import MissionState, log_odds
from dowsax.mission.stations import to_float32
from dowsax.mission.team import (
    budget_use,
    describe_team,
    heights_of_others,
    others_at_work,
    places_of_others,
    readings_of,
    room_for_others,
    silent_searchers,
    stops_of_others,
)
from dowsax.mission.tracker import Tracker, unpack_digest
from dowsax.mission.weak_sources import describe_limit
from dowsax.policies.planned import PlannedReadings, planned_readings
from dowsax.survey.reading import Reading
from dowsax.types import Key, Station
from dowsax.world import Budget
from dowsax.world.trails import set_measurement

_SAME_PLACE_M = 0.01
"""[m], within which a place has just been read."""


class Turn(NamedTuple):
    """For whom an advice is, and what is known besides the state of the mission."""

    number: int
    """Of the step."""
    searcher: str | None
    assigned: Mapping[str | None, Advice]
    """The newest advice of each searcher."""
    first: str
    """A sentence on what has happened."""
    has_changed: bool
    """Whether source or wind have changed."""
    keeps_place: bool = False
    """Whether its place stays as it was, as a later reading of the searcher waits."""


@dataclass(frozen=True)
class AdviceBuilder:
    """Builds advice: a function of the state, of the searcher, and of where the others are sent."""

    plan: Plan
    tracker: Tracker
    policies: Mapping[str | None, SitePolicy]
    """Of each searcher, and of the one without a name."""
    false_stops: str
    choice_key: Key
    ahead: int = 1
    """How many places are planned, where the mission goes on."""
    _plans_with_walls: dict[str | None, tuple[tuple[Reading, ...], Plan, SitePolicy]] = field(
        default_factory=dict
    )
    """Of each searcher the newest readings with ranges, and what follows from the walls that they saw."""

    @classmethod
    def of(
        cls, plan: Plan, tracker: Tracker, policy: SitePolicy, false_stops: str, key: Key, ahead: int
    ) -> "AdviceBuilder":
        """Return the builder of a plan by one policy, within the reach of each searcher."""
        members = plan.searchers.items()
        policies = {name: policy.of_reach(member.reach, plan.radius) for name, member in members}
        for each in (policy, *policies.values()):
            require_ahead(each, ahead)
        return cls(plan, tracker, {None: policy, **policies}, false_stops, key, ahead)

    def build(self, state: MissionState, station: Station | None, turn: Turn) -> Advice:
        """Return the advice for a state; `station` is that of the newest reading, if there is any."""
        if station is None:
            return self._build_at_start(state, turn)
        inputs, findings = self._describe_belief(state)
        own = readings_of(state.readings, turn.searcher)
        newest = decision.sort_by_time(own)[-1] if own else None
        here = None if newest is None else newest.position
        plan, policy = self._among_walls(turn.searcher, state.readings, here)
        used = budget_use(self.plan, state.readings, turn.searcher)
        status = decision.status_of(plan, used, inputs)
        choices, sentence = (), ""
        if status == SEARCHING:
            choices, sentence = self._next(plan, policy, state, station, newest, used, turn)
        at_work: tuple[str, ...] = ()
        if not choices and status != FOUND and not decision.excludes_source(inputs):
            at_work = others_at_work(self.plan, state.readings, turn.searcher, turn.assigned)
            status = SEARCHING if at_work else INCONCLUSIVE
        silent = silent_searchers(self.plan, state.readings, turn.assigned)
        wind = state.reversed_wind.check
        sentences = [
            turn.first,
            f"Source or wind have changed, about at reading {state.regime + 1}: the search starts again."
            if turn.has_changed
            else None,
            wind.message if wind.is_reversed else None,
            inputs.excess_noise,
            decision.explain_status(plan, used, inputs, status, self.false_stops),
            decision.describe_redundancy(state.redundancy),
            sentence,
            describe_team(plan, used, [name for name in silent if name != turn.searcher], at_work),
            decision.check_stuck_sensor(plan, state.readings),
            decision.check_heights(plan, state.readings),
        ]
        return Advice(
            number=turn.number,
            status=status,
            **self._next_fields(choices, here),
            **findings,
            why=" ".join(sentence for sentence in sentences if sentence),
            id=own[-1].id if own else None,
            searcher=turn.searcher,
        )

    def _among_walls(
        self, searcher: str | None, readings: Sequence[Reading], here: tuple[float, float] | None
    ) -> tuple[Plan, SitePolicy]:
        """Return the plan and the policy of a searcher, with the walls that were seen as obstacles."""
        plan, policy = self.plan.for_searcher(searcher), self.policies[searcher]
        if not plan.reach.sees_walls:
            return plan, policy
        known = tuple(readings)
        if searcher not in self._plans_with_walls or self._plans_with_walls[searcher][0] != known:
            reach = plan.reach.with_walls(partial(seen_walls, plan, readings, here))
            with_walls = replace(plan, reach=reach), policy.of_reach(reach, plan.radius)
            self._plans_with_walls[searcher] = known, *with_walls
        return self._plans_with_walls[searcher][1:]

    def _describe_belief(self, state: MissionState) -> tuple[decision.StatusInputs, dict[str, Any]]:
        """Return what the status depends on, and the fields of an advice that say where the source is."""
        digest = state.digest(len(state.readings))
        prior, radius = self.plan.model.prior, float(digest.radius)
        estimate, chances = estimate_of(prior, digest), number_chances(prior, digest)
        sources = source_discs(self.tracker, state.belief, digest)
        evidence, wind = log_odds(state.belief, state.null), state.reversed_wind.check
        inputs = decision.StatusInputs(
            tuple(disc.centre for disc in sources) or (estimate.position,),
            *(radius, float(digest.mass), float(digest.fit), evidence, wind.is_reversed),
            chances.get("number_probability"),
            describe_excess_noise(self.plan.usual_noise, state.belief),
            describe_limit(self.plan.strength, estimate),
        )
        region = Disc(estimate.position, radius)
        findings = {
            "estimate": estimate,
            "region": region,
            "evidence": evidence,
            "sources": sources,
            **chances,
        }
        return inputs, findings

    def _next(
        self,
        plan: Plan,
        policy: SitePolicy,
        state: MissionState,
        station: Station,
        newest: Reading | None,
        used: BudgetUse,
        turn: Turn,
    ) -> tuple[tuple[Choice, ...], str]:
        """Choose where to read next and after that, with a sentence on the first; none can be reached: none.

        `newest` is the newest reading of the searcher.
        """
        if newest is None:
            choice, begin = first_choice(plan)
            return (choice,), f"{begin[0].upper()}{begin[1:]}"
        here, height = newest.position, newest.altitude if plan.reach.levels else None
        budget = decision.budget_left(plan, used)
        at_height = plan.reach.at(height)
        if not plan.reach.paths and at_height.is_outside(here):
            back = at_height.way_back(here, float(budget.distance))
            words = "You are where you may not be: go back."
            return ((), "") if back is None else ((Choice(back, height=height),), words)
        kept = _kept_choice(plan, policy, newest, budget, turn)
        if kept is not None:
            return (kept,), f"Further readings of {turn.searcher} wait: the next place stays as it was."
        if state.readings[-1].searcher != turn.searcher:
            number = max(n for n, one in enumerate(state.readings) if one.searcher == turn.searcher)
            station = plan.stations.station(state.readings[number], state.readings[:number])
        if height is not None:
            station = set_measurement(station, "altitude", to_float32(height))
        known = self.plan, state.readings, turn.searcher, turn.assigned
        others = Others(places_of_others(*known), heights_of_others(*known))
        key = _key_of(self.choice_key, np.asarray(len(state.readings), np.int32))
        choice = policy.choose(key, state.belief, station, here, budget, self._planned(others))
        if choice is None:
            return (), ""
        if len(plan.searchers) > 1 and self.ahead == 1:
            choice = policy.stop_on_way(choice, here, budget, stops_of_others(*known))
        sentence = describe_choice(choice, here, station, plan.coordinates)
        start = Departure(station, here, budget)
        return choose_ahead(choice, self.ahead, plan, policy, key, state.belief, start, others), sentence

    def _next_fields(self, choices: Sequence[Choice], here: tuple[float, float] | None) -> dict[str, Any]:
        """Return the fields of an advice that say where to read next, and where after that."""
        fields = advice_fields(choices[0] if choices else None, here)
        return fields if self.ahead == 1 else fields | {"ahead": legs_of(choices, here)}

    def _planned(self, others: Others) -> PlannedReadings | None:
        """Return the readings that others are about to take; `None` where there is one searcher."""
        if not self.plan.searchers:
            return None
        return planned_readings(others.places, room_for_others(self.plan), others.heights)

    def _build_at_start(self, state: MissionState, turn: Turn) -> Advice:
        """Return the advice when the only reading was withdrawn."""
        digest = unpack_digest(self.tracker.describe(state.belief))
        estimate = estimate_of(self.plan.model.prior, digest)
        choice, begin = first_choice(self.plan.for_searcher(turn.searcher))
        return Advice(
            number=turn.number,
            status=SEARCHING,
            **self._next_fields((choice,), None),
            estimate=estimate,
            region=Disc(estimate.position, float(digest.radius)),
            why=f"{turn.first} There are no readings: {begin}",
            searcher=turn.searcher,
        )

    def warm_up(self, belief: Belief, station: Station) -> None:
        """Compile the choice of the next place for every searcher."""
        for policy in {id(policy): policy for policy in self.policies.values()}.values():
            budget = decision.budget_left(self.plan)
            others = Others((), heights_of_others(self.plan, (), None, {}))
            start = belief, station, self.plan.middle, budget
            policy.choose(self.choice_key, *start, self._planned(others))
            if self.ahead > 1:
                policy.choose(self.choice_key, *start, pending_readings(self.plan, (), others))


def _kept_choice(
    plan: Plan, policy: SitePolicy, newest: Reading, budget: Budget, turn: Turn
) -> Choice | None:
    """Return the place to which the searcher is on its way, where that stays as it was; else `None`."""
    before, here = turn.assigned.get(turn.searcher), newest.position
    place = None if before is None or not turn.keeps_place else before.next_position
    if before is None or place is None or math.dist(here, place) <= max(policy.apart, _SAME_PLACE_M):
        return None
    height, climb = before.next_height, 0.0
    if height is not None and newest.altitude is not None:
        climb = abs(height - newest.altitude)
    reach = plan.reach.at(height, newest.altitude)
    if not reach.can_go(here, place, budget, climb):
        return None
    return Choice(place, bends=reach.bends(here, place), height=height, aim=before.next_aim)


# Compiled, it is ten times as fast.
_key_of = jax.jit(jax.random.fold_in)
