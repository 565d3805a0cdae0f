"""Who advises where nobody has chosen: the best policy where it was trained for the site, else a planner."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.envs import MAX_READINGS
from dowsax.geo.polygons import Bounds
from dowsax.inference.belief import empty_history, record
from dowsax.inference.presets import DEFAULT
from dowsax.mission.reach import Reach, Steps
from dowsax.mission.site_policy import SITE_POLICY, build_site_policy, latest
from dowsax.mission.tracker import INITIAL_CAPACITY
from dowsax.policies import Card, build_network, observation_shapes, save
from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.planned import planned_readings
from dowsax.policies.shipped import BEST_POLICY, pretrained_names
from dowsax.policies.stored import ANY_PROBLEM
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, MODALITIES, Budget, benchmark_model, wander

POND = np.array([[7.0, 7.0], [11.0, 7.0], [11.0, 11.0], [7.0, 11.0]])
YARD = Bounds((), (POND,))
SQUARE, SMALL = (FOUR_MOVES.low, FOUR_MOVES.high), ((0.0, 0.0), (9.0, 9.0))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("field", MODALITIES)
def test_is_the_best_policy_at_the_benchmark(field):
    assert BEST_POLICY in pretrained_names()
    assert (
        build_site_policy(benchmark_model(field), Reach(Bounds(), SQUARE, Steps(1.0, 4))).name == BEST_POLICY
    )


@pytest.mark.parametrize(("area", "steps"), [(SQUARE, Steps(2.0, 8)), (SMALL, Steps(1.0, 4))])
def test_is_a_planner_where_steps_or_area_are_others(area, steps):
    assert build_site_policy(benchmark_model("gas"), Reach(Bounds(), area, steps)).name == SITE_POLICY


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
    chosen = build_site_policy(model, Reach(Bounds(), SQUARE, Steps(1.0, 4)))
    candidates = chosen.reach.moves().candidates(path[-1], Budget())
    see = eqx.filter_jit(
        lambda belief: chosen.policy.encoder(choice_key, belief, Station(path[-1]), candidates, Budget())
    )
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


@pytest.mark.parametrize("name", ["infotaxis", SITE_POLICY, "greedy"])
def test_a_choice_can_be_gone_to(name, key):
    """From every corner of a yard with a pond: on an allowed way, within the budget; none where none is."""
    model, reach = benchmark_model("gas"), Reach(YARD, SQUARE, Steps(4.0, 8))
    policy = build_site_policy(model, reach, name, radius=1.0)
    belief = jax.jit(DEFAULT.with_particles(64).build(model).init)(key)
    for number, here in enumerate([(0.5, 0.5), (24.0, 1.0), (6.9, 9.0), (12.0, 24.9)]):
        budget = Budget(5.0, 6.0, 100.0)
        choice = policy.choose(jax.random.fold_in(key, number), belief, Station(jnp.zeros(2)), here, budget)
        assert YARD.allow_way(here, [choice.position])[0]
        assert 0 < math.dist(here, choice.position) <= 6.001
        assert (choice.gain is not None) == (name == SITE_POLICY)
    spent = Budget(5.0, 0.0, 100.0)
    assert policy.choose(key, belief, Station(jnp.zeros(2)), (0.5, 0.5), spent) is None


def test_a_choice_leaves_enough_for_the_way_home(key):
    """Of 4 m, home always straight; none where what is left does not suffice for there and back."""
    home = (0.5, 0.5)
    model, reach = benchmark_model("gas"), Reach(YARD, SQUARE, Steps(4.0, 8), shortest=3.5, home=home)
    policy = build_site_policy(model, reach, "random", radius=1.0)
    belief = jax.jit(DEFAULT.with_particles(64).build(model).init)(key)
    for number, left in enumerate((60.0, 22.0, 7.0) * 5):
        choice_key = jax.random.fold_in(key, number)
        choice = policy.choose(choice_key, belief, Station(jnp.zeros(2)), (12.0, 2.0), Budget(5.0, left))
        assert (choice is None) == (left == 7.0)
        if choice is not None:
            assert math.dist((12.0, 2.0), choice.position) == pytest.approx(4.0, abs=1e-4)
            assert 4.0 + math.dist(choice.position, home) <= left + 2e-3
            assert YARD.allow_way(home, [choice.position])[0]


def test_points_are_for_planners():
    reach = Reach(Bounds(), SQUARE, points=((1.0, 1.0), (9.0, 9.0)))
    assert build_site_policy(benchmark_model("gas"), reach, "infotaxis").actions.num_actions == 2
    with pytest.raises(ValueError, match="only planners can choose"):
        build_site_policy(benchmark_model("gas"), reach, "greedy")
    with pytest.raises(ValueError, match="needs the true source"):
        build_site_policy(benchmark_model("gas"), Reach(Bounds(), SQUARE, Steps(1.0, 4)), "oracle-straight")


@pytest.fixture
def scorer(tmp_path):
    """The file of an untrained network that scores candidates, for any problem."""
    model, actions = benchmark_model("gas"), Reach(Bounds(), SMALL, Steps(1.0, 4)).near_and_far(1.0)
    sizes = {"num_particles": 4, "num_readings": 2, "num_reweighted": 16}
    encoder = CandidateEncoder.build(model, actions, 1.0, **sizes)
    network = build_network(jax.random.key(0), observation_shapes(encoder, model, actions))
    path = tmp_path / "any.safetensors"
    save(path, network, Card("candidates", sizes, fields=(ANY_PROBLEM,)))
    return str(path)


def test_a_network_of_candidates_chooses_near_and_far(scorer, key):
    """At any site, without a warning, and with the readings on the way of each reach."""
    model, reach = benchmark_model("gas"), Reach(YARD, SQUARE, Steps(2.0, 8), reading_interval=1.0)
    chosen = build_site_policy(model, reach, scorer, 2.0)
    assert chosen.actions.num_actions == reach.near_and_far(2.0).num_actions
    assert chosen.policy.encoder.radius == 2.0
    assert chosen.policy.encoder.planner.way_readings == reach.way_readings
    other = chosen.of_reach(Reach(Bounds(), SMALL, Steps(1.0, 4)), 1.0)
    assert other.policy.encoder.planner.way_readings is None
    belief = jax.jit(DEFAULT.with_particles(64).build(model).init)(key)
    pending = planned_readings([(3.0, 3.0)], room=2)
    choice = other.choose(key, belief, Station(jnp.array([2.0, 2.0])), (2.0, 2.0), Budget(), pending)
    assert choice is not None
    assert not reach.is_outside(choice.position)


def test_a_network_of_candidates_refuses_several_sources(scorer):
    model = benchmark_model("gas", sources=2)
    with pytest.raises(ValueError, match="one source: choose location-gain for several"):
        build_site_policy(model, Reach(Bounds(), SMALL, Steps(1.0, 4)), scorer)
