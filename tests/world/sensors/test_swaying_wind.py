"""A wind that is off by another angle at each reading: its distribution against a fine grid of plain ones."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import logsumexp
from jax.scipy.stats import norm

from dowsax.types import Station
from dowsax.world import UniformBox, without_source
from dowsax.world.compose import compose
from dowsax.world.sensors import swaying_wind
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.swaying_wind import SwayingWind, sways
from dowsax.world.trails import with_trail

BOX = UniformBox((0.0, 0.0), (200.0, 200.0))
KNOWN_COLUMN = {"height": 1.0, "vertical": 1.0, "meander": 0.1, "turn": 0.0, "speed": 1.0}
NUM_READINGS = 200


def model(error, robust=True, background=2.0, **settings):
    """Strength, stability and width are unknown, and the noise is little."""
    noise = {"noise_ratio": 0.1, "noise_floor": 0.01}
    return compose(
        "gas-plume",
        BOX,
        gas="methane",
        distributions=KNOWN_COLUMN,
        background=background,
        noise=noise,
        robust=robust,
        direction_error=error,
        **settings,
    )


def turned(station, angle):
    """The station in a wind turned counter-clockwise, by hand."""
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    east, north = station.wind
    return replace(station, wind=jnp.stack([cosine * east - sine * north, sine * east + cosine * north]))


@eqx.filter_jit
def by_grid(plain, error, theta, station, reading):
    """The integral over the angle as a sum of 2,001 plain likelihoods, six standard deviations either way."""
    steps = jnp.linspace(-6.0, 6.0, 2001)
    terms = jax.vmap(lambda step: plain.log_likelihood(theta, turned(station, step * error), reading))(steps)
    logs = norm.logpdf(steps)
    return logsumexp(terms + logs) - logsumexp(logs)


@eqx.filter_jit
def cases(swaying, key, width=(0.2, 1.5)):
    """Sources, stations downwind of them within the reach of plume and error, and sampled readings."""
    source_key, place_key, wind_key, noise_key = jax.random.split(key, 4)
    thetas = jax.vmap(swaying.prior.sample)(jax.random.split(source_key, NUM_READINGS))
    distance = jax.random.uniform(place_key, (NUM_READINGS,), minval=10.0, maxval=150.0)
    off = 0.3 * jax.random.normal(wind_key, (NUM_READINGS,))
    offsets = distance[:, None] * jnp.stack([jnp.cos(off), jnp.sin(off)], axis=1)
    winds = jnp.broadcast_to(jnp.array([3.0, 0.0]), (NUM_READINGS, 2))
    lateral = [parameter.name for parameter in swaying.prior.parameters].index("lateral")
    thetas = thetas.at[:, lateral].set(jnp.linspace(*width, NUM_READINGS))
    stations = Station(thetas[:, :2] + offsets, wind=winds, altitude=jnp.full(NUM_READINGS, 1.5))
    readings = jax.vmap(swaying.sample_reading)(jax.random.split(noise_key, NUM_READINGS), thetas, stations)
    return thetas, stations, readings


def differences(error, robust, key):
    """log p by the grid less log p̃ by the bins, of sampled readings."""
    swaying, plain = model(error, robust), model(0.0, robust)
    drawn = cases(swaying, key)
    ours = jax.jit(jax.vmap(swaying.log_likelihood))(*drawn)
    exact = jax.lax.map(lambda one: by_grid(plain, math.radians(error), *one), drawn)
    return np.asarray(exact - ours, np.float64)


@pytest.mark.slow
@pytest.mark.parametrize(("error", "robust"), [(3.0, True), (10.0, False), (25.0, True)])
def test_little_is_lost_against_a_fine_grid(error, robust, key):
    """Kullback and Leibler's divergence of the distribution from ours is below 0.03 nats a reading.

    Plumes are down to 1° wide at an error of 25°. Since readings are drawn and not computed, this is also
    the agreement of `sample` with `log_prob`: draws of another distribution would lose more.
    """
    lost = differences(error, robust, key)
    assert lost.mean() <= 0.03 + 5 * lost.std() / np.sqrt(NUM_READINGS)
    assert np.abs(lost).max() < 1.5


@pytest.mark.slow
def test_more_bins_are_nearer(key, monkeypatch):
    """Ten times as many leave less than a fifth of the difference, which falls about with their number."""
    few = np.abs(differences(10.0, True, key)).mean()
    monkeypatch.setattr(swaying_wind, "NUM_ANGLE_BINS", 10 * swaying_wind.NUM_ANGLE_BINS)
    # Another model, as what is compiled knows the number of bins.
    many = np.abs(differences(10.000001, True, key)).mean()
    assert many <= few / 5


@pytest.mark.parametrize("reading", [2.0, 2.3, 50.0, 1e5])
def test_sums_of_densities_and_of_their_logarithms_agree(reading, key, monkeypatch):
    swaying = model(10.0)
    thetas, stations, _ = cases(swaying, key)

    def terms():
        each = jax.jit(jax.vmap(lambda theta, at: swaying.log_likelihood(theta, at, jnp.float32(reading))))
        return each(thetas, stations)

    plain = terms()
    monkeypatch.setattr(swaying_wind, "_MAX_PLAIN_DEGREES", 0.0)
    # Each of nine terms is rounded a dozen times, and the logarithms are of the order of 60.
    np.testing.assert_allclose(plain, terms(), atol=9 * 12 * 2**-24 + 60 * 4 * 2**-24)


@pytest.mark.slow
def test_is_a_density(key):
    """It integrates to one over readings: by the trapezoidal rule, to what a tenth of the steps changes."""
    swaying = model(10.0)
    thetas, stations, _ = cases(swaying, key)
    density_of = jax.jit(jax.vmap(swaying.log_likelihood, in_axes=(None, None, 0)))
    for at in (0, 100, 190):
        theta, station = thetas[at], jax.tree.map(lambda leaf, at=at: leaf[at], stations)
        reach = 30 * float(swaying.intensity(theta, station)) + 30.0
        # Finer about the background, where the noise is least.
        grid = 2.0 + np.sinh(np.linspace(-12, 12, 40_001)) / np.sinh(12) * reach
        density = np.exp(np.asarray(density_of(theta, station, jnp.float32(grid)), np.float64))
        total, coarse = np.trapezoid(density, grid), np.trapezoid(density[::10], grid[::10])
        assert abs(total - 1) <= abs(total - coarse) + 5e-3


def test_no_error_is_as_without_and_a_small_one_nearly(key):
    """The model is the same; 0.01° changes a log likelihood by as much as the field changes, at most."""
    plain = compose("gas-plume", BOX, gas="methane")
    assert eqx.tree_equal(plain, compose("gas-plume", BOX, gas="methane", direction_error=0.0))
    exact, nearly = model(0.0), model(0.01)
    drawn = cases(exact, key, width=(1.0, 1.5))
    near, far = (jax.jit(jax.vmap(one.log_likelihood))(*drawn) for one in (nearly, exact))
    np.testing.assert_allclose(near, far, atol=0.02, rtol=1e-3)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("wind", [(0.0, 0.0), (1e-4, 0.0), (30.0, -10.0)])
def test_is_finite_everywhere(wind, key):
    """In calm air, at the source, upwind and for absurd readings, and so is its gradient."""
    swaying = model(10.0)
    theta = jax.jit(swaying.prior.sample)(key)
    value = jax.jit(jax.value_and_grad(swaying.log_likelihood))
    for offset in ((0.0, 0.0), (1e-3, 0.0), (-150.0, 0.0), (50.0, 5.0)):
        station = Station(theta[:2] + jnp.array(offset), wind=jnp.array(wind), altitude=jnp.float32(1.5))
        for reading in (-5.0, 2.0, 1e6):
            log_prob, gradient = value(theta, station, jnp.float32(reading))
            assert jnp.isfinite(log_prob)
            assert jnp.isfinite(gradient).all()


def test_a_plume_that_just_misses_is_possible(key):
    """A reading far off a narrow plume: impossible in an exact wind, and not in one that is off by 10°."""
    exact, swaying = model(0.0, robust=False), model(10.0, robust=False)
    names = [parameter.name for parameter in exact.prior.parameters]
    theta = (
        jax.jit(exact.prior.sample)(key)
        .at[jnp.array([names.index("q"), names.index("stability")])]
        .set(jnp.array([1.0, 4.0]))
    )
    offset = 60.0 * jnp.array([math.cos(0.25), math.sin(0.25)])
    station = Station(theta[:2] + offset, wind=jnp.array([3.0, 0.0]), altitude=jnp.float32(1.5))
    high = jax.jit(lambda theta, at: exact.intensity(theta, turned(at, 0.25)))(theta, station)
    terms = [jax.jit(one.log_likelihood)(theta, station, high) for one in (exact, swaying)]
    assert terms[0] < -1000
    assert terms[1] > -20


@pytest.mark.slow
def test_a_sensor_that_lags_sways_with_its_trail(key):
    """Along a trail whose winds turn together, against the grid."""
    swaying, plain = model(10.0, lag=5.0), model(0.0, lag=5.0)
    theta = swaying.prior.sample(key)
    way = jnp.stack([jnp.linspace(30.0, 40.0, 6), jnp.linspace(-8.0, 8.0, 6)], axis=1)
    track = Station(
        theta[None, :2] + way,
        wind=jnp.broadcast_to(jnp.array([3.0, 0.0]), (6, 2)),
        altitude=jnp.full(6, 1.5),
        time=2.0 * jnp.arange(6.0),
    )
    station = jax.tree.map(lambda leaf: leaf[-1], with_trail(track, 4))
    reading = plain.intensity(theta, station)

    def term(angle):
        trail = replace(station.trail, stations=jax.vmap(turned, (0, None))(station.trail.stations, angle))
        return plain.log_likelihood(theta, replace(turned(station, angle), trail=trail), reading)

    steps = jnp.linspace(-6.0, 6.0, 2001)
    logs = norm.logpdf(steps)
    exact = logsumexp(jax.vmap(term)(steps * math.radians(10.0)) + logs) - logsumexp(logs)
    assert abs(swaying.log_likelihood(theta, station, reading) - exact) < 0.5


def test_without_a_source_nothing_sways():
    none = without_source(model(10.0, edge=0.1))
    assert isinstance(none.sensor, AboveBackground)
    assert not isinstance(none.sensor.sensor, SwayingWind)
    assert sways(model(10.0, redundancy=3).sensor)
    assert not sways(none.sensor)
    assert without_source(model(10.0)).sensor.sensor == without_source(model(0.0)).sensor.sensor


def test_what_cannot_sway_is_refused():
    with pytest.raises(ValueError, match="`direction_error`"):
        compose("gas-plume", BOX, wind="unknown", direction_error=10.0)
    with pytest.raises(ValueError, match="`direction_error`"):
        compose("level", BOX, direction_error=10.0)
    with pytest.raises(ValueError, match="`direction_error`"):
        compose("gas", BOX, direction_error=10.0)
    with pytest.raises(ValueError, match="45"):
        model(60.0)


def test_two_plumes_are_as_a_fine_grid_has_them(key):
    """Sixty readings of two sources, anywhere: log p is off by 0.1 nats on average, at most."""
    swaying, plain = (model(error, sources=2) for error in (10.0, 0.0))
    source_key, place_key, noise_key = jax.random.split(key, 3)
    thetas = jax.jit(jax.vmap(swaying.prior.sample))(jax.random.split(source_key, 60))
    places = jax.random.uniform(place_key, (60, 2), maxval=200.0)
    winds = jnp.broadcast_to(jnp.array([3.0, 0.0]), (60, 2))
    stations = Station(places, wind=winds, altitude=jnp.full(60, 1.5))
    readings = jax.jit(jax.vmap(swaying.sample_reading))(jax.random.split(noise_key, 60), thetas, stations)
    ours = jax.jit(jax.vmap(swaying.log_likelihood))(thetas, stations, readings)
    by_grid_each = jax.jit(
        lambda *drawn: jax.lax.map(lambda one: by_grid(plain, math.radians(10.0), *one), drawn)
    )
    exact = by_grid_each(thetas, stations, readings)
    off = np.abs(np.asarray(exact - ours, np.float64))
    assert off.mean() < 0.1
    assert np.median(off) < 0.03
