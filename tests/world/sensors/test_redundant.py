"""Readings that count as fewer: κ copies of a survey say as much as one survey of independent readings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import Gaussian, UniformBox
from dowsax.world.compose import compose
from dowsax.world.sensors.redundant import Redundant

STATION = Station(jnp.zeros(2))


def test_copies_of_a_reading_count_as_one():
    """κ log p/κ = log p, to the rounding of κ sums."""
    sensor, count = Gaussian(0.1, 0.5), 4
    shared = Redundant(sensor, float(count))
    readings = jnp.array([0.3, 2.0, 5.0])
    one = sum(sensor.log_prob(reading, jnp.float32(2.0), STATION) for reading in readings)
    copies = sum(
        shared.log_prob(reading, jnp.float32(2.0), STATION) for reading in readings for _ in range(count)
    )
    np.testing.assert_allclose(copies, one, rtol=1e-5)


def test_a_reading_is_drawn_as_ever(key):
    sensor = Gaussian(0.1, 0.5)
    drawn = [one.sample(key, jnp.float32(2.0), STATION) for one in (sensor, Redundant(sensor, 9.0))]
    assert drawn[0] == drawn[1]


def test_unknown_noise_stays_unknown(key):
    """The noise of a redundant sensor is still read from Θ, and its log likelihood is κ times smaller."""
    model, loose = (
        compose("level", UniformBox((0.0, 0.0), (9.0, 9.0)), robust=True, redundancy=count)
        for count in (1, 5)
    )
    draw = jax.jit(jax.vmap(model.prior.sample))
    thetas = draw(jax.random.split(key, 8))
    station, reading = Station(jnp.array([1.0, 2.0])), jnp.float32(-60.0)
    terms = [
        jax.vmap(one.log_likelihood, in_axes=(0, None, None))(thetas, station, reading)
        for one in (model, loose)
    ]
    np.testing.assert_allclose(5 * terms[1], terms[0], rtol=1e-5)


def test_fewer_than_one_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Redundant(Gaussian(0.1, 0.5), 0.5)
