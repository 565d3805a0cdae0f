"""Simulated searches by a team: each has its own place, clock and budget, and all have one belief."""

from functools import cache

import numpy as np
from made_missions import MODEL
from made_teams import STARTS, team_site

from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.mission.plan import Plan
from dowsax.site.schema import Budget, SearchSetting
from dowsax.site.searcher import Searcher

NEVER = SearchSetting.model_construct(preset="plain", particles=256, radius=1e-6)
"""A stop that cannot be reached."""
SHORTEST_LEG = np.hypot(20.0, 20.0) / 16
"""[m], a share of the diagonal of the area."""
FIND = SearchSetting.model_construct(preset="plain", particles=256, radius=1.5)
POLICY = "location-gain"
CHEAPEST = "random"
"""For what no policy changes: its programs compile fastest."""


def plan_of(**changes):
    return Plan.of(team_site(**changes), MODEL)


def simulate(plan, policy=POLICY, missions=2):
    return rehearse(plan, RehearsalConfig(missions, 0.0, 5), plan.site_policy(policy))


def test_each_has_its_own_start_speed_and_budget():
    """The fast one reads more often; each ends with the readings of its own budget."""
    team = (
        Searcher("anna", STARTS["anna"], readings=4),
        Searcher("ben", STARTS["ben"], speed=4.0, readings=6),
    )
    plan = plan_of(searchers=team, search=NEVER, budget=Budget(readings=10))
    done = simulate(plan, CHEAPEST)
    for mission, paths in zip(done.rehearsal.missions, done.paths, strict=True):
        assert mission.status == "inconclusive"
        assert mission.readings == 10
        assert [len(path) for path in paths] == [4, 6]
        assert [tuple(path[0].tolist()) for path in paths] == list(STARTS.values())
    assert done.rehearsal.searchers == 2


def test_the_time_is_that_of_the_clock_and_the_way_that_of_all():
    """With time as the only budget, nobody reads later than that, and both use it."""
    plan = plan_of(search=NEVER, budget=Budget(time=20.0))
    for mission in simulate(plan, CHEAPEST).rehearsal.missions:
        assert 10.0 < mission.time <= 20.0 + 1e-3
        assert 20.0 < mission.distance <= 40.0 + 1e-3


def test_two_who_start_at_one_place_do_not_both_read_there():
    team = (Searcher("anna"), Searcher("ben"))
    done = simulate(plan_of(searchers=team, search=NEVER, budget=Budget(readings=3)))
    for paths in done.paths:
        path = np.concatenate(paths)
        assert len(np.unique(path, axis=0)) == len(path) == 6


def test_one_that_can_go_nowhere_from_the_start_of_another_does_not_read():
    team = (Searcher("anna", STARTS["anna"]), Searcher("ben", STARTS["anna"], distance=0.2))
    done = simulate(plan_of(searchers=team, search=FIND, budget=Budget(readings=3)), missions=1)
    (path,) = done.paths[0]
    assert 1 <= len(path) <= 3


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
    return plan_of(search=NEVER, budget=Budget(readings=20, distance=60.0)).with_searchers(number)


@cache
def far_missions(number):
    return simulate(far_plan(number))


def test_a_team_stops_on_far_ways_and_one_searcher_does_not():
    """Nobody in a team goes farther without a reading than 1.5 legs."""
    shares = {}
    for number in (1, 2):
        paths = [path for paths in far_missions(number).paths for path in paths]
        shares[number] = max(longest_legs(paths, 20, 60.0))
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
