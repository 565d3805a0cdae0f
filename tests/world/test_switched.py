"""A sensor with a number is the sensor of that number."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from dowsax.types import Station
from dowsax.world import MODALITIES, Poisson, Switched

HERE = Station(jnp.zeros(2))
NAMES = tuple(MODALITIES)
INTENSITIES = jnp.array([0.0, 0.02, 0.5, 3.0, 40.0, 900.0])


@pytest.fixture(scope="module")
def several():
    return Switched.build([modality.sensor for modality in MODALITIES.values()])


def test_sensors_of_one_kind_are_one_law(several):
    """Temperature, magnetic and electric are."""
    assert len(several.kinds) == len(NAMES) - 2


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", NAMES)
def test_is_the_sensor_of_its_number(several, name, key):
    """Draws and densities, up to rounding: its numbers are in single precision."""
    sensor = MODALITIES[name].sensor
    numbered = eqx.tree_at(lambda at: at.number, several, jnp.asarray(NAMES.index(name), jnp.int32))
    draw = lambda distribution: jax.vmap(lambda key, level: distribution(key, level, HERE))(  # noqa: E731
        jax.random.split(key, len(INTENSITIES)), INTENSITIES
    )
    readings = draw(sensor.sample)
    np.testing.assert_allclose(draw(numbered.sample), readings, rtol=1e-5, atol=1e-6)
    log_prob = lambda distribution: jax.vmap(lambda reading, level: distribution(reading, level, HERE))(  # noqa: E731
        readings, INTENSITIES
    )
    np.testing.assert_allclose(log_prob(numbered.log_prob), log_prob(sensor.log_prob), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rate", [1.0, 2.5, 30.0])
def test_sketched_counts_are_nearly_of_the_law(rate, key):
    """In total variation within a hundredth, and the sampling error of the histogram."""
    number = 100_000
    draws = jax.vmap(lambda key: Poisson(0.0).sketch(key, jnp.float32(rate), HERE))(
        jax.random.split(key, number)
    )
    counts = np.arange(100)
    wanted = scipy.stats.poisson(rate).pmf(counts)
    found = np.bincount(np.asarray(draws, int), minlength=100) / number
    # The mean of |p̂ − p| is √(2/π) of its standard deviation.
    sampling = 0.5 * np.sum(np.sqrt(2 / np.pi * wanted * (1 - wanted) / number))
    assert 0.5 * np.abs(found - wanted).sum() < 0.01 + 3 * sampling
