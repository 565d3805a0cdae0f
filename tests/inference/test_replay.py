"""The likelihood of the history against a plain loop over the readings."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.belief import History
from dowsax.inference.jumps import Paths, Regimes, no_regimes
from dowsax.inference.replay import reading_log_likelihood, replay
from dowsax.types import Station
from dowsax.world import Jump, benchmark_model

HORIZON = 20
NUM_PARTICLES = 12
SIZES = [0, 1, 7, 8, 9, 16, 17, HORIZON]
MODEL = benchmark_model("temperature")
JUMP = Jump(columns=(0, 1))


@jax.jit
def replayed(thetas, history, size, paths=None):
    """The terms of the readings before the newest of the first `size`, and those of the newest."""
    return replay(MODEL, thetas, History(history.stations, history.readings, size), paths)


one_term = jax.jit(MODEL.log_likelihood)


@pytest.fixture
def history(key):
    place_key, reading_key = jax.random.split(key)
    positions = jax.random.uniform(place_key, (HORIZON, 2), maxval=25.0)
    readings = jax.random.uniform(reading_key, (HORIZON,), maxval=5.0)
    return History(Station(positions), readings, jnp.asarray(HORIZON, jnp.int32))


@pytest.fixture
def thetas(key):
    return jax.vmap(MODEL.prior.sample)(jax.random.split(jax.random.fold_in(key, 1), NUM_PARTICLES)).T


def terms(thetas, history):
    """(horizon, n), one reading and one particle at a time."""
    table = np.empty((HORIZON, NUM_PARTICLES))
    for at in range(HORIZON):
        station = Station(history.stations.position[at])
        for particle in range(NUM_PARTICLES):
            table[at, particle] = one_term(thetas[:, particle], station, history.readings[at])
    return table


@pytest.fixture
def paths(key):
    """Particles that were somewhere else before reading `start`, all the time since the first reading."""
    starts = np.arange(NUM_PARTICLES) * 2 % (HORIZON + 1)
    regimes = no_regimes(NUM_PARTICLES, JUMP)
    places = jax.random.uniform(jax.random.fold_in(key, 2), (NUM_PARTICLES, 2), minval=5.0, maxval=20.0)
    earlier = Regimes(regimes.starts.at[:, 0].set(0), regimes.values.at[:, 0].set(places))
    return Paths.of(JUMP, jnp.asarray(starts, jnp.int32), earlier)


def test_equals_a_plain_loop(thetas, history, paths):
    """For sizes around the length of a turn, with and without a jump."""
    table = terms(thetas, history)
    before = terms(thetas.at[:2].set(paths.earlier_values[0]), history)
    starts = np.asarray(paths.starts)
    then = np.where(np.arange(HORIZON)[:, None] < starts[None, :], before, table)
    for size in SIZES:
        stop = jnp.asarray(size, jnp.int32)
        for given, expected in ((None, table), (paths, then)):
            past, newest = replayed(thetas, history, stop, given)
            np.testing.assert_allclose(past, expected[: max(size - 1, 0)].sum(0), rtol=1e-5, atol=1e-4)
            if size > 0:
                np.testing.assert_allclose(newest, expected[size - 1], rtol=1e-5, atol=1e-4)


def test_paths_without_a_jump_change_nothing(thetas, history):
    stop = jnp.asarray(13, jnp.int32)
    none = Paths.of(JUMP, jnp.zeros(NUM_PARTICLES, jnp.int32), no_regimes(NUM_PARTICLES, JUMP))
    ours, same = replayed(thetas, history, stop), replayed(thetas, history, stop, none)
    np.testing.assert_allclose(ours, same, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("poison", [jnp.nan, jnp.inf, 1e30])
def test_nothing_beyond_the_end_is_seen(thetas, history, paths, poison):
    """What lies in the padding changes no bit, even where it is not a number."""
    for size in (0, 1, 7, 8, 9, 17):
        spoilt = History(
            Station(history.stations.position.at[size:].set(poison)),
            history.readings.at[size:].set(poison),
            history.size,
        )
        stop = jnp.asarray(size, jnp.int32)
        for given in (None, paths):
            ours, same = replayed(thetas, history, stop, given), replayed(thetas, spoilt, stop, given)
            np.testing.assert_array_equal(ours, same)


def test_log_likelihoods_of_a_reading_are_the_models(thetas, history):
    station = Station(history.stations.position[3])
    ours = jax.jit(lambda *parts: reading_log_likelihood(MODEL, *parts))(thetas, station, history.readings[3])
    np.testing.assert_allclose(ours, terms(thetas, history)[3], rtol=1e-5, atol=1e-5)
