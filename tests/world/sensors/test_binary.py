"""Hits against the fluctuating concentration that makes them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.stats import norm
from scipy import stats

from dowsax.types import Station
from dowsax.world import UniformBox
from dowsax.world.compose import compose
from dowsax.world.sensors.binary import Binary

SENSOR = Binary(threshold=2.0, fluctuation=1.0, correlation_time=4.0, false_alarms=0.01)
CONCENTRATIONS = np.array([0.0, 1e-3, 0.1, 0.7, 2.0, 9.0, 1e3], np.float32)
MEAN, DWELL = 0.7, 12.0


def station(dwell=DWELL) -> Station:
    return Station(jnp.zeros(2), dwell=jnp.float32(dwell))


def hit_probabilities(sensor=SENSOR, dwell=DWELL) -> np.ndarray:
    return np.exp(log_probs(1.0, sensor, dwell))


def log_probs(reading, sensor=SENSOR, dwell=DWELL) -> np.ndarray:
    log_prob = jax.jit(jax.vmap(sensor.log_prob, in_axes=(None, 0, None)))
    return np.asarray(log_prob(jnp.float32(reading), jnp.asarray(CONCENTRATIONS), station(dwell)), np.float64)


def test_a_hit_is_an_excursion_of_a_fluctuating_concentration():
    """Four looks of a log-normal concentration, and Poisson's false alarms: five standard errors."""
    rng, number = np.random.default_rng(0), 100_000
    spread = np.sqrt(np.log(2.0))
    looks = MEAN * np.exp(spread * rng.standard_normal((number, 4)) - spread**2 / 2)
    assert looks.mean() == pytest.approx(MEAN, abs=5 * MEAN / np.sqrt(4 * number))
    hits = (looks.max(axis=1) > 2.0) | (rng.poisson(0.01 * DWELL, number) > 0)
    expected = float(jnp.exp(SENSOR.log_prob(jnp.ones(()), jnp.float32(MEAN), station())))
    assert hits.mean() == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / number))


def test_probabilities_add_up_to_one_and_rise_with_the_concentration():
    """Both readings of the formula in double precision; of no source there are false alarms alone."""
    hits = hit_probabilities()
    np.testing.assert_allclose(hits + np.exp(log_probs(0.0)), 1.0, atol=1e-6)
    assert (np.diff(hits) >= 0).all()
    assert hits[0] == pytest.approx(-np.expm1(-0.01 * DWELL), rel=1e-5)
    assert hits[-1] == pytest.approx(1.0)
    spread = np.sqrt(np.log(2.0))
    below = stats.norm.cdf(-(np.log(CONCENTRATIONS[1:] / 2.0) - spread**2 / 2) / spread)
    np.testing.assert_allclose(hits[1:], 1 - below**4 * np.exp(-0.01 * DWELL), rtol=1e-4)


def test_a_hit_without_false_alarms_keeps_its_small_probability():
    """A millionth of a millionth is neither zero nor infinity, and of no gas at all nothing is infinite."""
    sensor = Binary(2.0, 1.0, 4.0, 0.0)
    rare = float(sensor.log_prob(jnp.ones(()), jnp.float32(0.01), station()))
    spread = np.sqrt(np.log(2.0))
    score = np.log(0.01 / 2.0) / spread - spread / 2
    assert rare == pytest.approx(np.log(4) + stats.norm.logcdf(score), abs=1e-2)
    assert np.isfinite(float(sensor.log_prob(jnp.ones(()), jnp.zeros(()), station())))


def test_drawn_readings_have_the_probability():
    keys = jax.random.split(jax.random.key(0), 20_000)
    draw = jax.jit(jax.vmap(SENSOR.sample, in_axes=(0, None, None)))
    for mean, expected in zip(CONCENTRATIONS, hit_probabilities(), strict=True):
        drawn = np.asarray(draw(keys, jnp.asarray(mean), station()))
        assert set(np.unique(drawn)) <= {0.0, 1.0}
        error = np.sqrt(expected * (1 - expected) / len(keys))
        assert drawn.mean() == pytest.approx(expected, abs=5 * error + 1e-6)


def test_only_the_ratio_of_concentration_and_threshold_matters():
    louder = Binary(20.0, 1.0, 4.0, 0.01)
    for reading in (0.0, 1.0):
        log_prob = SENSOR.log_prob(jnp.float32(reading), jnp.float32(MEAN), station())
        same = louder.log_prob(jnp.float32(reading), jnp.float32(10 * MEAN), station())
        assert float(log_prob) == pytest.approx(float(same), abs=1e-5)


def test_other_readings_are_refused():
    assert SENSOR.fault(np.array([0.0, 1.0])) is None
    assert "reads 1 for a hit and 0 for none" in (SENSOR.fault(np.array([1.0, 0.3])) or "")


def test_a_swaying_wind_is_an_average_over_directions():
    """The hit probability of 40 sources from the prior against 401 turns of the wind: within 0.02."""
    box, known = UniformBox((0.0, 0.0), (100.0, 100.0)), {"turn": 0.0, "meander": 0.1}
    swaying, plain = (
        compose("gas-plume", box, gas="methane", reading="binary", distributions=known, direction_error=error)
        for error in (10.0, 0.0)
    )
    there = Station(jnp.array([70.0, 50.0]), wind=jnp.array([3.0, 0.0]))
    steps = jnp.linspace(-6.0, 6.0, 401)
    share = norm.pdf(steps) / jnp.sum(norm.pdf(steps))

    @jax.jit
    def both(theta):
        def turned(step):
            angle = jnp.radians(10.0) * step
            wind = 3.0 * jnp.stack([jnp.cos(angle), jnp.sin(angle)])
            return jnp.exp(plain.log_likelihood(theta, Station(there.position, wind=wind), jnp.ones(())))

        exact = jnp.sum(share * jax.vmap(turned)(steps))
        return exact, jnp.exp(swaying.log_likelihood(theta, there, jnp.ones(())))

    thetas = jax.vmap(swaying.prior.sample)(jax.random.split(jax.random.key(1), 40))
    thetas = thetas.at[:, 0].set(jnp.linspace(0.0, 69.0, 40)).at[:, 1].set(50.0 + jnp.linspace(-9.0, 9.0, 40))
    exact, own = (np.asarray(part) for part in jax.lax.map(both, thetas))
    assert exact.max() > 0.5
    np.testing.assert_allclose(own, exact, atol=0.02)
