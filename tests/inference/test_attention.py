"""Propositions 1 and 2 of the paper, and what masks and permutations must not change."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.inference.attention import (
    AttentionConfig,
    attend,
    dense_attention,
    dropped_mass,
    smooth,
    sparse_attention,
    uniform_mixing,
    widened_attention,
)
from dowsax.inference.features import Standardise, particle_features
from dowsax.inference.neighbours import exact_neighbours, tree_neighbours
from dowsax.inference.projection import MLPProjection
from dowsax.inference.weights import normalise

NUM_PARTICLES = 48
SEARCH = settings(max_examples=30, deadline=None, derandomize=True)
SEEDS = st.integers(0, 2**31 - 1)
SHARES = st.floats(0, 1, width=32)


@jax.jit
def population(seed, scale):
    """Embeddings and log weights of which about a quarter are −∞; the first is always active."""
    embedding_key, weight_key, mask_key = jax.random.split(jax.random.key(seed), 3)
    embeddings = scale * jax.random.normal(embedding_key, (NUM_PARTICLES, 5))
    log_weights = 5 * jax.random.normal(weight_key, (NUM_PARTICLES,))
    active = jax.random.bernoulli(mask_key, 0.75, (NUM_PARTICLES,)).at[0].set(True)
    return embeddings, normalise(jnp.where(active, log_weights, -jnp.inf))


@jax.jit
def compared(embeddings, log_weights, epsilon):
    """Dense and sparse smoothing of the same weights, and the largest mass that sparsity drops."""
    active = log_weights > -jnp.inf
    dense = dense_attention(embeddings, active)
    sparse = sparse_attention(embeddings, exact_neighbours(embeddings, active, 8))
    delta = jnp.max(dropped_mass(dense, sparse), where=active, initial=0.0)
    return smooth(log_weights, dense, epsilon), smooth(log_weights, sparse, epsilon), delta


@SEARCH
@given(SEEDS, st.floats(0, 4, width=32), SHARES)
def test_smoothing_stays_on_the_simplex_and_near_the_dense_one(seed, scale, epsilon):
    """Prop. 1: the result sums to one. Prop. 2: dense and sparse differ by at most 2εδ in the 1-norm.

    Rounding of sums of 48 float32 shares stays below 1e-5.
    """
    embeddings, log_weights = population(seed, jnp.float32(scale))
    dense, sparse, delta = compared(embeddings, log_weights, jnp.float32(epsilon))
    for smoothed in (dense, sparse):
        weights = np.exp(np.asarray(smoothed, np.float64))
        assert abs(weights.sum() - 1) < 1e-5
        assert (weights[~np.isfinite(log_weights)] == 0).all()
    if epsilon < 1:
        assert np.isfinite(np.asarray(sparse)[np.isfinite(log_weights)]).all()
    distance = np.abs(np.exp(np.asarray(dense, np.float64)) - np.exp(np.asarray(sparse, np.float64))).sum()
    assert distance <= 2 * epsilon * float(delta) + 1e-5


@SEARCH
@given(SEEDS, SHARES)
def test_uniform_mixing_is_the_formula_over_active_particles(seed, rho):
    _, log_weights = population(seed, jnp.float32(1))
    weights = np.exp(np.asarray(log_weights, np.float64))
    active = weights > 0
    expected = (1 - rho) * weights + rho * active / active.sum()
    np.testing.assert_allclose(np.exp(uniform_mixing(log_weights, jnp.float32(rho))), expected, atol=1e-6)


def test_smoothing_is_the_matrix_product(key):
    """Against the n × n matrix written out in numpy."""
    embeddings, log_weights = population(7, jnp.float32(1))
    active = np.isfinite(np.asarray(log_weights))
    scores = np.asarray(embeddings, np.float64) @ np.asarray(embeddings, np.float64).T / np.sqrt(5)
    matrix = np.where(active[None, :], np.exp(scores), 0)
    matrix /= matrix.sum(1, keepdims=True)
    weights = np.exp(np.asarray(log_weights, np.float64))
    expected = 0.7 * weights + 0.3 * matrix.T @ weights
    result = smooth(log_weights, dense_attention(embeddings, jnp.asarray(active)), 0.3)
    np.testing.assert_allclose(np.exp(np.asarray(result)), expected, atol=1e-6)


@pytest.mark.parametrize("drop_mass", [0.5, 0.05])
def test_widened_rows_keep_their_promise(drop_mass):
    embeddings, log_weights = population(3, jnp.float32(1))
    active = log_weights > -jnp.inf
    widened = jax.jit(widened_attention, static_argnums=(2, 3))(embeddings, active, 4, drop_mass)
    dropped = np.asarray(dropped_mass(dense_attention(embeddings, active), widened))[np.asarray(active)]
    assert (dropped <= drop_mass + 1e-5).all()
    sizes = np.sum(np.asarray(widened.shares) > 0, axis=1)[np.asarray(active)]
    assert sizes.min() < np.sum(active)
    assert set(sizes) <= {4, 8, 16, 32, int(np.sum(active))}


@pytest.mark.parametrize("search", [exact_neighbours, tree_neighbours], ids=lambda f: f.__name__)
def test_attention_is_equivariant_and_blind_to_the_masked(search, key):
    """Permuting particles permutes the result; the values of inactive particles change nothing."""
    particle_key, order_key = jax.random.split(key)
    particles = jax.random.normal(particle_key, (NUM_PARTICLES, 4))
    log_likelihoods = -jnp.sum(particles**2, axis=1)
    _, log_weights = population(5, jnp.float32(1))

    @jax.jit
    def smoothed(particles, log_likelihoods, log_weights):
        # All active neighbours: an approximate search has no freedom left.
        config = AttentionConfig(num_neighbours=NUM_PARTICLES)
        return smooth(log_weights, attend(particles, log_likelihoods, log_weights, config, search), 0.5)

    straight = smoothed(particles, log_likelihoods, log_weights)
    order = jax.random.permutation(order_key, NUM_PARTICLES)
    permuted = smoothed(particles[order], log_likelihoods[order], log_weights[order])
    np.testing.assert_allclose(np.exp(permuted), np.exp(straight[order]), atol=1e-6)
    masked = log_weights == -jnp.inf
    elsewhere = jnp.where(masked[:, None], particles + 3, particles)
    changed = smoothed(elsewhere, jnp.where(masked, 50.0, log_likelihoods), log_weights)
    np.testing.assert_allclose(np.exp(changed), np.exp(straight), atol=1e-6)
    assert (np.asarray(straight)[np.asarray(masked)] == -np.inf).all()


def test_standardised_features_have_unit_moments(key):
    particles = 100 + 7 * jax.random.normal(key, (500, 3))
    log_likelihoods = particles[:, 0].at[3].set(-jnp.inf)
    log_weights = normalise(jnp.zeros(500))
    features = particle_features(particles, log_likelihoods, log_weights)
    embeddings = np.asarray(Standardise()(features, log_weights))
    assert np.isfinite(embeddings).all()
    np.testing.assert_allclose(embeddings.mean(0), 0, atol=1e-4)
    # Weights are all alike after resampling: that feature says nothing.
    np.testing.assert_allclose(embeddings.std(0), [1, 1, 1, 1, 0], atol=1e-4)


def test_projection_can_be_trained(key):
    """The gradient of a smoothed weight reaches every layer, and is finite."""
    embeddings, log_weights = population(9, jnp.float32(1))
    projection = MLPProjection.build(key, 7, 4)

    @eqx.filter_jit
    @eqx.filter_grad
    def gradient(projection):
        attention = attend(embeddings, jnp.zeros(NUM_PARTICLES), log_weights, project=projection)
        return smooth(log_weights, attention, 0.2)[0]

    for leaf in jax.tree.leaves(eqx.filter(gradient(projection), eqx.is_array)):
        assert jnp.all(jnp.isfinite(leaf))
    assert jnp.any(gradient(projection).network.layers[0].weight != 0)


@pytest.mark.parametrize("wrong", [{"epsilon": 1.5}, {"num_neighbours": 0}, {"drop_mass": 1.0}])
def test_an_impossible_choice_is_refused(wrong):
    with pytest.raises(ValueError, match="`"):
        AttentionConfig(**wrong)
