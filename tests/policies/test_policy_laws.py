"""What holds for every policy, whatever it wants."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import made_choices
import numpy as np
import pytest
from made_beliefs import walk_belief

from dowsax.policies import POLICIES, Lookahead, Oracle
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, benchmark_model

MODEL = benchmark_model("temperature")
THETA = jnp.array([13.0, 9.5, 800.0, 1.0, -0.5, 2.0, 3.0])
NAMES = list(POLICIES)
NUM_KEYS = 128
MIDDLE = jnp.array([7.3, 11.6])
# Corners, borders, and less than a move away from them.
EDGES = [[0, 0], [25, 25], [0, 25], [0.4, 12], [24.7, 3], [9, 0.2], [17, 25], [24.6, 24.8]]

# The square's reflections and the swap along its diagonal, which together make all of its symmetries.
SIDE = 25.0
SYMMETRIES = {
    "east-west": (np.diag([-1.0, 1.0]), np.array([SIDE, 0.0])),
    "north-south": (np.diag([1.0, -1.0]), np.array([0.0, SIDE])),
    "diagonal": (np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2)),
}


@functools.cache
def program(name):
    """(keys, belief, position, theta) -> actions, and expected utilities for a planner; compiled once."""
    made = POLICIES[name](MODEL, FOUR_MOVES)

    def act(key, belief, position, theta):
        policy, station = made.policy_for(theta) if isinstance(made, Oracle) else made, Station(position)
        action = made_choices.act(policy, key, belief, station)
        # With the key that the policy itself judges with, so that the compiler finds the same thing twice.
        utility_key, _ = jax.random.split(key)
        return action, made_choices.utilities(policy, utility_key, belief, station) if isinstance(
            policy, Lookahead
        ) else None

    return jax.jit(jax.vmap(act, in_axes=(0, None, None, None)))


@pytest.fixture(scope="module")
def belief():
    return walk_belief(3)


def mirrored(symmetry, belief, position, theta):
    """The mirror image of a search, and the number of each move in it."""
    matrix, shift = (jnp.asarray(part, jnp.float32) for part in symmetry)
    place = lambda at: at @ matrix.T + shift  # noqa: E731
    source = lambda row: jnp.concatenate([place(row[:2]), row[2:3], matrix @ row[3:5], row[5:]])  # noqa: E731
    walk = jax.vmap(place)(belief.history.stations.position)
    particles = jax.vmap(source)(belief.particles)
    belief = eqx.tree_at(lambda b: (b.particles, b.history.stations.position), belief, (particles, walk))
    moves = np.array(FOUR_MOVES.moves)
    image = [int(np.argmin(np.sum((moves - move) ** 2, axis=1))) for move in moves @ np.asarray(matrix).T]
    return belief, place(position), source(theta), image


@pytest.mark.slow_after(4)
@pytest.mark.parametrize("name", NAMES)
def test_actions_are_real_moves(name, key, belief):
    """In range at every border, and never a move cut short."""
    for edge_key, edge in zip(jax.random.split(key, len(EDGES)), EDGES, strict=True):
        position = jnp.array(edge, jnp.float32)
        actions, _ = program(name)(jax.random.split(edge_key, NUM_KEYS), belief, position, THETA)
        assert actions.dtype == jnp.int32
        assert ((actions >= 0) & (actions < FOUR_MOVES.num_actions)).all()
        assert FOUR_MOVES.free(position)[actions].all()


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("name", NAMES)
def test_a_belief_without_particles_still_moves(name, key, belief):
    belief = eqx.tree_at(lambda b: b.log_weights, belief, jnp.full_like(belief.log_weights, -jnp.inf))
    actions, _ = program(name)(jax.random.split(key, NUM_KEYS), belief, jnp.zeros(2), THETA)
    assert FOUR_MOVES.free(jnp.zeros(2))[actions].all()


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("name", NAMES)
def test_the_key_decides(name, key, belief):
    """The same key, belief and station give the same action, in a batch of any order."""
    keys = jax.random.split(key, NUM_KEYS)
    actions, _ = program(name)(keys, belief, MIDDLE, THETA)
    np.testing.assert_array_equal(actions, program(name)(keys[::-1], belief, MIDDLE, THETA)[0][::-1])


def assert_same_mean(here, there):
    """Of each column, within five standard errors of the difference."""
    error = np.sqrt((here.var(axis=0) + there.var(axis=0)) / NUM_KEYS)
    assert (np.abs(here.mean(axis=0) - there.mean(axis=0)) <= 5 * error + 1e-5).all()


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("name", NAMES)
def test_a_mirrored_search_makes_mirrored_moves(name, symmetry, key, belief):
    """As often, and for a planner with the same mean utility, within five standard errors over keys."""
    here_keys, there_keys = jax.random.split(key, (2, NUM_KEYS))
    mirror, position, theta, image = mirrored(SYMMETRIES[symmetry], belief, MIDDLE, THETA)
    here, utility = program(name)(here_keys, belief, MIDDLE, THETA)
    there, mirrored_utility = program(name)(there_keys, mirror, position, theta)
    assert_same_mean(np.eye(4)[here], np.eye(4)[there][:, image])
    if utility is not None:
        assert_same_mean(np.asarray(utility), np.asarray(mirrored_utility)[:, image])
