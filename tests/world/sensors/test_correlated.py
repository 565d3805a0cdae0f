"""Noise that nearby readings share, against the multivariate normal distribution of all readings at once."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, multivariate_normal

from dowsax.types import Station
from dowsax.world import UniformBox, compose, without_source
from dowsax.world.earlier import recall_all, remembering
from dowsax.world.model import Model

NOISE, CORRELATION, LENGTH = 3.0, 0.5, 20.0
KNOWN = dict.fromkeys(("height", "attenuation", "gain_east", "gain_north"), 0.0) | {
    "level": 60.0,
    "exponent": 2.0,
}
SOURCE = jnp.array([30.0, 40.0])


def level(correlation=CORRELATION, length=LENGTH, **settings) -> Model:
    """A level of which only the place of the source is unknown."""
    noise = {"noise_floor": NOISE, "correlation": correlation, "correlation_length": length}
    box = UniformBox((0.0, 0.0), (100.0, 100.0))
    return compose("level", box, distributions=KNOWN, noise=noise, **settings)


def places(number: int, seed: int = 0) -> Station:
    return Station(jnp.asarray(np.random.default_rng(seed).uniform(0, 100, (number, 2)), jnp.float32))


@eqx.filter_jit
def intensities(model: Model, theta, stations: Station) -> jax.Array:
    return jax.vmap(model.intensity, in_axes=(None, 0))(theta, stations)


def exact(model: Model, theta, stations: Station, correlation=CORRELATION, length=LENGTH):
    """The distribution of all readings at once."""
    at = np.asarray(stations.position, np.float64)
    mean = np.asarray(intensities(model, theta, stations), np.float64)
    apart = np.linalg.norm(at[:, None] - at[None, :], axis=-1)
    shared = correlation * np.exp(-apart / length)
    np.fill_diagonal(shared, 1.0)
    return multivariate_normal(mean, NOISE**2 * shared)


@eqx.filter_jit
def totals(model: Model, theta, stations: Station, surveys) -> jax.Array:
    """The log density of each survey (s, k): the sum over its readings, each given those before it."""

    def of_survey(readings):
        at = recall_all(model.sensor, stations, readings)
        return jnp.sum(jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))(theta, at, readings))

    return jax.vmap(of_survey)(jnp.asarray(surveys, jnp.float32))


def total(model: Model, theta, stations: Station, readings) -> float:
    return float(totals(model, theta, stations, jnp.asarray(readings)[None])[0])


def test_few_readings_have_the_exact_joint_density():
    """Up to nine readings each depends on all before it; rounding is that of float32, some 1e-5 a term."""
    model, stations = level(), places(9)
    oracle = exact(model, SOURCE, stations)
    readings = oracle.rvs(size=5, random_state=0).astype(np.float32)
    own = totals(model, SOURCE, stations, readings)
    np.testing.assert_allclose(own, oracle.logpdf(readings), rtol=0, atol=1e-3)


def test_headings_of_antennas_are_never_averaged():
    """An antenna that swings about north would point south on average; and nine readings are still exact."""
    model = level(options={"beam": 60.0})
    headings = jnp.where(jnp.arange(40) % 2 == 0, 350.0, 10.0)
    stations = replace(places(40), heading=headings)
    last = jax.tree.map(lambda leaf: leaf[39], stations)
    earlier = model.recall(last, stations, jnp.zeros(40), 39).earlier
    assert set(np.asarray(earlier.stations.heading).tolist()) <= {350.0, 10.0}
    few = jax.tree.map(lambda leaf: leaf[:9], stations)
    oracle = exact(model, SOURCE, few)
    readings = jnp.asarray(oracle.rvs(random_state=1), jnp.float32)
    assert total(model, SOURCE, few, readings) == pytest.approx(oracle.logpdf(readings), abs=1e-3)


def test_many_readings_tell_no_more_than_they_do():
    """300 readings within five lengths tell as much about the level as by the exact covariance, within 20 %.

    By curvature: the log density is quadratic in a shift of the level. Counted one by one they would tell 20
    times as much.
    """
    model = level(length=4.0)
    stations = Station(places(300).position / 5)
    oracle = exact(model, SOURCE, stations, length=4.0)
    means = jnp.asarray(oracle.mean, jnp.float32)
    tells = -2 * (total(model, SOURCE, stations, means + 1.0) - total(model, SOURCE, stations, means))
    ones = np.ones(300)
    known = ones @ np.linalg.solve(oracle.cov, ones)
    assert tells == pytest.approx(known, rel=0.2)
    assert 10 * known < 300 / NOISE**2


def test_many_readings_have_nearly_the_joint_density():
    """With 60 readings the groups leave out little: 3 % of a nat a reading."""
    model, stations = level(), places(60)
    oracle = exact(model, SOURCE, stations)
    readings = oracle.rvs(size=20, random_state=0)
    own = np.asarray(totals(model, SOURCE, stations, readings))
    assert np.mean(np.abs(own - oracle.logpdf(readings))) < 0.03 * 60


@pytest.mark.parametrize(("correlation", "length"), [(0.1, 20.0), (0.6, 7.0), (0.9, 45.0)])
def test_unknown_numbers_are_interpolated(correlation, length):
    """Between points of the grid the density is that of the numbers themselves, within 3 % of a nat."""
    model, stations = level("unknown", "unknown"), places(9, seed=1)
    theta = jnp.concatenate([SOURCE, jnp.array([correlation, length])])
    assert [parameter.name for parameter in model.prior.parameters[2:]] == [
        "correlation",
        "correlation_length",
    ]
    oracle = exact(model, theta, stations, correlation, length)
    readings = oracle.rvs(size=50, random_state=0)
    own = np.asarray(totals(model, theta, stations, readings))
    assert np.mean(oracle.logpdf(readings) - own) == pytest.approx(0.0, abs=0.03 * 9)


def test_drawn_readings_have_the_covariance():
    """Whitened by the exact covariance, drawn readings are standard normal (Kolmogorov and Smirnov)."""
    model, stations = level(), places(9)
    keys = jax.random.split(jax.random.key(0), 400)
    simulate = jax.jit(jax.vmap(model.simulate, in_axes=(0, None, None)))
    readings = simulate(keys, SOURCE, stations)
    oracle = exact(model, SOURCE, stations)
    white = np.linalg.solve(np.linalg.cholesky(oracle.cov), (np.asarray(readings) - oracle.mean).T)
    assert kstest(white.ravel(), "norm").pvalue > 1e-3
    correlations = np.corrcoef(white)[np.triu_indices(9, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(400)


def test_first_reading_has_the_noise_of_the_inner_sensor():
    model, alone = level(), level(correlation=0.0)
    station = Station(jnp.array([10.0, 20.0]))
    assert remembering(alone.sensor) is None
    assert model.log_likelihood(SOURCE, station, jnp.array(30.0)) == pytest.approx(
        float(alone.log_likelihood(SOURCE, station, jnp.array(30.0))), abs=1e-6
    )


def test_outlier_next_door_is_not_believed():
    """With Student's t a neighbour that is far off says nothing about this reading."""
    model = level(robust=True)
    stations = Station(jnp.array([[10.0, 20.0], [10.1, 20.0]]))
    expected = intensities(model, SOURCE, stations)

    @jax.jit
    def second(error):
        readings = expected + jnp.array([1.0, 0.0]) * error
        at = jax.tree.map(lambda leaf: leaf[1], recall_all(model.sensor, stations, readings))
        return model.log_likelihood(SOURCE, at, expected[1])

    assert second(300 * NOISE) == pytest.approx(float(second(0.0)), abs=0.1)
    assert second(2 * NOISE) < second(0.0) - 0.2


def test_without_source_the_noise_stays_correlated():
    """Given its neighbours, a reading depends on their errors from the level without a source."""
    null, stations = without_source(level()), places(9)
    oracle = exact(null, SOURCE, stations)
    readings = jnp.asarray(oracle.rvs(random_state=1), jnp.float32)
    assert total(null, SOURCE, stations, readings) == pytest.approx(oracle.logpdf(readings), abs=1e-3)


def test_stated_uncertainty_adds_to_the_noise():
    """A first reading that states an uncertainty u has the noise hypot(3, u); later ones the same total."""
    stated = level(uncertainty="measured")
    bare = places(2, seed=3)
    stations = Station(bare.position, uncertainty=jnp.full(2, 4.0))
    readings = jnp.array([31.0, 36.0])
    mean = np.asarray(intensities(stated, SOURCE, stations), np.float64)
    apart = float(np.linalg.norm(np.subtract(*np.asarray(bare.position))))
    shared = CORRELATION * np.exp(-apart / LENGTH)
    oracle = multivariate_normal(mean, (NOISE**2 + 16.0) * np.array([[1.0, shared], [shared, 1.0]]))
    assert total(stated, SOURCE, stations, readings) == pytest.approx(oracle.logpdf(readings), abs=1e-4)
