"""What single sensors do beyond the common laws: dwell times, silence, faults."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world.sensors import (
    Censored,
    Counting,
    Decibel,
    Gaussian,
    LogNormal,
    Poisson,
    StudentT,
    UnknownNoise,
    cheap_sampler,
)

STATION = Station(jnp.zeros(2))


def test_dwell_multiplies_the_rate(key):
    """Over 30 s the mean count is 30 (c + b), within five standard errors, and its distribution Poisson."""
    sensor, long = Poisson(2.0), Station(jnp.zeros(2), dwell=jnp.float32(30.0))
    counts = jax.jit(jax.vmap(lambda key: sensor.sample(key, jnp.float32(1.5), long)))(
        jax.random.split(key, 2000)
    )
    assert abs(counts.mean() - 105) < 5 * (105 / 2000) ** 0.5
    ours = sensor.log_prob(jnp.float32(100.0), jnp.float32(1.5), long)
    assert float(ours) == pytest.approx(stats.poisson.logpmf(100, 105), abs=1e-3)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 15, 16, 40, 1000, 10**6])
def test_counts_are_exact_however_many(count):
    """Within 1e-3 of the exact distribution in float32, from far below the mean to far above."""
    sensor = Counting()
    ratios = np.array([0.5, 0.9, 1 - 3 / max(count, 4) ** 0.5, 1.0, 1 + 3 / max(count, 4) ** 0.5, 2.0])
    means = np.float32(np.maximum(count, 0.1) * np.maximum(ratios, 0.01))
    ours = jax.jit(jax.vmap(lambda mean: sensor.log_prob(jnp.float32(count), mean, STATION)))(
        jnp.asarray(means)
    )
    expected = stats.poisson.logpmf(count, means.astype(float))
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=2e-3)


def test_a_dead_time_hides_counts(key):
    """In 10 s at 5,000 events a second and 50 µs: 5000/(1 + 0.25) a second are counted, dwell and all."""
    sensor, long = Counting(50e-6), Station(jnp.zeros(2), dwell=jnp.float32(10.0))
    draw = lambda distribution: jax.jit(jax.vmap(lambda key: distribution(key, jnp.float32(5000.0), long)))(  # noqa: E731
        jax.random.split(key, 500)
    )
    for distribution in (sensor.sample, cheap_sampler(sensor)):
        assert abs(np.asarray(draw(distribution)).mean() - 40_000) < 5 * (40_000 / 500) ** 0.5


def test_an_outlier_costs_a_logarithm():
    """Ten times as far off costs (ν + 1) log 10, and normal noise a hundred times as much."""
    sensor = StudentT(0.0, 1.0, 3.0)
    near, far = (float(sensor.log_prob(jnp.float32(z), jnp.zeros(()), STATION)) for z in (100.0, 1000.0))
    assert near - far == pytest.approx(4 * np.log(10), rel=1e-3)


@pytest.mark.parametrize("degrees", [1.0, 2.5, 4.0])
def test_the_density_of_outliers_is_that_of_the_book(degrees):
    sensor = StudentT(0.2, 0.1, degrees)
    readings = np.array([-3.0, 1.0, 1.4, 1e3, 1e6])
    scale = 0.2 * 1.0 + 0.1
    expected = stats.t.pdf((readings - 1.0) / scale, degrees) / scale
    level = jnp.float32(1.0)
    found = jax.vmap(lambda reading: sensor.density(reading, level, sensor.scale(level)))(
        jnp.float32(readings)
    )
    # Eight roundings of 32 bits, of which the residual's counts ν + 1 times.
    np.testing.assert_allclose(found, expected, rtol=(8 + 2 * (degrees + 1)) * 2**-24 * 4)


def test_unknown_noise_is_that_of_theta():
    """Settled it is the sensor with numbers of Θ; by itself the sensor as it was given, faults and all."""
    sensor = UnknownNoise(Gaussian(0.5, 2.0), (("noise_floor", 3), ("noise_ratio", 2)))
    z, c = jnp.float32(3.0), jnp.float32(1.5)
    bind = sensor.bind(jnp.float32([0, 0, 0.1, 0.7]))
    assert float(bind.log_prob(z, c, STATION)) == pytest.approx(stats.norm.logpdf(3, 1.5, 0.85), rel=1e-5)
    assert float(sensor.log_prob(z, c, STATION)) == pytest.approx(stats.norm.logpdf(3, 1.5, 2.75), rel=1e-5)
    assert "finite" in sensor.fault(np.array([np.nan]))
    assert float(sensor.log_unit(z)) == 0
    gas = UnknownNoise(Censored(), (("noise_floor", 0),))
    assert float(gas.log_unit(z)) == pytest.approx(np.log(0.005))


@pytest.mark.parametrize("wrong", [lambda: StudentT(0.1, 0.1, 0.0), lambda: Counting(-1e-6)])
def test_refuses_numbers_without_sense(wrong):
    with pytest.raises(ValueError, match="`"):
        wrong()


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
        (Counting(), [0.5], "whole number"),
        (StudentT(0.1, 0.1), [np.nan], "finite"),
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
