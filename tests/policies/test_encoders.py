"""Observations: finite for any belief, the same for mirror images, and with the documented numbers."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_beliefs import NUM_PARTICLES, as_belief, walk_belief
from made_choices import inputs
from mirrors import MATRICES, mirrored

from dowsax.inference.summaries import location_entropy, mass_within, mean, std
from dowsax.policies import Lookahead, MomentEncoder, ParticleEncoder, observation_shapes
from dowsax.policies.particle_encoder import MAX_FEATURE, expected_gains
from dowsax.policies.utilities import information_gain
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, LogNormal, Model, Plume, PlumePrior, benchmark_model

MODEL = benchmark_model("gas")
ENCODE = eqx.filter_jit(
    lambda encoder, key, belief, position: encoder(key, *inputs(belief, Station(position)))
)
HERE = jnp.array([7.25, 11.5])
NUM_GAINS = 20
NUM_KEYS = 32


class Deaf(eqx.Module):
    """A sensor whose law does not depend on the field."""

    def sample(self, key, intensity, station):
        return jax.random.normal(key)

    def log_prob(self, reading, intensity, station):
        return -0.5 * reading**2 - 0.5 * jnp.log(2 * jnp.pi)


@pytest.fixture(scope="module")
def encoders():
    return {
        "moments": MomentEncoder.build(MODEL),
        "particles": ParticleEncoder.build(MODEL, num_particles=16),
    }


@pytest.mark.parametrize("name", ["moments", "particles"])
def test_shapes_are_known_beforehand(name, encoders, key):
    observation, shapes = (
        ENCODE(encoders[name], key, walk_belief(1), HERE),
        observation_shapes(encoders[name], MODEL),
    )
    for leaf, shape in zip(observation, shapes, strict=True):
        assert (leaf.shape, leaf.dtype) == (shape.shape, shape.dtype)


def test_moments_are_the_papers(encoders, key):
    """[p, z, μ, σ]: the place in the square, asinh of the newest reading, moments in units of the prior's."""
    belief, encoder = walk_belief(2), encoders["moments"]
    observation = np.asarray(ENCODE(encoder, key, belief, HERE).numbers, float)
    np.testing.assert_allclose(observation[:2], np.asarray(HERE) / 12.5 - 1, atol=1e-6)
    np.testing.assert_allclose(observation[2], np.arcsinh(float(belief.history.readings[4])) / 10, atol=1e-6)
    np.testing.assert_allclose(
        observation[3:10], (mean(belief) - encoder.centre) / (4 * encoder.scale), atol=1e-5
    )
    np.testing.assert_allclose(observation[10:], std(belief) / (4 * encoder.scale), atol=1e-5)


def test_numbers_are_what_they_say(encoders, key):
    """Offsets, spreads and certainty of a belief, in float64 and after the symmetry, by hand."""
    belief = walk_belief(2)
    observation = np.asarray(ENCODE(encoders["particles"], key, belief, HERE).numbers, float)
    weights = np.exp(np.asarray(belief.log_weights, float))
    offsets = np.asarray(belief.particles[:, :2], float) - np.asarray(HERE)
    middle = weights @ offsets
    signs = np.where(middle < 0, -1, 1)
    images = (offsets * signs)[:, :: -1 if abs(middle[1]) > abs(middle[0]) else 1]
    centre = weights @ images
    assert 0 <= centre[1] <= centre[0]
    np.testing.assert_allclose(observation[:4], np.append(centre / 25, np.tanh(centre / 3)), atol=1e-5)
    np.testing.assert_allclose(observation[4], 0.5 * np.log1p(np.linalg.norm(centre)), atol=1e-5)
    covariance = np.cov(images.T, aweights=weights, ddof=0)
    values, vectors = np.linalg.eigh(covariance)
    lengths = np.sqrt([*np.diag(covariance), values[1], values[0], np.diag(covariance).max()])
    np.testing.assert_allclose(observation[5:10], 0.5 * np.log(lengths + 0.01), atol=1e-4)
    angle = 2 * math.atan2(vectors[1, 1], vectors[0, 1])
    np.testing.assert_allclose(observation[10:12], [math.cos(angle), math.sin(angle)], atol=1e-3)
    certainty = observation[22:27]
    np.testing.assert_allclose(certainty[0], mass_within(belief, 1.0), atol=1e-6)
    np.testing.assert_allclose(certainty[2], location_entropy(belief) / math.log(625), atol=1e-5)
    np.testing.assert_allclose(certainty[3], 1 / np.sum(weights**2) / NUM_PARTICLES, rtol=1e-4)
    assert certainty[4] == 5 / 8
    # Of the walls only their order depends on the symmetry.
    np.testing.assert_allclose(sorted(observation[27:31] * 25), sorted([7.25, 11.5, 17.75, 13.5]), atol=1e-5)


