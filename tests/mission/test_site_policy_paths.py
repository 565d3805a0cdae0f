"""Choosing among open paths: where the plume must pass, and only by policies that need no way."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest
from made_plume_sites import SITE

from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.mission.decision import budget_left
from dowsax.mission.plan import Plan
from dowsax.mission.problem import build_problem
from dowsax.mission.site_policy import PATH_POLICIES, oracle_policy
from dowsax.site import parse_site

SMALL = SITE.replace(
    "wind =",
    'search = {preset = "default", particles = 64}\nbudget = {readings = 3}\n'
    "step = {reading_time = 20}\nwind =",
    1,
)
PATHS = '[[paths]]\nname = "{}"\nends = [[{}, 5], [{}, 75]]\n'
BESIDE = PATHS.format("west", 2, 2) + PATHS.format("east", 110, 110)


@pytest.fixture(scope="module")
def plan():
    return Plan.of(parse_site(SMALL + BESIDE))


@pytest.mark.parametrize("name", ["location-gain", "infotaxis"])
def test_a_planner_reads_downwind_of_where_the_source_may_be(plan, name):
    """In a west wind no source but those of the westernmost metres shows on the western path."""
    policy = plan.site_policy(name)
    problem = build_problem(plan, policy)
    state = problem.prepare(jax.random.key(1))
    for wind, expected in (([2.0, 0.0], "east"), ([-2.0, 0.0], "west")):
        blown = replace(state.station, wind=jnp.asarray(wind))
        choice = policy.choose(jax.random.key(2), state.belief, blown, plan.middle, budget_left(plan))
        assert choice.path.name == expected
        assert choice.position == choice.path.ends[0]


@pytest.mark.slow
def test_rehearsals_read_along_the_paths_and_go_nowhere(plan):
    """Three readings of 20 s each, no way, at the middles of the paths."""
    policy = plan.site_policy("random")
    done = rehearse(plan, RehearsalConfig(missions=2, without_source=0.5, seed=3), policy, threads=1)
    for mission, [places] in zip(done.rehearsal.missions, done.paths, strict=True):
        assert mission.distance == 0.0
        assert mission.time == 20.0 * mission.readings
        assert {tuple(place) for place in places.tolist()} <= {(2.0, 40.0), (110.0, 40.0)}
        assert places[0].tolist() == [2.0, 40.0]


def test_policies_that_go_from_place_to_place_are_refused(plan):
    for name in ("location-gain-2", "space-aware", "surge-cast", "infotaxis-2", "oracle-straight"):
        with pytest.raises(ValueError, match="a path is read from where it stands: choose location-gain"):
            plan.site_policy(name)
    assert [plan.site_policy(name).actions.num_actions for name in PATH_POLICIES] == [2] * len(PATH_POLICIES)
    assert oracle_policy(plan.model, plan.reach, plan.radius).actions.num_actions == 2
