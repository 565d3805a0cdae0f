"""Noise in proportion is one to what the source adds: clean air has the noise floor alone."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Station
from dowsax.world import Gaussian, UniformBox, without_source
from dowsax.world.compose import compose
from dowsax.world.sensors.above_background import AboveBackground

BOX = UniformBox((0.0, 0.0), (200.0, 200.0))
RATIO, FLOOR, BACKGROUND = 0.3, 0.01, 2.0
NOISE = {"noise_ratio": RATIO, "noise_floor": FLOOR}


def plume(background, **settings):
    return compose("gas-plume", BOX, gas="methane", noise=NOISE, background=background, **settings)


def station_of(theta, distance):
    return Station(theta[:2] + jnp.array([distance, 0.0]), wind=jnp.array([3.0, 0.0]))


def test_a_background_moves_readings_and_nothing_else(key):
    """p(z | c + b) with a background is p(z − b | c) without one, to the rounding of z and c."""
    with_one, without = plume(BACKGROUND), plume(None)
    theta = with_one.prior.sample(key)
    for distance in (20.0, 80.0, -50.0):
        station = station_of(theta, distance)
        added = without.intensity(theta, station)
        for share in (0.5, 1.0, 1.4):
            reading = share * added
            rounding = 8 * 2.0**-23 * (BACKGROUND + added) / FLOOR
            expected = without.log_likelihood(theta, station, reading)
            found = with_one.log_likelihood(theta, station, BACKGROUND + reading)
            slack = rounding * (1 + abs(float(expected)))
            np.testing.assert_allclose(found, expected, atol=float(slack))


def test_clean_air_scatters_by_the_floor(key):
    """Upwind there is no plume: the standard deviation of readings is the floor, to 5 standard errors."""
    model, number = plume(BACKGROUND), 4000
    theta = model.prior.sample(key)
    station = station_of(theta, -150.0)
    keys = jax.random.split(key, number)
    readings = jax.vmap(model.sample_reading, in_axes=(0, None, None))(keys, theta, station)
    assert abs(np.std(readings) / FLOOR - 1) <= 5 / np.sqrt(2 * number) + 1e-3
    assert abs(np.mean(readings) - BACKGROUND) <= 5 * FLOOR / np.sqrt(number) + 1e-6


def test_each_sensor_has_its_own_background_taken_off(key):
    model = plume("unknown", sensors=("A", "B"))
    theta = model.prior.sample(key)
    names = [parameter.name for parameter in model.prior.parameters]
    for number, name in enumerate(("A", "B")):
        background = theta[names.index(f"background {name}")]
        station = eqx.tree_at(
            lambda at: at.sensor, station_of(theta, -150.0), jnp.int32(number), is_leaf=lambda at: at is None
        )
        by_hand = Gaussian(RATIO, FLOOR).log_prob(jnp.float32(0.02), jnp.float32(0.0), station)
        found = model.log_likelihood(theta, station, background + 0.02)
        np.testing.assert_allclose(found, by_hand, rtol=1e-3)


def test_only_noise_in_proportion_asks_for_it():
    """Levels and counts have none; without a background there is nothing to take off."""
    assert isinstance(plume(BACKGROUND).sensor, AboveBackground)
    assert isinstance(without_source(plume(BACKGROUND)).sensor, AboveBackground)
    assert isinstance(plume(None).sensor, Gaussian)
    assert not isinstance(compose("magnetic-dipole", BOX).sensor, AboveBackground)
    assert not isinstance(compose("radiation", BOX).sensor, AboveBackground)
    assert isinstance(compose("temperature", BOX, background=5.0).sensor, AboveBackground)
