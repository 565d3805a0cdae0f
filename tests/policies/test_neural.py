"""A network as a policy: the same in every mirror, and never out of the area."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import walk_belief
from made_choices import act, inputs
from mirrors import MATRICES, mirrored

from dowsax.policies import MomentEncoder, Neural, ParticleEncoder, build_network, observation_shapes
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, benchmark_model

MODEL = benchmark_model("temperature")
HERE = jnp.array([7.25, 11.5])
NUM_KEYS = 1000


@eqx.filter_jit
def opinionated(key, shapes):
    """A network with strong preferences: an untrained one has next to none."""
    network = build_network(key, shapes)
    return jax.tree.map(lambda leaf: leaf + 0.3 * jax.random.normal(key, leaf.shape), network)


@pytest.fixture(scope="module")
def policies():
    sights = {
        "moments": MomentEncoder.build(MODEL),
        "particles": ParticleEncoder.build(MODEL, num_particles=16),
    }
    key = jax.random.key(5)
    return {
        name: Neural(encoder, opinionated(key, observation_shapes(encoder, MODEL)))
        for name, encoder in sights.items()
    }


@eqx.filter_jit
def evaluate(policy, key, belief, position):
    """The odds of the actions as the policy has them with this key, and its choice."""
    observation_key, _ = jax.random.split(key)
    observation = policy.encoder(observation_key, *inputs(belief, Station(position)))
    return policy.network(observation), act(policy, key, belief, Station(position))


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("matrix", MATRICES, ids=range(8))
def test_a_mirrored_search_makes_mirrored_moves(matrix, policies, key):
    """The same odds and value to rounding, and the same choice, for several beliefs."""
    policy = policies["particles"]
    for seed in range(3):
        belief = walk_belief(seed)
        mirror, there, image = mirrored(matrix, belief, HERE)
        (logits, value), action = evaluate(policy, key, belief, HERE)
        (other_logits, other_value), other_action = evaluate(policy, key, mirror, there)
        np.testing.assert_allclose(logits, other_logits[jnp.array(image)], rtol=1e-3, atol=1e-2)
        np.testing.assert_allclose(value, other_value, rtol=1e-3, atol=1e-2)
        assert image[int(action)] == int(other_action)


def test_odds_differ_so_that_the_test_above_says_something(policies, key):
    (logits, _), _ = evaluate(policies["particles"], key, walk_belief(0), HERE)
    assert np.diff(np.sort(np.asarray(logits))).min() > 0.1


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("name", ["moments", "particles"])
@pytest.mark.parametrize("position", [(0.0, 0.0), (25.0, 25.0), (0.4, 12.0), (24.6, 24.8)])
def test_a_move_cut_short_is_never_chosen(name, position, policies, key):
    """Neither the best action nor a drawn one leaves the area, whatever is believed."""
    free, dead = FOUR_MOVES.free(jnp.array(position)), jnp.full(walk_belief(0).log_weights.shape, -jnp.inf)
    for belief in (walk_belief(0), eqx.tree_at(lambda b: b.log_weights, walk_belief(1), dead)):
        (logits, _), action = evaluate(policies[name], key, belief, jnp.array(position))
        assert free[action]
        assert ((jax.nn.softmax(logits) > 0) <= free).all()


def test_samples_follow_the_odds(policies, key):
    """Shares of drawn actions within five standard errors; the best action otherwise, under every key."""
    choose_best, belief = policies["moments"], walk_belief(0)
    drawing = Neural(choose_best.encoder, choose_best.network, sample=True)
    one = lambda policy, key: act(policy, key, belief, Station(HERE))  # noqa: E731
    choose = eqx.filter_jit(eqx.filter_vmap(one, in_axes=(None, 0)))
    keys = jax.random.split(key, NUM_KEYS)
    (logits, _), action = evaluate(choose_best, key, belief, HERE)
    probabilities = np.asarray(jax.nn.softmax(logits))
    drawn = choose(drawing, keys)
    assert drawn.dtype == action.dtype == jnp.int32
    shares = np.bincount(drawn, minlength=4) / NUM_KEYS
    error = 5 * np.sqrt(probabilities * (1 - probabilities) / NUM_KEYS)
    assert (np.abs(shares - probabilities) <= error + 1e-6).all()
    assert (choose(choose_best, keys) == np.argmax(logits)).all()
