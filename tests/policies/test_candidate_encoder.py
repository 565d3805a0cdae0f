"""The observation of candidates, from NumPy; its invariances are in `test_candidate_laws`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import walk_belief

from dowsax.geo.polygons import Bounds
from dowsax.policies import observation_shapes
from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.types import Station
from dowsax.world import Budget, Fence, NearAndFar, PolicyMismatch, benchmark_model

MODEL = benchmark_model("gas")
LOW, HIGH = (0.0, 0.0), (25.0, 25.0)
PLACES = NearAndFar(Fence.of(Bounds()), LOW, HIGH, lengths=(3.0, 9.0), directions=4, num_promising=2)
HERE = Station(jnp.array([7.25, 11.5]))
BUDGET = Budget(jnp.float32(20.0), jnp.float32(100.0), jnp.float32(jnp.inf))


@eqx.filter_jit
def encode(encoder, key, belief, candidates, budget):
    return encoder(key, belief, HERE, candidates, budget)


@pytest.fixture(scope="module")
def candidates():
    return PLACES.candidates(HERE.position, BUDGET, jnp.array([[30.0, 2.0], [12.0, 12.0]]))


@pytest.fixture(scope="module")
def encoder():
    return CandidateEncoder.build(MODEL, PLACES, num_particles=8)


@pytest.fixture(scope="module")
def observation(encoder, candidates):
    return encode(encoder, jax.random.key(0), walk_belief(3), candidates, BUDGET)


def test_features_are_where_candidates_are(candidates, observation):
    """Way, distance from the mean and mass nearby, from NumPy; the radius is 1 m."""
    belief, diagonal = walk_belief(3), np.hypot(25.0, 25.0)
    places, here = np.asarray(candidates.places, float), np.asarray(HERE.position, float)
    positions, weights = np.asarray(belief.positions, float), np.exp(np.asarray(belief.log_weights, float))
    features = np.asarray(observation.candidates, float)
    way = np.linalg.norm(places - here, axis=1)
    np.testing.assert_allclose(features[:, 0], way / diagonal, rtol=1e-4)
    np.testing.assert_allclose(features[:, 1], np.log1p(way), rtol=1e-4)
    mean = weights @ positions
    from_mean = np.linalg.norm(places - mean, axis=1)
    np.testing.assert_allclose(features[:, 3], from_mean / diagonal, rtol=1e-4)
    cosines = (places - here) @ (mean - here) / (way * np.linalg.norm(mean - here))
    np.testing.assert_allclose(features[:, 6], cosines, atol=1e-4)
    within = np.linalg.norm(places[:, None] - positions[None], axis=2) <= 3.0
    np.testing.assert_allclose(features[:, 16], within @ weights, atol=1e-5)
    assert observation.signals.shape == (10, 8)
    np.testing.assert_array_equal(observation.free, candidates.mask)


def test_a_budget_without_limit_is_zero(encoder, candidates):
    """And with a limit its share grows towards one."""
    key, belief = jax.random.key(0), walk_belief(3)
    last = lambda budget: np.asarray(encode(encoder, key, belief, candidates, budget).numbers[10:15])  # noqa: E731
    infinite, zero = jnp.float32(jnp.inf), jnp.float32(0.0)
    np.testing.assert_array_equal(last(Budget(infinite, infinite, infinite)), 0.0)
    np.testing.assert_allclose(last(Budget(zero, zero, zero)), 1.0)


def test_several_sources_are_refused():
    model = benchmark_model("gas", sources=2)
    with pytest.raises(PolicyMismatch, match="one source: choose location-gain"):
        CandidateEncoder.build(model, PLACES)


def test_a_belief_without_particles_is_finite(encoder, candidates):
    belief = walk_belief(1)
    dead = eqx.tree_at(lambda at: at.log_weights, belief, jnp.full_like(belief.log_weights, -jnp.inf))
    observation = encode(encoder, jax.random.key(1), dead, candidates, BUDGET)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(observation))


def test_shapes_are_known_beforehand(encoder, observation):
    shapes = observation_shapes(encoder, MODEL, PLACES)
    for leaf, shape in zip(observation, shapes, strict=True):
        assert (leaf.shape, leaf.dtype) == (shape.shape, shape.dtype)