@pytest.mark.parametrize("matrix", MATRICES, ids=range(8))
def test_a_mirrored_search_looks_the_same(matrix, encoders, key):
    """With the same key, to the rounding of the mirrored coordinates; only the order of actions differs."""
    belief = walk_belief(3)
    mirror, there, image = mirrored(matrix, belief, HERE)
    mine, other = (
        ENCODE(encoders["particles"], key, belief, HERE),
        ENCODE(encoders["particles"], key, mirror, there),
    )
    # Coordinates are rounded by 1e-6 m, and a reading of gas is either above its threshold or not.
    np.testing.assert_allclose(mine.particles, other.particles, atol=2e-5)
    np.testing.assert_allclose(mine.numbers[:-NUM_GAINS], other.numbers[:-NUM_GAINS], atol=2e-5)
    np.testing.assert_allclose(mine.numbers[-NUM_GAINS:], other.numbers[-NUM_GAINS:], atol=1e-3)
    np.testing.assert_array_equal(mine.order, other.order[jnp.array(image)])


NUMBERS = st.floats(-1e6, 1e6, width=32) | st.sampled_from([0.0, 1e-30, -3e38, 3e38, math.inf, math.nan])
PARTICLES = st.lists(st.lists(NUMBERS, min_size=7, max_size=7), min_size=4, max_size=4)
LOG_WEIGHTS = st.lists(st.floats(-200, 0, width=32) | st.just(-math.inf), min_size=4, max_size=4)


@settings(max_examples=40, deadline=None)
@given(
    PARTICLES, LOG_WEIGHTS, st.tuples(st.floats(0, 25, width=32), st.floats(0, 25, width=32)), st.booleans()
)
def test_observations_are_finite(encoders, particles, log_weights, position, collapsed):
    """Whatever is believed: nothing, one point, or nonsense."""
    rows = [particles[0]] * 4 if collapsed else particles
    belief = as_belief(jnp.array(rows, jnp.float32), jnp.array(log_weights, jnp.float32))
    for encoder in encoders.values():
        observation = ENCODE(encoder, jax.random.key(0), belief, jnp.array(position, jnp.float32))
        assert all(np.isfinite(leaf).all() for leaf in observation)
        assert np.abs(np.asarray(observation.numbers)).max() <= MAX_FEATURE


@pytest.mark.parametrize("log_weight", [0.0, -jnp.inf], ids=["collapsed", "dead"])
def test_nothing_is_to_be_learnt_where_nothing_is_left(log_weight, encoders, key):
    """A belief of one point has no gains; one without particles still shows those it had."""
    theta = jnp.array([13.0, 9.5, 800.0, 1.0, -0.5, 2.0, 3.0])
    belief = as_belief(jnp.tile(theta, (8, 1)), jnp.full(8, log_weight, jnp.float32))
    observation = ENCODE(encoders["particles"], key, belief, HERE)
    np.testing.assert_allclose(observation.numbers[-NUM_GAINS:], 0.0, atol=1e-5)
    assert all(np.isfinite(leaf).all() for leaf in observation)


@eqx.filter_jit
def gains(keys, model, particles, places):
    """(keys, places)"""
    station = Station(HERE)
    one = lambda key: expected_gains(key, model, particles, station, places)  # noqa: E731
    return jax.vmap(one)(keys)


@eqx.filter_jit
def utilities_of(keys, planner, belief, station):
    """(keys, actions)"""
    return jax.vmap(planner.expected_utilities, in_axes=(0, None, None))(keys, belief, station)


def test_a_deaf_sensor_tells_nothing(key):
    model = Model(PlumePrior(), Plume(), Deaf())
    found = gains(jax.random.split(key, 8), model, walk_belief(1).particles, FOUR_MOVES.reach(HERE))
    assert (np.abs(found) < 1e-5).all()


@pytest.mark.slow
@pytest.mark.parametrize("field", ["gas", "energy"])
def test_gains_are_those_of_infotaxis(field, key):
    """On average over keys, within five standard errors; never negative, never above log m."""
    model, belief = benchmark_model(field), as_belief(walk_belief(4).particles)
    mine, other = jax.random.split(key, (2, NUM_KEYS))
    found = np.asarray(gains(mine, model, belief.particles, FOUR_MOVES.reach(HERE)), float)
    planner = Lookahead(model, information_gain, FOUR_MOVES, num_readings=32)
    utilities = np.asarray(utilities_of(other, planner, belief, Station(HERE)), float)
    error = np.sqrt((found.var(axis=0) + utilities.var(axis=0)) / NUM_KEYS)
    assert (np.abs(found.mean(axis=0) - utilities.mean(axis=0)) <= 5 * error + 1e-5).all()
    assert (found >= 0).all()
    assert (found <= math.log(NUM_PARTICLES) + 1e-6).all()


def test_other_sources_are_refused():
    """A clear error for a prior of other parameters, and for a set of one particle."""

    class Other(eqx.Module):
        parameters: tuple = eqx.field(default=PlumePrior().parameters[:2], static=True)
        coordinates: object = None

        def sample(self, key):
            return jnp.zeros(2)

        def log_prob(self, theta):
            return jnp.zeros(())

    with pytest.raises(ValueError, match="needs the parameters of the benchmark; got x, y"):
        ParticleEncoder.build(Model(Other(), Plume(), LogNormal(0.25, 0.001)))
    with pytest.raises(ValueError, match="num_particles"):
        ParticleEncoder.build(MODEL, num_particles=1)
