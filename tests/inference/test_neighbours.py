"""Neighbour searches against scipy's exhaustive distances."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dowsax.inference.features import Standardise, particle_features
from dowsax.inference.neighbours import exact_neighbours, tree_neighbours
from dowsax.inference.weights import normalise

NUM_NEIGHBOURS = 16


def posterior_like_embeddings(key, num_particles):
    """A correlated, curved cloud of seven parameters with its likelihoods and weights as features."""
    cloud_key, noise_key = jax.random.split(key)
    normals = jax.random.normal(cloud_key, (num_particles, 7))
    factor = jnp.linalg.cholesky(0.6 * jnp.ones((7, 7)) + 0.4 * jnp.eye(7))
    particles = normals @ factor.T
    particles = (
        particles.at[:, 1].add(0.3 * particles[:, 0] ** 2).at[:, 2].set(jnp.exp(0.7 * particles[:, 2]))
    )
    log_likelihoods = -0.5 * jnp.sum(normals[:, :3] ** 2, axis=1)
    log_weights = normalise(log_likelihoods + 0.3 * jax.random.normal(noise_key, (num_particles,)))
    return Standardise()(particle_features(particles, log_likelihoods, log_weights), log_weights)


def recall(indices, embeddings, rows):
    distances = cdist(np.asarray(embeddings, np.float64)[rows], np.asarray(embeddings, np.float64))
    truth = np.argsort(distances, axis=1)[:, :NUM_NEIGHBOURS]
    hits = [np.intersect1d(*pair).size for pair in zip(np.asarray(indices)[rows], truth, strict=True)]
    return np.mean(hits) / NUM_NEIGHBOURS


@pytest.mark.parametrize(
    ("search", "num_particles", "least"), [(exact_neighbours, 600, 1.0), (tree_neighbours, 10_000, 0.9)]
)
def test_finds_the_nearest(search, num_particles, least, key):
    embeddings = posterior_like_embeddings(key, num_particles)
    active = jnp.ones(num_particles, bool)
    found = jax.jit(search, static_argnums=2)(embeddings, active, NUM_NEIGHBOURS)
    rows = np.arange(0, num_particles, max(1, num_particles // 300))
    assert recall(found.indices, embeddings, rows) >= least
    assert np.asarray(found.valid).all()
    assert (np.asarray(found.indices)[:, 0] == np.arange(num_particles)).all()


@pytest.mark.parametrize("search", [exact_neighbours, tree_neighbours], ids=lambda f: f.__name__)
@pytest.mark.parametrize("num_active", [0, 1, 3, 40])
def test_only_active_particles_are_neighbours(search, num_active, key):
    embeddings = jax.random.normal(key, (50, 3))
    active = jnp.arange(50) >= 50 - num_active
    found = jax.jit(search, static_argnums=2)(embeddings, active, 8)
    indices, valid, mask = map(np.asarray, (found.indices, found.valid, active))
    assert (valid.sum(1) == np.where(mask, min(8, num_active), 0)).all()
    assert mask[indices[valid]].all()
    own = np.broadcast_to(np.arange(50)[:, None], indices.shape)
    assert (indices[~valid] == own[~valid]).all()
    # No particle appears twice in a row.
    assert all(np.unique(row[keep]).size == keep.sum() for row, keep in zip(indices, valid, strict=True))


@pytest.mark.parametrize("search", [exact_neighbours, tree_neighbours], ids=lambda f: f.__name__)
def test_copies_are_neighbours_of_each_other(search, key):
    """Three thousand copies of ten particles: every neighbour is a copy, and each is its own neighbour."""
    kinds = jnp.arange(3000) % 10
    embeddings = jax.random.normal(key, (10, 5))[kinds]
    found = jax.jit(search, static_argnums=2)(embeddings, jnp.ones(3000, bool), NUM_NEIGHBOURS)
    assert (np.asarray(kinds)[np.asarray(found.indices)] == np.asarray(kinds)[:, None]).all()
    assert (np.asarray(found.indices)[:, 0] == np.arange(3000)).all()


def test_tree_maps_over_populations(key):
    embeddings = jax.random.normal(key, (3, 60, 4))
    active = jnp.ones((3, 60), bool)
    together = jax.jit(jax.vmap(lambda e, a: tree_neighbours(e, a, 4)))(embeddings, active)
    alone = tree_neighbours(embeddings[1], active[1], 4)
    assert (together.indices[1] == alone.indices).all()
