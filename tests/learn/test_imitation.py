"""Imitation of a teacher whose choices are known, on observations that tell them."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from dowsax.learn import imitation
from dowsax.learn.imitation import Mixture, TaughtObservation
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout, Transitions
from dowsax.policies.candidate_network import CandidateNetwork, CandidateSizes
from dowsax.policies.encoders import CandidateObservation

NUM_SEARCHES, NUM_PLACES, LENGTH = 16, 5, 8
CONFIG = PPOConfig(learning_rate=0.01, entropy_weight=0.0, final_entropy_weight=0.0, minibatches=2)
UPDATES = 12
SIZES = CandidateSizes(2, 1, width=16, particle_width=8)


class Count(NamedTuple):
    ended: Array


def observe(key):
    """The teacher takes the candidate with the largest first feature."""
    features_key, place_key = jax.random.split(key)
    features = jax.random.normal(features_key, (NUM_PLACES, 2))
    free = jnp.arange(NUM_PLACES) > 0
    logits = jnp.where(free, 5 * features[:, 0], -1e9)
    observation = CandidateObservation(
        features,
        jnp.zeros(1),
        free,
        jax.random.normal(place_key, (NUM_PLACES, 2)),
        jnp.ones((3, 2)),
        jnp.zeros((NUM_PLACES, 3)),
    )
    return TaughtObservation(observation, jax.nn.log_softmax(logits))


def init(key):
    del key
    return jnp.zeros(NUM_SEARCHES)


def run(key, network, searches):
    """Every step is a new observation; a reward for nothing."""
    keys = jax.random.split(key, (LENGTH, NUM_SEARCHES))
    observation = jax.vmap(jax.vmap(observe))(keys)
    output = jax.vmap(jax.vmap(network))(observation)
    shape = (LENGTH, NUM_SEARCHES)
    zeros, no = jnp.zeros(shape), jnp.zeros(shape, bool)
    steps = Transitions(
        observation,
        jnp.argmax(output.logits, axis=-1).astype(jnp.int32),
        zeros,
        output.value,
        zeros,
        zeros,
        no,
        no,
        ~no,
    )
    return searches, steps, Count(jnp.zeros((), jnp.int32))


def imitator(held_out):
    build = lambda key: CandidateNetwork.build(key, SIZES)  # noqa: E731
    total = UPDATES * LENGTH * NUM_SEARCHES
    return imitation.build(Rollout(init, run), build, CONFIG, total_steps=total, held_out=held_out)


@pytest.fixture(scope="module")
def infos():
    learner = imitator(np.arange(NUM_SEARCHES) >= 12)
    state, found = jax.jit(learner.init)(jax.random.key(0)), []
    update = eqx.filter_jit(learner.update)
    for number in range(UPDATES):
        state, info = update(jax.random.key(number + 1), state)
        found.append(jax.device_get(info))
    return found


def test_the_network_learns_what_the_teacher_would_do(infos):
    """Also on the searches that are held out, which it has not learned from."""
    assert all(info.healthy for info in infos)
    assert infos[-1].divergence < 0.5 * infos[0].divergence
    assert infos[-1].held_divergence < 0.5 * infos[0].held_divergence
    assert infos[-1].held_agreement > 0.7 > infos[0].held_agreement


def test_nothing_is_learned_where_all_is_held_out():
    learner = imitator(np.ones(NUM_SEARCHES, bool))
    state = jax.jit(learner.init)(jax.random.key(0))
    after, _ = eqx.filter_jit(learner.update)(jax.random.key(1), state)
    for leaf, other in zip(jax.tree.leaves(after.network), jax.tree.leaves(state.network), strict=True):
        np.testing.assert_array_equal(leaf, other)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_a_mixture_has_the_share_of_each(share, key):
    network = CandidateNetwork.build(key, SIZES)
    observation = observe(key)
    found = jax.nn.softmax(Mixture(network, jnp.float32(share))(observation).logits)
    own = jax.nn.softmax(network(observation.observation).logits)
    np.testing.assert_allclose(found, share * jnp.exp(observation.log_probs) + (1 - share) * own, atol=1e-5)
    np.testing.assert_allclose(jnp.sum(found), 1.0, rtol=1e-5)
    assert found[0] == 0.0
