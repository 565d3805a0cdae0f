"""Observations are always in range, and hold the documented numbers."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from walks import at

from dowsax.envs import OBSERVATIONS, belief_features, raw_features
from dowsax.inference.scaling import scale_reading


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_observations_are_in_range(name, search, strolls):
    features = jax.jit(jax.vmap(jax.vmap(OBSERVATIONS[name](search))))(strolls.states)
    assert features.shape[-1] == {"belief": 17, "raw": 3}[name]
    assert features.dtype == jnp.float32
    assert (np.abs(features) <= 1).all()


@pytest.mark.parametrize("corner", [(0.0, 0.0), (25.0, 25.0), (0.0, 25.0)])
def test_corners_are_plus_and_minus_one(corner, search, strolls):
    state = eqx.tree_at(lambda at: at.station.position, at(strolls.states, 0, 0), jnp.array(corner))
    np.testing.assert_array_equal(
        eqx.filter_jit(raw_features(search))(state)[:2], np.sign(np.array(corner) - 12.5)
    )


def test_moments_are_in_units_of_the_prior(search, strolls):
    """Four standard deviations of the prior are one; its moments are those of its own draws."""
    state = at(strolls.states, 2, 9)
    observe = belief_features(search)
    features = eqx.filter_jit(observe)(state)
    weights = np.exp(np.asarray(state.belief.log_weights, float))
    weights /= weights.sum()
    particles = np.asarray(state.belief.particles, float)
    centre = weights @ particles
    spread = np.sqrt(weights @ (particles - centre) ** 2)
    np.testing.assert_allclose(features[3:10], (centre - observe.centre) / (4 * observe.scale), atol=1e-4)
    np.testing.assert_allclose(features[10:], spread / (4 * np.asarray(observe.scale)), atol=1e-4)
    # Positions are uniform on (5, 20): five standard errors of 4,096 draws.
    deviation = 15 / 12**0.5
    np.testing.assert_allclose(observe.centre[:2], 12.5, atol=5 * deviation / 64)
    np.testing.assert_allclose(observe.scale[:2], deviation, rtol=5 * 0.45 / 64)


def test_readings_of_all_sizes_are_told_apart():
    readings = jnp.array([-1e9, -100.0, -1.0, -0.01, 0.0, 0.01, 1.0, 100.0, 1e4, 1e9])
    features = np.asarray(jax.vmap(scale_reading)(readings))
    assert (np.diff(features) > 0).all()
    assert features[0] == -1
    assert features[-1] == 1
    np.testing.assert_allclose(features[1:-1], np.arcsinh(np.asarray(readings[1:-1], float)) / 10, rtol=1e-5)
