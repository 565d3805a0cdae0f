"""Inverse square, log-distance and dipole: against the formulas, written a second time in float64."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import Dipole, InverseSquare, LogDistance, ProductPrior, UniformBox
from dowsax.world.fields import dipole, inverse_square, log_distance

MODULES = {"inverse_square": inverse_square, "log_distance": log_distance, "dipole": dipole}
FIELDS = {"inverse_square": InverseSquare(), "log_distance": LogDistance(), "dipole": Dipole()}
NUM_DRAWS = 100


@pytest.fixture
def survey(key):
    """Positions (100, 2) [m] and altitudes."""
    return jax.random.uniform(key, (NUM_DRAWS, 2), maxval=50.0), jnp.linspace(0.0, 30.0, NUM_DRAWS)


def prior_of(name):
    field = FIELDS[name]
    return ProductPrior(
        UniformBox((0, 0), (50, 50)), MODULES[name].default_distributions(), type(field).PARAMETERS
    )


def evaluate(field, thetas, positions, altitudes):
    one = lambda theta, position, altitude: field(theta, Station(position, altitude=altitude))  # noqa: E731
    return np.asarray(jax.jit(jax.vmap(one))(thetas, positions, altitudes), float)


def squared_distance(thetas, positions, altitudes, height):
    east, north = (np.asarray(positions, float) - thetas[:, :2]).T
    return east**2 + north**2 + (np.asarray(altitudes, float) - height) ** 2 + 0.1**2


def test_inverse_square_is_the_formula(survey, key, draw):
    drawn = draw(prior_of("inverse_square"), key, NUM_DRAWS)
    thetas = np.asarray(drawn, float)
    squared = squared_distance(thetas, *survey, thetas[:, 4])
    expected = thetas[:, 2] * np.exp(-thetas[:, 3] * np.sqrt(squared)) / squared
    np.testing.assert_allclose(evaluate(InverseSquare(), drawn, *survey), expected, rtol=1e-4)


def test_log_distance_is_the_formula(survey, key, draw):
    """And a tenfold distance costs 10 n dB."""
    drawn = draw(prior_of("log_distance"), key, NUM_DRAWS)
    thetas = np.asarray(drawn, float)
    squared = squared_distance(thetas, *survey, thetas[:, 4])
    away = (np.asarray(survey[0], float) - thetas[:, :2]) / np.sqrt(squared)[:, None]
    gain = np.sum(thetas[:, 6:8] * away, axis=1)
    lost = 10 * thetas[:, 3] * np.log10(np.sqrt(squared)) + thetas[:, 5] * np.sqrt(squared)
    expected = thetas[:, 2] - lost + gain
    np.testing.assert_allclose(evaluate(LogDistance(), drawn, *survey), expected, rtol=1e-4, atol=1e-3)
    theta = jnp.float32([0, 0, -40, 2.5, 1, 0, 0, 0])
    near, far = (LogDistance(1.0)(theta, Station(jnp.float32([d, 0]))) for d in (5.0, 50.0))
    assert float(near - far) == pytest.approx(25, abs=0.01)


def test_dipole_is_the_gradient_of_its_potential(survey, key, draw):
    """B = −∇ (μ0/4π) m·d/d³ by automatic differentiation, along the earth's field. To float32 rounding."""
    field = Dipole(inclination=60.0, declination=-20.0, standoff=1e-6)
    drawn = draw(prior_of("dipole"), key, NUM_DRAWS)
    dip, turn = np.radians(60.0), np.radians(-20.0)
    ambient = np.array([np.cos(dip) * np.sin(turn), np.cos(dip) * np.cos(turn), -np.sin(dip)])

    def potential(point, theta):
        offset = point - jnp.stack([theta[0], theta[1], -theta[5]])
        return 100.0 * jnp.dot(theta[2:5], offset) / jnp.sum(offset**2) ** 1.5

    with jax.enable_x64(True):
        thetas = jnp.asarray(np.asarray(drawn, np.float64))
        points = jnp.concatenate([jnp.asarray(np.asarray(part, np.float64)).reshape(NUM_DRAWS, -1)
                                  for part in survey], axis=1)  # fmt: skip
        expected = -np.asarray(jax.vmap(jax.grad(potential))(points, thetas)) @ ambient
        size = np.linalg.norm(np.asarray(jax.vmap(jax.grad(potential))(points, thetas)), axis=1)
    ours = evaluate(field, drawn, *survey)
    assert (np.abs(ours - expected) < 1e-5 * size).all()


def test_dipole_over_its_pole():
    """A moment that points up, seen from above where the earth's field points down: −2 μ0 m/4π d³."""
    theta = jnp.float32([3, 4, 0, 0, 5.0, 1.0])
    value = Dipole(inclination=90.0)(theta, Station(jnp.float32([3, 4]), altitude=jnp.float32(1.0)))
    assert float(value) == pytest.approx(-2 * 100 * 5 / 2**3, rel=1e-2)


@pytest.mark.parametrize("name", FIELDS)
def test_is_finite_with_finite_gradients(name, key, draw):
    """At the source, far away, and for proposals outside the support."""
    field, thetas = FIELDS[name], draw(prior_of(name), key, NUM_DRAWS)
    wild = 100 * jax.random.normal(key, thetas.shape)

    def value(theta, offset):
        return field(theta, Station(theta[:2] + offset, altitude=jnp.zeros(())))

    both = jax.jit(jax.vmap(jax.value_and_grad(value, argnums=(0, 1)), in_axes=(0, None)))
    for offset in (0.0, 1e-4, 1e5):
        for population in (thetas, wild):
            values, slopes = both(population, jnp.full(2, offset))
            assert np.isfinite(values).all()
            assert all(np.isfinite(slope).all() for slope in slopes)


@pytest.mark.parametrize("name", FIELDS)
def test_a_station_without_altitude_has_the_fields_own(name, key, draw):
    field, theta = FIELDS[name], draw(prior_of(name), key, 1)[0]
    here = jnp.float32([20, 20])
    said = field(theta, Station(here, altitude=jnp.float32(field.altitude)))
    assert float(field(theta, Station(here))) == pytest.approx(float(said), rel=1e-5)
