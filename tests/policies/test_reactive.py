"""The reactive policies: what they take for high, where they head, and that they follow a plume."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief
from made_choices import act
from scipy import stats

from dowsax.inference.belief import empty_history, record
from dowsax.policies import SurgeCast, Zigzag
from dowsax.policies.reactive import (
    against_wind,
    clean_air,
    even_wave,
    growing_wave,
    heading,
    recall,
)
from dowsax.types import Station
from dowsax.world import FOUR_MOVES, MODALITIES, Plume

CLEAN = jnp.float32(0.5)
HORIZON = 60
NUM_KEYS = 4000


def history_of(readings):
    """Readings on a walk east."""
    length = len(readings)
    stations = Station(jnp.stack([jnp.arange(length, dtype=jnp.float32), jnp.zeros(length)], axis=1))
    return as_belief(jnp.zeros((2, 7)), None, stations, jnp.asarray(readings, jnp.float32), length).history


def plain_recall(readings, clean, share):
    """(whether the newest reading is high, readings since the last high one, its number) by a loop."""
    last = None
    for number, reading in enumerate(readings):
        below = sum(earlier < reading for earlier in readings[:number])
        last = number if reading > clean and below >= share * number else last
    return last == len(readings) - 1, len(readings) - 1 - (last or 0), last or 0


def test_recall_matches_a_loop(key):
    run = jax.jit(recall)
    for trial_key in jax.random.split(key, 20):
        readings = np.round(np.asarray(jax.random.normal(trial_key, (12,))), 1)
        trail = run(history_of(readings), CLEAN, 0.75)
        high, lost, number = plain_recall(readings, 0.5, 0.75)
        assert (bool(trail.high), float(trail.lost), float(trail.anchor[0])) == (high, lost, number)


def test_recall_knows_no_unit(key):
    """A rising function of the readings, and of clean air, changes nothing."""
    readings = jax.random.normal(key, (12,))
    for unit in (jnp.exp, lambda level: 10 * level - 30):
        plain, other = (
            recall(history_of(readings), CLEAN, 0.75),
            recall(history_of(unit(readings)), unit(CLEAN), 0.75),
        )
        assert jax.tree.all(jax.tree.map(jnp.array_equal, plain, other))


def test_silence_is_never_high():
    trail = recall(history_of(np.zeros(9)), jnp.zeros(()), 0.75)
    assert not trail.high
    assert float(trail.lost) == 8


EXCEEDS = {
    "temperature": lambda level: stats.norm.sf(level, 0, 0.01),
    "concentration": lambda level: stats.norm.sf(np.log(level), np.log(0.001), 0.25),
    "electric": lambda level: stats.norm.sf(level, 0, 0.1),
    "gas": lambda level: 0.9 * stats.norm.sf(max(level, 0.005), 0, 0.001),
    "energy": lambda level: stats.poisson.sf(level, 1.0),
    "noise": lambda level: stats.norm.sf(level, -30.0, 1.0),
}


@pytest.mark.parametrize("name", EXCEEDS)
def test_clean_air_rarely_looks_like_a_plume(name):
    """One reading in a thousand exceeds the level, within five standard errors of 8,192 draws.

    Counts and a silent sensor leap over that share: theirs may only be smaller.
    """
    share = EXCEEDS[name](float(clean_air(MODALITIES[name].sensor)))
    error = 5 * (0.001 * 0.999 / 8192) ** 0.5
    assert share <= 0.001 + error
    assert name in ("gas", "energy") or share >= 0.001 - 0.6 * error


def test_upwind_is_against_the_air():
    """The mean wind of the belief, weighted; or the measured wind, when there is one. A calm is no NaN."""
    particles = jnp.zeros((2, 7)).at[0, 3].set(4.0).at[1, 4].set(3.0)
    belief = as_belief(particles, jnp.log(jnp.array([0.5, 0.5])))
    place = jnp.zeros(2)
    np.testing.assert_allclose(against_wind(belief, Station(place)), [-0.8, -0.6], atol=1e-6)
    measured = Station(place, wind=jnp.array([0.0, -2.0]))
    np.testing.assert_allclose(against_wind(belief, measured), [0.0, 1.0], atol=1e-6)
    np.testing.assert_array_equal(against_wind(as_belief(jnp.zeros((2, 7))), Station(place)), [0.0, 0.0])


def test_heading_keeps_the_direction_on_average(key):
    """Moves in proportion to the direction, within five standard errors; at a wall the least way back."""
    one = lambda key, at, to: heading(key, FOUR_MOVES, FOUR_MOVES.free(at), to)  # noqa: E731
    choose = jax.jit(jax.vmap(one, in_axes=(0, None, None)))
    keys = jax.random.split(key, NUM_KEYS)
    shares = np.bincount(choose(keys, jnp.full(2, 10.0), jnp.array([0.6, -1.4])), minlength=4) / NUM_KEYS
    expected = np.array([0.3, 0, 0, 0.7])
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / NUM_KEYS)).all()
    blocked = choose(keys, jnp.array([0.2, 10.0]), jnp.array([-1.0, -1e-3]))
    assert (blocked == 3).all()


def test_waves_are_walks():
    """Each metre walked moves the target one metre; legs of a cast end at w, −2w, 3w, … and turn there."""
    walked = jnp.linspace(0, 72, 721)
    for wave in (growing_wave, even_wave):
        path = np.asarray(jax.vmap(lambda at, wave=wave: wave(at, 2.0))(walked))
        assert path[0] == 0
        np.testing.assert_allclose(np.abs(np.diff(path)), 0.1, atol=1e-4)
    cast = [float(growing_wave(jnp.float32(2.0 * leg**2), 2.0)) for leg in range(1, 7)]
    np.testing.assert_allclose(cast, [2, -4, 6, -8, 10, -12], atol=1e-4)
    assert np.abs(path).max() == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    "policy", [SurgeCast(CLEAN), Zigzag(CLEAN)], ids=lambda policy: type(policy).__name__
)
def test_follows_a_plume_to_its_source(policy, key):
    """Readings without noise in a measured wind: from the plume, 12 m off its source, to within 1.5 m."""
    theta = jnp.array([15.0, 14.0, 2000.0, -3.0, -2.0, 1.5, 0.8])
    wind = theta[3:5]
    belief = as_belief(jnp.zeros((2, 7)))
    start = Station(theta[:2] + 12 * wind / jnp.linalg.norm(wind), wind=wind)
    assert float(Plume()(theta, start)) > CLEAN

    def step(carry, move_key):
        history, station = carry
        history = record(history, station, Plume()(theta, station))
        action = act(policy, move_key, eqx.tree_at(lambda b: b.history, belief, history), station)
        station = Station(FOUR_MOVES(station.position, action), wind=wind)
        return (history, station), jnp.linalg.norm(station.position - theta[:2])

    def nearest(key):
        begun = empty_history(start, HORIZON), start
        return jnp.min(jax.lax.scan(step, begun, jax.random.split(key, HORIZON))[1])

    assert float(jnp.median(jax.jit(jax.vmap(nearest))(jax.random.split(key, 16)))) < 1.5
