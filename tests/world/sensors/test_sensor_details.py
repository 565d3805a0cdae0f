"""What single sensors do beyond the common laws: dwell times, silence, faults."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world.sensors import Censored, Decibel, Gaussian, LogNormal, Poisson

STATION = Station(jnp.zeros(2))


def test_dwell_multiplies_the_rate(key):
    """Over 30 s the mean count is 30 (c + b), within five standard errors, and the law is Poisson."""
    sensor, long = Poisson(2.0), Station(jnp.zeros(2), dwell=jnp.float32(30.0))
    counts = jax.jit(jax.vmap(lambda key: sensor.sample(key, jnp.float32(1.5), long)))(
        jax.random.split(key, 2000)
    )
    assert abs(counts.mean() - 105) < 5 * (105 / 2000) ** 0.5
    ours = sensor.log_prob(jnp.float32(100.0), jnp.float32(1.5), long)
    assert float(ours) == pytest.approx(stats.poisson.logpmf(100, 105), abs=1e-3)


def test_no_background_and_no_field_counts_nothing():
    sensor = Poisson(0.0)
    assert float(sensor.log_prob(jnp.float32(0.0), jnp.float32(0.0), STATION)) == pytest.approx(0, abs=1e-6)
    assert float(sensor.log_prob(jnp.float32(1.0), jnp.float32(0.0), STATION)) < -60


def test_silence_has_the_probability_of_the_table():
    """P(z = 0) = 0.1 + 0.9 Φ((0.005 − c)/σ)."""
    intensities = np.array([0.0, 0.003, 0.005, 0.02, 100.0])
    ours = jax.jit(jax.vmap(lambda c: Censored().log_prob(jnp.float32(0.0), c, STATION)))(
        jnp.float32(intensities)
    )
    expected = 0.1 + 0.9 * stats.norm.cdf((0.005 - intensities) / (0.2 * intensities + 0.001))
    assert np.exp(ours) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("reading", [-1.0, 0.001, 0.005])
def test_impossible_gas_readings_have_no_density(reading):
    assert Censored().log_prob(jnp.float32(reading), jnp.float32(0.01), STATION) == -np.inf


@pytest.mark.parametrize(
    ("sensor", "readings", "word"),
    [
        (Poisson(), [1.0, -2.0], "Reading 1 (counted from 0) is -2"),
        (Poisson(), [1.0, 2.0, 0.5], "whole number"),
        (LogNormal(), [0.3, 0.0], "above zero"),
        (Censored(), [0.0, -0.1], "below zero"),
        (Censored(), [0.0, 0.004], "record it as 0"),
        (Gaussian(0.1, 0.01), [1.0, np.nan], "Reading 1 (counted from 0) is nan"),
        (Decibel(), [np.inf], "finite"),
    ],
)
def test_names_the_fault(sensor, readings, word):
    fault = sensor.fault(np.array(readings))
    assert word in fault
    assert "\n" not in fault


@pytest.mark.parametrize(
    ("sensor", "readings"),
    [
        (Poisson(), [0.0, 3.0]),
        (LogNormal(), [0.3, 1e-4]),
        (Censored(), [0.0, 0.0051, 3.0]),
        (Gaussian(0.1, 0.01), [-1.0, 2.0]),
        (Decibel(), [-30.0]),
    ],
)
def test_finds_no_fault_in_good_readings(sensor, readings):
    assert sensor.fault(np.array(readings)) is None
