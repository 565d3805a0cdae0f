"""What sensors add to a field: background, lag, wind that was not measured, numbers that are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dowsax.types import Station
from dowsax.world import with_trail
from dowsax.world.fields import Arranged, Background, GivenWind, InferredWind, Lagged, Nothing
from dowsax.world.fields.arranged import KNOWN_COLUMN
from dowsax.world.fields.nothing import remove_source

HERE = Station(jnp.float32([3, 4]))


def east(theta, station):
    """A field that tells its station apart: the position to the east, times the third column."""
    return theta[2] * station.position[0]


def breeze(theta, station):
    return theta[2] * station.wind[0] + station.wind[1]


def at_all(field, theta, stations):
    return np.asarray(jax.jit(jax.vmap(field, in_axes=(None, 0)))(theta, stations), float)


def test_background_is_added():
    assert float(Background(east, 3)(jnp.float32([0, 0, 2, 0.5]), HERE)) == pytest.approx(6.5)


def test_each_sensor_has_its_background():
    theta = jnp.float32([0, 0, 2, 10, 20, 30])
    stations = Station(jnp.ones((4, 2)), sensor=jnp.array([2, 0, 1, 2]))
    values = at_all(Background(east, 3, num_sensors=3), theta, stations)
    np.testing.assert_allclose(values, [32, 12, 22, 32])


def test_levels_add_as_powers():
    """Two equal levels are 3 dB more; a far louder one stays as it is."""
    field = Background(east, 3, levels=True)
    equal, louder = (float(field(jnp.float32([0, 0, 20, level]), HERE)) for level in (60.0, 110.0))
    assert equal == pytest.approx(60 + 10 * np.log10(2), abs=1e-4)
    assert louder == pytest.approx(110, abs=1e-3)


def test_background_by_sensor_needs_the_sensor():
    with pytest.raises(ValueError, match="sensor"):
        Background(east, 3, num_sensors=2)(jnp.ones(5), HERE)


@pytest.fixture
def walk():
    """30 stations at uneven times."""
    generator = np.random.default_rng(5)
    times = np.cumsum(generator.exponential(4.0, 30))
    places = generator.uniform(0, 10, (30, 2))
    return Station(jnp.float32(places), time=jnp.float32(times))


def test_lag_is_the_exact_recursion(walk):
    """y ← e^{−Δ/τ} y + (1 − e^{−Δ/τ}) c from a settled start, with a trail over the whole walk."""
    tau, values, times = 7.0, 2 * np.asarray(walk.position, float)[:, 0], np.asarray(walk.time, float)
    expected = [values[0]]
    for step, value in zip(np.diff(times), values[1:], strict=True):
        left = np.exp(-step / tau)
        expected.append(left * expected[-1] + (1 - left) * value)
    ours = at_all(Lagged(east, 3), jnp.float32([0, 0, 2, tau]), with_trail(walk, 29))
    np.testing.assert_allclose(ours, expected, rtol=1e-5)


def test_lag_solves_its_equation(walk):
    """τ y' = c − y by a general solver, c being that of the next station."""
    tau, values, times = 7.0, np.asarray(walk.position, float)[:, 0], np.asarray(walk.time, float)
    level = values[0]
    for start, end, value in zip(times[:-1], times[1:], values[1:], strict=True):
        level = solve_ivp(lambda _, y, c=value: (c - y) / tau, (start, end), [level], rtol=1e-8).y[0, -1]
    ours = at_all(Lagged(east, 3), jnp.float32([0, 0, 1, tau]), with_trail(walk, 29))
    assert ours[-1] == pytest.approx(level, rel=1e-5)


def test_no_lag_is_the_field_and_a_constant_stays(walk):
    stations = with_trail(walk, 4)
    theta = jnp.float32([0, 0, 2, 0])
    np.testing.assert_allclose(
        at_all(Lagged(east, 3), theta, stations), at_all(east, theta, stations), rtol=1e-6
    )
    flat = Lagged(lambda theta, station: theta[2], 3)
    np.testing.assert_allclose(at_all(flat, jnp.float32([0, 0, 2, 50]), stations), 2, rtol=1e-6)


def test_lag_needs_a_trail():
    with pytest.raises(ValueError, match="with_trail"):
        Lagged(east, 3)(jnp.ones(4), HERE)


def test_wind_is_given_or_inferred():
    theta = jnp.float32([0, 0, 2, 5, 7])
    assert float(GivenWind(breeze, (5.0, 7.0))(theta, HERE)) == 17
    assert float(InferredWind(breeze, 3)(theta, HERE)) == 17


def test_known_numbers_take_the_place_of_columns():
    field = Arranged(lambda theta, station: jnp.sum(theta * jnp.float32([1, 10, 100, 1000])),
                     (0, 1, KNOWN_COLUMN, 2), (0.0, 0.0, 3.0, 0.0))  # fmt: skip
    assert float(field(jnp.float32([1, 2, 4]), HERE)) == 1 + 20 + 300 + 4000


def test_without_a_source_the_nuisances_stay(walk):
    """Whatever is wrapped around a field, its absence is the same around nothing."""
    field = Arranged(
        Background(Lagged(InferredWind(breeze, 3), 5), 6), (0, 1, KNOWN_COLUMN, 2, 3, 4, 5), (9.0,) * 7
    )
    stations, theta = with_trail(walk, 3), jnp.float32([1, 1, 2, 3, 4, 5.5])
    np.testing.assert_allclose(at_all(remove_source(field), theta, stations), 5.5)
    assert isinstance(remove_source(GivenWind(breeze, (1, 1))).field, Nothing)
