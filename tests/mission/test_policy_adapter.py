"""Who advises where nobody has chosen: the best policy where it was trained for the site, else a planner."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.envs import MAX_READINGS
from dowsax.geo.polygons import Bounds
from dowsax.inference.belief import empty_history, record
from dowsax.inference.presets import DEFAULT
from dowsax.mission.reach import ActionSpace, Steps
from dowsax.mission.site_policy import build_site_policy, latest
from dowsax.mission.tracker import INITIAL_CAPACITY
from dowsax.policies.shipped import BEST_POLICY, pretrained_names
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, MODALITIES, benchmark_model, wander

SQUARE, SMALL = (FOUR_MOVES.low, FOUR_MOVES.high), ((0.0, 0.0), (9.0, 9.0))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("field", MODALITIES)
def test_is_the_best_policy_at_the_benchmark(field):
    assert BEST_POLICY in pretrained_names()
    assert (
        build_site_policy(benchmark_model(field), ActionSpace(Bounds(), SQUARE, Steps(1.0, 4))).name
        == BEST_POLICY
    )


@pytest.mark.parametrize(("area", "steps"), [(SQUARE, Steps(2.0, 8)), (SMALL, Steps(1.0, 4))])
def test_is_a_planner_where_steps_or_area_are_others(area, steps):
    assert build_site_policy(benchmark_model("gas"), ActionSpace(Bounds(), area, steps)).name == "infotaxis"


def history_of(path, room):
    history = empty_history(Station(path[0]), room)
    return jax.jit(
        lambda: jax.lax.fori_loop(
            0, len(path), lambda at, so_far: record(so_far, Station(path[at]), 1.0 * at), history
        )
    )()


def test_a_policy_looks_back_as_far_as_in_a_search(key):
    """Whatever room a mission has for readings, the policy sees what it would see in a search."""
    belief_key, path_key, choice_key = jax.random.split(key, 3)
    model = benchmark_model("gas")
    belief = jax.jit(DEFAULT.with_particles(64).build(model).init)(belief_key)
    path = wander(path_key, 30)
    adapter = build_site_policy(model, ActionSpace(Bounds(), SQUARE, Steps(1.0, 4)))
    see = eqx.filter_jit(lambda belief: adapter.policy.encoder(choice_key, belief, Station(path[-1])))
    in_search, in_mission = (
        eqx.tree_at(lambda at: at.history, belief, history_of(path, room))
        for room in (MAX_READINGS, INITIAL_CAPACITY)
    )
    expected, seen = see(in_search), see(jax.jit(latest, static_argnums=1)(in_mission, MAX_READINGS))
    for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(seen), strict=True):
        np.testing.assert_array_equal(one, other)


def test_of_a_longer_mission_the_newest_readings_are_left(key):
    path = wander(key, 30)
    belief = jax.jit(DEFAULT.with_particles(64).build(benchmark_model("gas")).init)(key)
    long = eqx.tree_at(lambda at: at.history, belief, history_of(path, 64))
    newest = jax.jit(latest, static_argnums=1)(long, 8).history
    assert int(newest.size) == 8
    np.testing.assert_array_equal(newest.readings, jnp.arange(22.0, 30.0))
    np.testing.assert_array_equal(newest.stations.position, path[-8:])
    assert latest(long, 64) is long
