"""Rehearsals at several heights: of one searcher, of a team, and of the oracle."""

import pytest
from made_heights import HEIGHTS, MODEL, tall_site

from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import oracle_policy
from dowsax.site.schema import Budget, SearchSetting
from dowsax.site.searcher import Searcher
from dowsax.site.sensor import SensorSetting

SEARCH = SearchSetting.model_construct(preset="default", particles=256, radius=1.5)
NEVER = SearchSetting.model_construct(preset="plain", particles=256, radius=1e-6)


def rehearsed(plan, policy=None, missions=6):
    return rehearse(plan, RehearsalConfig(missions, 0.0, 5), policy)


@pytest.mark.slow
def test_a_plume_in_the_air_is_found_by_those_who_may_go_up():
    """Most of eight, and nothing else is taken for it."""
    plan = Plan.of(tall_site(search=SEARCH, budget=Budget(readings=25)), MODEL)
    done = rehearsed(plan, missions=8).rehearsal
    assert done.stopped.count >= 6
    assert done.false_stops.count <= 1


@pytest.mark.slow
def test_one_listed_height_is_the_height_of_the_sensor():
    """The same missions, to the last bit."""
    settings = {"search": NEVER, "budget": Budget(readings=6)}
    listed = Plan.of(tall_site((6.0,), **settings), MODEL)
    usual = Plan.of(tall_site(None, sensor=SensorSetting(height=6.0), **settings), MODEL)
    assert listed.reach.heights == (6.0,)
    assert usual.reach.heights == ()
    by_height, by_sensor = rehearsed(listed, missions=3), rehearsed(usual, missions=3)
    assert by_height.rehearsal.missions == by_sensor.rehearsal.missions


@pytest.mark.slow
@pytest.mark.parametrize("own", [{}, {"heights": (6.0,)}])
def test_climbs_are_way_in_the_missions_of_a_team(own):
    """A way is at least that over ground, and no more where the height stays the same."""
    team = (Searcher("anna", (2.0, 2.0), **own), Searcher("ben", (18.0, 2.0), height=6.0))
    plan = Plan.of(tall_site(searchers=team, search=NEVER, budget=Budget(readings=5)), MODEL)
    assert plan.searchers["anna"].reach.heights == own.get("heights", HEIGHTS)
    done = rehearsed(plan, plan.site_policy("location-gain"), missions=2)
    for mission, paths in zip(done.rehearsal.missions, done.paths, strict=True):
        flat = sum(float(plan.reach.flown_length(path, [0.0] * len(path))) for path in paths)
        assert mission.readings == 10
        if own:
            assert mission.distance == pytest.approx(flat, abs=0.01)
        else:
            # From 1 m to where the plume is.
            assert mission.distance >= flat + 4.0


@pytest.mark.slow
def test_the_oracle_reads_at_the_height_of_the_sensor():
    plan = Plan.of(tall_site(search=SEARCH, budget=Budget(readings=6)), MODEL)
    policy = oracle_policy(plan.model, plan.reach, plan.radius)
    assert policy.reach.levels == ()
    done = rehearsed(plan, policy, missions=2)
    for mission, paths in zip(done.rehearsal.missions, done.paths, strict=True):
        assert mission.distance == pytest.approx(
            plan.reach.flown_length(paths[0], [1.0] * len(paths[0])), abs=0.01
        )
