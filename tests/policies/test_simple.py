"""Walks to a point."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from made_beliefs import as_belief
from made_choices import act

from dowsax.inference.belief import record
from dowsax.policies import Greedy, OracleCircle, OracleStraight, Random
from dowsax.policies.simple import OracleAround
from dowsax.types import Station
from dowsax.world import FOUR_MOVES


def track(key, policy, start, num_moves):
    """The positions after each move of a policy that looks at no readings."""
    belief = as_belief(jnp.zeros((2, 7)))

    def step(position, move_key):
        position = FOUR_MOVES(position, act(policy, move_key, belief, Station(position)))
        return position, position

    return jax.lax.scan(step, start, jax.random.split(key, num_moves))[1]


def test_straight_takes_the_manhattan_number_of_steps(key):
    """From any start that is whole metres away, no sooner and no later."""
    theta = jnp.array([12.25, 9.5, 500.0, 1.0, 0.0, 2.0, 2.0])
    run = jax.jit(lambda key, start: track(key, OracleStraight().policy_for(theta), start, 24))
    for offset in ([5, 3], [-9, 2], [0, -7], [-12, -9], [1, 0]):
        path = np.asarray(run(key, theta[:2] + jnp.array(offset, jnp.float32)))
        distances = np.linalg.norm(path - np.asarray(theta[:2]), axis=1)
        assert np.argmax(distances < 1e-3) + 1 == np.abs(offset).sum()


def test_a_circle_visits_all_places_around_the_source_as_often(key):
    """Nine of them, none left out and none more than twice as often as another, once it has come there."""
    theta = jnp.array([12.25, 9.5, 500.0, 1.0, 0.0, 2.0, 2.0])
    walk, prepared = (
        OracleCircle().policy_for(theta),
        as_belief(jnp.zeros((2, 7)), stations=Station(jnp.zeros((64, 2)))),
    )

    def step(carry, move_key):
        history, position = carry
        history = record(history, Station(position), jnp.zeros(()))
        belief = eqx.tree_at(lambda at: at.history, prepared, history)
        position = FOUR_MOVES(position, act(walk, move_key, belief, Station(position)))
        return (history, position), position

    start = (prepared.history, theta[:2] + jnp.array([6.0, -4.0]))
    path = np.asarray(jax.jit(lambda: jax.lax.scan(step, start, jax.random.split(key, 64))[1])())
    offsets = np.round(path[10:] - np.asarray(theta[:2])).astype(int)
    places, counts = np.unique(offsets, axis=0, return_counts=True)
    assert {tuple(place) for place in places} == {(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)}
    assert counts.max() <= 2 * counts.min()


def test_greedy_goes_to_the_weighted_mean(key):
    """Between two particles of unequal weight: to the mean, not to the middle and not to either."""
    particles = jnp.zeros((2, 7)).at[:, 0].set(jnp.array([4.0, 20.0])).at[:, 1].set(8.0)
    belief = as_belief(particles, jnp.log(jnp.array([0.75, 0.25])))
    choose = jax.jit(lambda east: act(Greedy(), key, belief, Station(jnp.stack([east, jnp.float32(8.0)]))))
    assert int(choose(jnp.float32(6.0))) == 0
    assert int(choose(jnp.float32(10.0))) == 1


def test_random_makes_every_move_that_fits_as_often(key):
    """At a border three moves are left, each a third within five standard errors."""
    belief, station = as_belief(jnp.zeros((2, 7))), Station(jnp.array([0.5, 10.0]))
    actions = jax.jit(jax.vmap(lambda key: act(Random(), key, belief, station)))(jax.random.split(key, 3000))
    shares = np.bincount(actions, minlength=4) / 3000
    expected = np.array([1, 0, 1, 1]) / 3
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / 3000)).all()


def test_walks_go_to_the_position_columns(key):
    """Greedy and all oracles, where the position is in the last two columns, north before east."""
    theta = jnp.array([500.0, 9.5, 12.25])
    stations = Station(jnp.zeros((4, 2)))
    belief = replace(as_belief(theta[None].repeat(2, axis=0), stations=stations), position_columns=(2, 1))
    at = Station(jnp.array([12.25, 4.5]))
    oracles = (OracleStraight(), OracleCircle(), OracleAround(1.0))
    for policy in (Greedy(), *(oracle.policy_for(theta) for oracle in oracles)):
        assert int(act(policy, key, belief, at)) == 2
