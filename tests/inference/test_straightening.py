"""Straightened coordinates are exact whatever the readings, and follow them where they should."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.belief import empty_history, record
from dowsax.inference.presets import DEFAULT
from dowsax.inference.straightening import build_straightening, log_intensity_moments
from dowsax.types import Station
from dowsax.world import MODALITIES, Plume, benchmark_model

POSITIONS = jnp.array([[2.0, 3.0], [3.0, 3.0], [4.0, 3.0], [4.0, 4.0], [4.0, 5.0]])


def surveyed(key, field):
    """A model, a source of its prior and a history of readings of it."""
    model = benchmark_model(field)
    source_key, noise_key = jax.random.split(key)
    theta = model.prior.sample(source_key)
    readings = model.simulate(noise_key, theta, Station(POSITIONS))
    history = empty_history(Station(jnp.zeros(2)), 16)
    for position, reading in zip(POSITIONS, readings, strict=True):
        history = record(history, Station(position), reading)
    return model, theta, history


def rows_of(key, model, number):
    """Coordinates, but the free one, of draws from the prior: one column each."""
    draws = jax.vmap(model.prior.sample)(jax.random.split(key, number))
    return jax.vmap(model.prior.coordinates.forward, out_axes=1)(draws)[:-1]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("field", ["temperature", "energy"])
def test_is_a_bijection_of_unit_volume(field, key):
    """`bend` undoes `straighten`, and the determinant of its derivative is one."""
    survey_key, draw_key = jax.random.split(key)
    model, _, history = surveyed(survey_key, field)
    shift = build_straightening(model, model.prior.coordinates, history, jnp.asarray(0.5))
    rows = rows_of(draw_key, model, 32)
    back = jax.jit(lambda rows: shift.bend(shift.straighten(rows)))(rows)
    # The shift is of the size of a hundred: single precision leaves about 1e-5 of it.
    np.testing.assert_allclose(back, rows, atol=2e-3)
    derivative = jax.jit(jax.vmap(jax.jacfwd(lambda row: shift.straighten(row[:, None])[:, 0])))(rows.T)
    np.testing.assert_allclose(np.linalg.det(np.asarray(derivative, np.float64)), 1.0, rtol=1e-4)


def test_log_terms_are_those_of_the_plume(key):
    """a + h·β is the log of the benchmark field, for every source of the prior."""
    model = benchmark_model("temperature")
    rows, field, station = rows_of(key, model, 200), Plume(), Station(jnp.array([3.0, 17.0]))

    def both(row):
        coordinates = jnp.append(row, 0.5)
        offset, design = model.prior.coordinates.log_terms(row, station)
        linear = offset + design @ row[jnp.array(model.prior.coordinates.linear)]
        return linear, field.log_intensity(model.prior.coordinates.inverse(coordinates), station)

    linear, exact = jax.jit(jax.vmap(both, in_axes=1))(rows)
    # Terms of up to d/λ cancel; lengths below a millimetre cannot be distinguished.
    resolved = rows[5] > np.log(2e-3)
    np.testing.assert_allclose(linear[resolved], exact[resolved], rtol=1e-5, atol=1e-3)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("field", MODALITIES)
def test_level_is_the_posterior_of_the_log_intensity(field, key):
    """Against numerical integration on a fine grid, for a reading of an intensity well above every floor."""
    model, station = benchmark_model(field), Station(jnp.zeros(2))
    reading = model.sensor.sample(key, jnp.asarray(20.0), station)
    mean, precision = jax.jit(log_intensity_moments)(model, station, reading)
    logs = jnp.linspace(-12, 18, 60001)
    terms = jax.vmap(lambda log: model.sensor.log_prob(reading, jnp.exp(log), station))(logs)
    density = np.exp(np.asarray(terms, np.float64) - float(jnp.max(terms)))
    density /= density.sum()
    expected = float(density @ np.asarray(logs))
    spread = float(np.sqrt(density @ (np.asarray(logs) - expected) ** 2))
    assert abs(float(mean) - expected) < 0.1 * spread
    assert abs(float(precision) ** -0.5 / spread - 1) < 0.1


def test_a_reading_that_nothing_explains_says_little():
    """No NaN, and hardly any precision."""
    mean, precision = jax.jit(log_intensity_moments)(
        benchmark_model("concentration"), Station(jnp.zeros(2)), jnp.asarray(-1.0)
    )
    assert np.isfinite(mean)
    assert 0 < precision < 0.02


@pytest.mark.slow
def test_leaves_the_posterior_invariant(key):
    """Draws of the posterior, by weighing very many draws of the prior, are still such after a step of moves.

    The filter takes in two readings by parts, with moves in straightened coordinates; its moments must agree
    with importance sampling from the prior, within five standard errors of both.
    """
    source_key, prior_key, filter_key = jax.random.split(key, 3)
    model, _, history = surveyed(source_key, "concentration")
    draws = jax.jit(jax.vmap(model.prior.sample))(jax.random.split(prior_key, 400_000))
    terms = jnp.zeros(draws.shape[0])
    for at in range(2):
        station = Station(history.stations.position[at])
        reading = history.readings[at]
        one = lambda theta, station=station, reading=reading: model.log_likelihood(theta, station, reading)  # noqa: E731
        terms = terms + jax.jit(jax.vmap(one))(draws)
    weights = np.exp(np.asarray(terms - jnp.max(terms), np.float64))
    weights /= weights.sum()
    values = np.asarray(draws, np.float64)
    mean = weights @ values
    spread = np.sqrt(weights @ (values - mean) ** 2)
    filter_ = DEFAULT.with_horizon(16).build(model)

    @jax.jit
    def filtered(key):
        init_key, *step_keys = jax.random.split(key, 3)
        belief = filter_.init(init_key)
        for at, step_key in enumerate(step_keys):
            station = Station(history.stations.position[at])
            belief, _ = filter_.step(step_key, belief, station, history.readings[at])
        return jnp.exp(belief.log_weights) @ belief.particles

    means = np.asarray(jax.lax.map(filtered, jax.random.split(filter_key, 40)), np.float64)
    error = np.sqrt(means.var(0) / 40 + spread**2 * np.sum(weights**2))
    assert (np.abs(means.mean(0) - mean) < 5 * error).all()
