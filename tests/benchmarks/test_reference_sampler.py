"""The reference sampler of several sources is an oracle: it is held against the peers' model and sums."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import reference_sampler as reference
from benchmarks.peers import model

READINGS = {"noise": -3.0, "energy": 7.0}


@pytest.mark.parametrize("field", model.FIELDS)
def test_every_sensor_is_that_of_the_peers(field):
    """Up to float32, also where the detector of gas reads nothing."""
    intensities = np.array([0.01, 0.4, 30.0])
    for reading in (READINGS.get(field, 0.5), 0.0 if field in ("gas", "energy") else 2.0):
        found = np.asarray(
            reference.SENSORS[field](jnp.float32(reading), jnp.asarray(intensities, jnp.float32))
        )
        expected = model.SENSORS[field](reading, intensities)
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-2)


def test_intensities_add_up():
    """Against the printed formula in float64."""
    theta = np.array([6.0, 7.0, 300.0, 15.0, 9.0, 900.0, 1.0, -0.5, 2.0, 3.0])
    place = np.array([10.0, 8.0])
    total = 0.0
    for x, y, strength in (theta[:3], theta[3:6]):
        east, north = place - (x, y)
        distance = np.sqrt(east**2 + north**2 + 0.1**2)
        total += (
            strength
            / (4 * np.pi * theta[8] * distance)
            * np.exp(-distance / theta[9] + (east * theta[6] + north * theta[7]) / (2 * theta[8]))
        )
    found = reference.log_intensity(jnp.asarray(theta, jnp.float32)[:, None], place, 2)
    assert float(found[0]) == pytest.approx(np.log(total), abs=1e-5)


def test_draws_have_the_density_of_the_prior(key):
    """All lie in its support, and where the bound on λ excludes none, wind speeds are uniform."""
    draws = reference.draw_prior(key, 4000, 2)
    assert np.isfinite(np.asarray(reference.log_prior(draws))).all()
    speed, length = np.hypot(*np.asarray(draws[6:8], float)), np.asarray(draws[9], float)
    # Where λ is short no speed is ruled out: λ·speed ≤ 2α for every α ≥ 1.
    short = speed[length < 2 / 6]
    assert short.size > 100
    assert abs(short.mean() - 3.0) < 5 * 6 / np.sqrt(12 * short.size)


def test_the_power_leaves_half_of_the_particles(key):
    values = 50 * jax.random.normal(key, (4000,))
    power = float(reference._next_power(values, jnp.zeros(())))
    weights = np.exp(power * np.asarray(values, float))
    assert weights.sum() ** 2 / (weights**2).sum() == pytest.approx(2000, rel=0.01)
