"""A policy that looks ahead with its value: what it expects after each move, and what it makes of it."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks.value_lookahead import DISCOUNT, Ahead, returns, row
from dowsax.envs.problem import assemble
from dowsax.evaluate.metrics import Ends
from dowsax.policies.networks import ActorCriticOutput
from dowsax.policies.neural import Neural
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, Model

HERE = Station(jnp.float32([10.0, 10.0]))
NORTH = 2


class Place(eqx.Module):
    """A sight of the place alone."""

    model: Model

    def __call__(self, key, belief, station):
        del key, belief
        return station.position


class East(eqx.Module):
    """Finds the north appealing, and the east worth going to."""

    def __call__(self, seen):
        return ActorCriticOutput(jnp.zeros(4).at[NORTH].set(1.0), seen[0] / 20)


@pytest.fixture(scope="module")
def search():
    return assemble(particles=64, max_readings=4).search


@pytest.fixture(scope="module")
def belief(search):
    return search.prepare(jax.random.key(0)).belief


def _ahead(search, weight: float) -> Ahead:
    return Ahead(Neural(Place(search.model), East()), weight, num_readings=4, num_particles=32)


def test_the_value_is_that_of_the_place_one_move_ahead(search, belief):
    """Discounted once, whatever is read, as long as no reading would end the search."""
    found = eqx.filter_jit(_ahead(search, 1.0).values)(jax.random.key(1), belief, HERE)
    places = [FOUR_MOVES(HERE.position, jnp.int32(action))[0] / 20 for action in range(4)]
    np.testing.assert_allclose(found, DISCOUNT * np.array(places), rtol=1e-6)


def test_a_belief_that_ends_the_search_is_worth_one(search, belief):
    sure = eqx.tree_at(lambda one: one.particles, belief, belief.particles.at[:, :2].set(7.0))
    found = eqx.filter_jit(_ahead(search, 1.0).values)(jax.random.key(1), sure, HERE)
    np.testing.assert_array_equal(found, np.ones(4))


@pytest.mark.parametrize(("weight", "goes"), [(0.0, [0, 1]), (1e3, [1, 0])], ids=["logits", "value"])
def test_the_weight_decides_who_is_followed(search, belief, weight, goes):
    """The value of one metre east is a twentieth: 50 nats with the greater weight, against one."""
    action = eqx.filter_jit(_ahead(search, weight))(jax.random.key(2), belief, HERE)
    np.testing.assert_allclose(FOUR_MOVES(HERE.position, action) - HERE.position, goes, atol=1e-6)


def test_what_a_search_was_worth():
    """A stop after the first move is worth one, a search without a stop nothing."""
    numbers = np.array([2, 4, 200])
    end = Ends(np.array([True, True, False]), numbers, numbers - 1.0, np.zeros(3), np.ones(3))
    np.testing.assert_allclose(returns(end), [1.0, DISCOUNT**2, 0.0])
    earlier = end._replace(reading=numbers - np.array([0, 1, 0]), path_length=end.path_length - [0, 1, 0])
    told = row("better", earlier, end)
    assert told[3].startswith("-0.50 [")
    gain = float(told[4].split()[0])
    assert gain == pytest.approx((DISCOUNT - DISCOUNT**2) / 3, abs=6e-5)
    assert math.isfinite(gain)
