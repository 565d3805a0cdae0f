"""The networks: what they must not depend on, and what they never choose."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.policies.encoders import MomentObservation, ParticleObservation
from dowsax.policies.layers import MASKED_LOGIT, mask_logits
from dowsax.policies.networks import (
    PaperSizes,
    SetNetwork,
    SetSizes,
    build_network,
)

JUDGE = eqx.filter_jit(lambda network, observation: network(observation))
ALL = jnp.ones(4, bool)


def particle_observation(key, order=(0, 1, 2, 3), free=ALL):
    particles_key, numbers_key = jax.random.split(key)
    particles = jax.random.normal(particles_key, (16, 10))
    return ParticleObservation(particles, jax.random.normal(numbers_key, (239,)), jnp.array(order), free)


def seen_moments(key, free=ALL):
    return MomentObservation(jax.random.uniform(key, (17,), minval=-1.0), free)


def num_weights(network):
    return sum(leaf.size for leaf in jax.tree.leaves(network))


@functools.cache
def made(see):
    """A network for an observation."""
    return eqx.filter_jit(build_network)(jax.random.key(1), see(jax.random.key(2)))


@pytest.fixture
def network():
    return made(particle_observation)


def test_the_order_of_the_particles_is_of_no_account(network, key):
    """Within the rounding of a sum of 16 numbers and two layers."""
    observation = particle_observation(key)
    shuffled = observation._replace(particles=jax.random.permutation(key, observation.particles))
    for here, there in zip(JUDGE(network, observation), JUDGE(network, shuffled), strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-5)


def test_actions_are_answered_for_in_their_own_order(network, key):
    straight = JUDGE(network, particle_observation(key))
    turned = JUDGE(network, particle_observation(key, order=(2, 3, 1, 0)))
    np.testing.assert_array_equal(turned.logits, straight.logits[jnp.array([2, 3, 1, 0])])
    np.testing.assert_array_equal(turned.value, straight.value)


@pytest.mark.parametrize("see", [particle_observation, seen_moments])
def test_a_move_cut_short_has_no_probability(see, key):
    free = jnp.array([True, False, True, False])
    observation = see(key, free=free)
    network = made(see)
    logits, value = JUDGE(network, observation)
    probabilities = jax.nn.softmax(logits)
    np.testing.assert_array_equal(probabilities > 0, free)
    # What a learner makes of the logits stays finite.
    entropy = -jnp.sum(probabilities * jax.nn.log_softmax(logits))
    assert jnp.isfinite(entropy) & jnp.isfinite(value)
    gradient = eqx.filter_jit(eqx.filter_grad(lambda net: jax.nn.log_softmax(net(observation).logits)[0]))(
        network
    )
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_where_no_move_fits_all_count():
    np.testing.assert_array_equal(mask_logits(jnp.arange(4.0), ~ALL), jnp.arange(4.0))
    np.testing.assert_array_equal(
        mask_logits(jnp.arange(4.0), ALL.at[2].set(False)), [0.0, 1.0, MASKED_LOGIT, 3.0]
    )


@pytest.mark.parametrize("see", [particle_observation, seen_moments])
def test_an_untrained_network_prefers_nothing(see, key):
    """Small weights in the last layer: the odds of two actions differ by a few per cent at the most."""
    logits, value = JUDGE(made(see), see(key))
    assert np.ptp(np.asarray(logits)) < 0.2
    assert jnp.isfinite(value)


def test_networks_are_built_of_shapes_and_are_small(key):
    """The paper's two networks, 17-64-64-4 and 17-64-64-1; the set network is below 500 kB."""
    paper = eqx.filter_eval_shape(build_network, key, jax.eval_shape(seen_moments, key))
    hidden = 17 * 64 + 64 + 64 * 64 + 64
    assert num_weights(paper) == 2 * hidden + 64 * 4 + 4 + 64 + 1
    assert paper.sizes == PaperSizes(17, 4)
    network = eqx.filter_eval_shape(build_network, key, jax.eval_shape(particle_observation, key))
    assert isinstance(network, SetNetwork)
    assert network.sizes == SetSizes(10, 239, 4)
    assert 4 * num_weights(network) < 500_000
