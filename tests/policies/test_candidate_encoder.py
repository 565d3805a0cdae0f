"""The observation and the network of candidates: any number of them, in any order, of any problem."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import walk_belief

from dowsax.geo.polygons import Bounds
from dowsax.inference.summaries import location_spread, mean
from dowsax.policies import observation_shapes
from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.networks import MASKED_LOGIT, build_network
from dowsax.types import Station
from dowsax.world import Budget, Fence, NearAndFar, benchmark_model

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


def test_features_are_where_candidates_are(encoder, candidates, observation):
    """Offset and way, distance from the mean, in diagonals of the area, from NumPy; gains are shares."""
    belief, diagonal = walk_belief(3), np.hypot(25.0, 25.0)
    places = np.asarray(candidates.places, float)
    features = np.asarray(observation.candidates, float)
    np.testing.assert_allclose(features[:, :2], (places - np.asarray(HERE.position)) / diagonal, atol=1e-6)
    np.testing.assert_allclose(features[:, 2], np.linalg.norm(features[:, :2], axis=1), atol=1e-6)
    from_mean = np.linalg.norm(places - np.asarray(mean(belief)[:2]), axis=1)
    np.testing.assert_allclose(features[:, 3], from_mean / diagonal, rtol=1e-4)
    np.testing.assert_allclose(features[:, 4], np.tanh(from_mean / float(location_spread(belief))), rtol=1e-4)
    assert ((features[:, 5:] >= 0) & (features[:, 5:] <= 1)).all()
    np.testing.assert_array_equal(observation.free, candidates.mask)


def test_a_budget_without_limit_is_zero(encoder, candidates):
    """And with a limit its share grows towards one."""
    key, belief = jax.random.key(0), walk_belief(3)
    last = lambda budget: np.asarray(encode(encoder, key, belief, candidates, budget).numbers[-3:])  # noqa: E731
    infinite, zero = jnp.float32(jnp.inf), jnp.float32(0.0)
    np.testing.assert_array_equal(last(Budget(infinite, infinite, infinite)), 0.0)
    np.testing.assert_allclose(last(Budget(zero, zero, zero)), 1.0)


def test_a_belief_without_particles_is_finite(encoder, candidates):
    belief = walk_belief(1)
    dead = eqx.tree_at(lambda at: at.log_weights, belief, jnp.full_like(belief.log_weights, -jnp.inf))
    observation = encode(encoder, jax.random.key(1), dead, candidates, BUDGET)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(observation))


def test_shapes_are_known_beforehand(encoder, observation):
    shapes = observation_shapes(encoder, MODEL, PLACES)
    for leaf, shape in zip(observation, shapes, strict=True):
        assert (leaf.shape, leaf.dtype) == (shape.shape, shape.dtype)


def test_the_order_of_candidates_does_not_matter(observation, key):
    """Scores go with their candidates, the value stays, and what is masked has no say."""
    network = jax.tree.map(
        lambda leaf: leaf + 0.3 * jax.random.normal(key, leaf.shape), build_network(key, observation)
    )
    order = np.random.default_rng(0).permutation(observation.free.size)
    free = observation.free.at[0].set(False)
    masked = observation._replace(free=free)
    turned = masked._replace(candidates=masked.candidates[order], free=free[order])
    (logits, value), (other_logits, other_value) = network(masked), network(turned)
    np.testing.assert_allclose(logits[order], other_logits, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(value, other_value, rtol=1e-4, atol=1e-4)
    assert logits[0] == MASKED_LOGIT
    moved = masked._replace(candidates=masked.candidates.at[0].add(9.0))
    np.testing.assert_allclose(network(moved).logits, logits, rtol=1e-5, atol=1e-5)
    fewer = masked._replace(candidates=masked.candidates[1:], free=free[1:])
    np.testing.assert_allclose(network(fewer).logits, logits[1:], rtol=1e-4, atol=1e-4)
