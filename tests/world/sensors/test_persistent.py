"""Hits in runs: two readings that share their air, by simulation."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world.base import Sensor
from dowsax.world.earlier import recall_all
from dowsax.world.sensors.binary import Binary
from dowsax.world.sensors.persistent import GUST_SPEED_M_S, Persistent, time_apart

TAU = 5.0
recall = eqx.filter_jit(recall_all)
THETA = jnp.zeros(2)


def chain() -> tuple[Sensor, Persistent]:
    """A sensor of hits, alone and in a chain; its field is the first coordinate of the station."""
    inner = Binary(threshold=2.0, fluctuation=1.0, correlation_time=TAU, false_alarms=0.01)
    return inner, Persistent(inner, lambda theta, station: station.position[0], TAU, None)


def pair(first, second, times=(0.0, 2.0)) -> Station:
    """Two stations with these concentrations."""
    positions = jnp.array([[first, 0.0], [second, 0.0]])
    return Station(positions, time=jnp.array(times), dwell=jnp.full(2, 0.5))


@jax.jit
def _log_tables(stations: Station) -> tuple[jax.Array, jax.Array]:
    inner, sensor = chain()
    readings = jnp.array([0.0, 1.0])
    each = jax.vmap(inner.log_prob, in_axes=(0, None, None))
    own = jnp.stack([each(readings, station.position[0], station) for station in split(stations)])

    def after(before):
        _, last = split(recall_all(sensor, stations, jnp.stack([before, jnp.zeros(())])))
        given = jax.vmap(sensor.bind(THETA).log_prob, in_axes=(0, None, None))
        return given(readings, last.position[0], last)

    return own, jax.vmap(after)(readings)


def split(stations) -> list[Station]:
    return [jax.tree.map(lambda leaf, at=at: leaf[at], stations) for at in (0, 1)]


def conditionals(stations) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(z′), P(z) and P(z | z′), the last by row z′ and column z."""
    own, table = (np.exp(np.asarray(part, np.float64)) for part in _log_tables(stations))
    return own[0], own[1], table


@pytest.mark.parametrize(("first", "second"), [(0.1, 0.1), (0.5, 0.9), (3.0, 1.0), (40.0, 39.0), (0.0, 0.5)])
def test_each_reading_keeps_its_own_probability(first, second):
    """Over both earlier readings, and whatever they share; and what follows either adds up to one."""
    before, own, table = conditionals(pair(first, second))
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)
    np.testing.assert_allclose(before @ table, own, atol=1e-5)
    assert table[1, 1] >= own[1] - 1e-6


def test_two_readings_are_those_of_air_that_is_sometimes_the_same():
    """With one uniform number for both in a share of the cases, simulated: five standard errors."""
    first, second, number = 0.9, 1.4, 200_000
    before, own, table = conditionals(pair(first, second))
    shared = 0.95 * np.exp(-(2.0 + 0.5) / TAU)
    rng = np.random.default_rng(0)
    air, fresh = rng.random((2, number))
    later = np.where(rng.random(number) < shared, air, fresh)
    both = np.mean((air < before[1]) & (later < own[1]))
    expected = before[1] * table[1, 1]
    assert both == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / number))


def test_readings_far_apart_are_independent():
    """By an hour, or by 500 m; the first of all depends on none."""
    for stations in (pair(1.0, 1.1, times=(0.0, 3600.0)), replace(pair(1.0, 1.1), position=FAR)):
        _, own, table = conditionals(stations)
        np.testing.assert_allclose(table, np.stack([own, own]), atol=1e-5)


FAR = jnp.array([[1.0, 0.0], [1.0, 500.0]])


def test_the_nearest_in_time_is_recalled_and_without_times_the_latest():
    _, sensor = chain()
    stations = Station(jnp.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.1]]), time=jnp.array([9.0, 0.0, 10.0]))
    readings = jnp.array([1.0, 0.0, 0.0])
    earlier = recall(sensor, stations, readings).earlier
    assert earlier.readings[2, 0] == 1.0
    assert not earlier.is_taken[0, 0]
    assert recall(sensor, replace(stations, time=None), readings).earlier.readings[2, 0] == 0.0


def test_drawn_readings_follow_the_conditional():
    _, sensor = chain()
    stations = pair(0.9, 1.4)
    *_, table = conditionals(stations)
    _, last = split(recall(sensor, stations, jnp.array([1.0, 0.0])))
    keys = jax.random.split(jax.random.key(0), 20_000)
    draw = jax.jit(jax.vmap(lambda key: sensor.bind(THETA).sample(key, jnp.float32(1.4), last)))
    error = np.sqrt(table[1, 1] * table[1, 0] / len(keys))
    assert np.asarray(draw(keys)).mean() == pytest.approx(table[1, 1], abs=5 * error)


def test_contradicting_readings_of_one_place_and_time_are_possible():
    """Two sensors side by side may disagree: nothing is infinite."""
    *_, table = conditionals(pair(1.0, 1.0, times=(0.0, 0.0)))
    assert (table > 1e-3).all()


def test_two_paths_are_as_far_apart_as_their_middles():
    """Two paths from one instrument, 5 m apart in the middle: a gust takes its time from one to the other."""
    instrument, dwell = jnp.zeros(2), jnp.asarray(1.0)
    one, other = (
        Station(instrument, far_end=jnp.array(end), dwell=dwell) for end in ([10.0, 0.0], [16.0, 8.0])
    )
    assert float(time_apart(one, other)) == pytest.approx(1.0 + 5.0 / GUST_SPEED_M_S)
