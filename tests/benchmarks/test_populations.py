"""Populations hold what the filter holds when a reading has just come in."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.populations import Reweighted, collect, degenerate, join
from dowsax.inference import FilterConfig, Preset
from dowsax.inference.weights import ess, normalise
from dowsax.types import Station
from dowsax.world import benchmark_model, wander

NUM_PARTICLES, NUM_READINGS = 64, 5


def test_collected_weights_are_the_reading_times_the_weights_before(key):
    model = benchmark_model("temperature")
    theta_key, path_key, noise_key, collect_key = jax.random.split(key, 4)
    theta = model.prior.sample(theta_key)
    positions = wander(path_key, NUM_READINGS)
    readings = model.simulate(noise_key, theta, Station(positions))
    floor = jnp.full(7, 0.01).at[0].set(100.0)
    # Without moves, which take long to compile and change nothing about what is collected.
    plain = FilterConfig(num_particles=NUM_PARTICLES, temper=False, num_moves=0, max_moves=0)
    preset = Preset(plain, ())
    found = eqx.filter_jit(collect)(collect_key, model, preset, theta, positions, readings, floor)

    assert found.particles.shape == (NUM_READINGS, NUM_PARTICLES, 7)
    np.testing.assert_array_equal(found.theta, np.tile(theta, (NUM_READINGS, 1)))
    # The first coordinate spreads less than its floor, the others more than theirs.
    np.testing.assert_array_equal(found.scale[:, 0], 100.0)
    np.testing.assert_allclose(found.scale[:, 1], np.std(found.particles[:, :, 1], axis=1), rtol=1e-4)
    terms = jax.vmap(jax.vmap(model.log_likelihood, in_axes=(0, None, None)), in_axes=(0, 0, 0))(
        found.particles, Station(positions), readings
    )
    np.testing.assert_allclose(found.log_likelihoods, terms, rtol=1e-3, atol=1e-3)
    # All weights are alike before the first reading.
    np.testing.assert_allclose(found.log_weights[0], normalise(found.log_likelihoods[0]), atol=1e-4)
    np.testing.assert_allclose(np.exp(found.log_weights).sum(axis=1), 1.0, atol=1e-5)


def test_degenerate_ones_are_those_a_filter_would_resample(key):
    log_weights = jnp.stack([normalise(jnp.array([top, 0.0, 0.0, 0.0])) for top in (0.0, 1.0, 5.0, 50.0)])
    log_weights = log_weights.at[1].set(-jnp.inf).reshape(2, 2, 4)
    batch = Reweighted(
        particles=jax.random.normal(key, (2, 2, 4, 3)),
        log_likelihoods=jnp.zeros((2, 2, 4)),
        log_weights=log_weights,
        theta=jnp.arange(12.0).reshape(2, 2, 3),
        scale=jnp.ones((2, 2, 3)),
    )
    decision = degenerate(batch, 0.5)
    np.testing.assert_array_equal(decision.theta, batch.theta[1])
    assert (np.asarray(jax.vmap(ess)(decision.log_weights)) < 2).all()
    assert join([decision, decision]).particles.shape == (4, 4, 3)
