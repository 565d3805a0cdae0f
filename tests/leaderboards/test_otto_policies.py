"""Costs of moves in the olfactory search, each from one belief after one reading at a time."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.leaderboards.otto import CASES
from dowsax.leaderboards.otto_policies import infotaxis, planner, space_aware
from dowsax.leaderboards.otto_search import look_ahead

SMALL = CASES[0]


def test_the_costs_are_those_of_their_definitions():
    belief = np.random.default_rng(1).dirichlet(np.full(361, 0.1)).reshape(19, 19)
    place, belief = jnp.array([9, 9]), jnp.asarray(belief, jnp.float32)
    after = look_ahead(SMALL, belief, place)
    entropy, aware = np.zeros(4), np.zeros(4)
    for move in range(4):
        x, y = after.places[move]
        distance = np.abs(np.arange(19) - x)[:, None] + np.abs(np.arange(19) - y)[None]
        for joint in np.asarray(after.joint[move], float):
            chance, posterior = joint.sum(), joint / joint.sum()
            bits = -np.sum(posterior[posterior > 0] * np.log2(posterior[posterior > 0]))
            entropy[move] += chance * bits
            aware[move] += chance * math.log2((posterior * distance).sum() + 2 ** (bits - 1) - 0.5)
    np.testing.assert_allclose(infotaxis(SMALL, belief, place, after), entropy, rtol=1e-5)
    np.testing.assert_allclose(space_aware(SMALL, belief, place, after), aware, rtol=1e-5)


@pytest.mark.parametrize("policy", [space_aware, planner])
@pytest.mark.parametrize(("source", "moves"), [((2, 9), {0}), ((9, 10), {3}), ((12, 5), {1, 2})])
def test_a_known_source_is_walked_to(policy, source, moves):
    belief, place = jnp.zeros((19, 19)).at[source].set(1.0), jnp.array([9, 9])
    costs = policy(SMALL, belief, place, look_ahead(SMALL, belief, place))
    assert int(jnp.argmin(costs)) in moves
