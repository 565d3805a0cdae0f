"""Simulated searches by a team: each has its own place, clock and budget, and all have one belief."""

from functools import cache

import jax
import numpy as np
from made_missions import MODEL
from made_teams import STARTS, team_site

from dowsax.evaluate.missions import RehearsalConfig, _team, rehearse
from dowsax.evaluate.search_steps import as_arrays
from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem
from dowsax.site.schema import Budget, SearchSetting, StepSetting
from dowsax.site.searcher import Searcher

NEVER = SearchSetting.model_construct(preset="plain", particles=256, radius=0.4, probability=1.1)
"""A stop that cannot be reached."""
READINGS = 20
"""Of all searchers in each of the missions, so that one program serves all."""
SHORTEST_LEG = np.hypot(20.0, 20.0) / 16
"""[m], a share of the diagonal of the area."""


def plan_of(**changes):
    changes = {"search": NEVER, "budget": Budget(readings=READINGS // 2)} | changes
    return Plan.of(team_site(**changes), MODEL)


def simulate(plan, missions=2):
    return rehearse(plan, RehearsalConfig(missions, 0.0, 5), plan.site_policy("location-gain"))


def test_each_has_its_own_start_speed_and_budget():
    """The fast one reads more often; each ends with the readings of its own budget."""
    team = (
        Searcher("anna", STARTS["anna"], readings=8),
        Searcher("ben", STARTS["ben"], speed=4.0, readings=12),
    )
    done = simulate(plan_of(searchers=team, budget=Budget(readings=READINGS)))
    for mission, paths in zip(done.rehearsal.missions, done.paths, strict=True):
        assert mission.status == "inconclusive"
        assert mission.readings == READINGS
        assert [len(path) for path in paths] == [8, 12]
        assert [tuple(path[0].tolist()) for path in paths] == list(STARTS.values())
    assert done.rehearsal.searchers == 2


def test_one_program_serves_budgets_of_their_own():
    """And there is room for the readings of all, those on the way included."""
    team = (Searcher("anna", readings=8, distance=30.0), Searcher("ben", speed=4.0, readings=12))
    step = StepSetting(reading_interval=2.0, longest=6.0)
    plan = plan_of(searchers=team, step=step)
    alone = [build_problem(plan.for_searcher(name), plan.site_policy()) for name in plan.searchers]
    problems = [as_arrays(one.problem) for one in _team(plan, plan.site_policy())]
    assert jax.tree.structure(problems[0]) == jax.tree.structure(problems[1])
    assert problems[0].horizon == sum(one.horizon for one in alone)
    assert [float(one.whole_budget.readings) for one in problems] == [8.0, 12.0]


def test_the_time_is_that_of_the_clock_and_the_way_that_of_all():
    """Where time is spent before the readings, nobody reads later than that, and both use it."""
    plan = plan_of(budget=Budget(time=20.0, readings=READINGS // 2))
    for mission in simulate(plan).rehearsal.missions:
        assert 10.0 < mission.time <= 20.0 + 1e-3
        assert 20.0 < mission.distance <= 40.0 + 1e-3


def test_two_who_start_at_one_place_do_not_both_read_there():
    team = (Searcher("anna"), Searcher("ben"))
    done = simulate(plan_of(searchers=team))
    for paths in done.paths:
        first = np.concatenate([path[:3] for path in paths])
        assert len(np.unique(first, axis=0)) == len(first) == 6


def test_one_that_can_go_nowhere_from_the_start_of_another_does_not_read():
    team = (Searcher("anna", STARTS["anna"]), Searcher("ben", STARTS["anna"], distance=0.1))
    (path,) = simulate(plan_of(searchers=team), missions=1).paths[0]
    assert len(path) == READINGS // 2


def longest_legs(paths, readings, distance):
    """Return the longest leg of each path in shares of the way for each reading that was left."""
    for path in paths:
        legs = np.linalg.norm(np.diff(path, axis=0), axis=1)
        gone = np.cumsum(legs) - legs
        left = readings - 1 - np.arange(len(legs))
        yield np.max(legs / np.maximum((distance - gone) / left, SHORTEST_LEG))


@cache
def far_plan(number):
    """With this number of searchers."""
    return plan_of(budget=Budget(readings=READINGS // 2, distance=30.0)).with_searchers(number)


@cache
def far_missions(number):
    return simulate(far_plan(number))


def test_a_team_stops_on_far_ways_and_one_searcher_does_not():
    """Nobody in a team goes farther without a reading than 1.5 legs."""
    shares = {}
    for number in (1, 2):
        paths = [path for paths in far_missions(number).paths for path in paths]
        shares[number] = max(longest_legs(paths, READINGS // 2, 30.0))
    assert shares[2] <= 1.5 + 1e-3 < shares[1]


def test_the_missions_are_those_of_one_searcher():
    """The same seed gives the same sources to any team, and the same mission again."""
    one, two, again = (run.rehearsal for run in (far_missions(1), far_missions(2), simulate(far_plan(2))))
    assert [a.source for a in one.missions] == [b.source for b in two.missions]
    assert two.missions == again.missions
    assert (one.searchers, two.searchers) == (1, 2)


def test_more_than_the_site_has_are_like_the_site():
    plan = plan_of()
    three = plan.with_searchers(3)
    assert list(three.searchers) == ["anna", "ben", "3"]
    assert three.searchers["3"].reach is plan.reach
    assert three.stations.searchers == ("anna", "ben", "3")
    single = plan.with_searchers(1)
    assert (single.searchers, single.start) == ({}, STARTS["anna"])
    assert "searcher" not in single.stations.names
    fast = three.with_speed(9.0)
    assert {one.reach.speed for one in fast.searchers.values()} == {9.0}
    assert fast.searchers["3"].reach is fast.reach
