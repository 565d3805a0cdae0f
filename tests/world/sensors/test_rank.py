"""Readings of which only the order counts, against Plackett and Luce's distribution of all orders."""

import math
from dataclasses import replace
from itertools import permutations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world.earlier import recall_all
from dowsax.world.sensors.rank import NUM_RANKED, Rank

THRESHOLD, FLUCTUATION = 0.5, 1.0
SCALE = math.sqrt(math.log(2.0)) * math.sqrt(6) / math.pi
CONCENTRATIONS = np.array([0.0, 0.4, 2.0, 0.1])
THETA = jnp.zeros(2)
recall = eqx.filter_jit(recall_all)


def sensor(**settings) -> Rank:
    """The field is the first coordinate of the station."""
    return Rank(lambda theta, station: station.position[0], THRESHOLD, FLUCTUATION, (), **settings)


def stations(concentrations) -> Station:
    first = jnp.asarray(concentrations, jnp.float32)
    return Station(jnp.stack([first, jnp.zeros_like(first)], axis=1))


@jax.jit
def log_probs(at: Station, readings) -> jax.Array:
    """Each reading given those before it."""
    bound, known = sensor().bind(THETA), recall_all(sensor(), at, readings)
    return jax.vmap(bound.log_prob)(readings, at.position[:, 0], known)


def plackett_luce(order) -> float:
    """Of an order of `CONCENTRATIONS`, the highest first."""
    weights = (THRESHOLD + CONCENTRATIONS) ** (1 / SCALE)
    left = [weights[number] for number in order]
    return math.prod(own / sum(left[at:]) for at, own in enumerate(left))


def readings_of(order) -> jax.Array:
    """Readings with this order: the first has the highest."""
    values = np.empty(len(order), np.float32)
    values[list(order)] = np.arange(len(order))[::-1]
    return jnp.asarray(values)


def test_every_order_has_its_probability():
    """One after the other the readings have the joint probability of their order, and 24 of them sum to 1."""
    orders = list(permutations(range(4)))
    at = stations(CONCENTRATIONS)
    own = [float(jnp.exp(jnp.sum(log_probs(at, readings_of(order))))) for order in orders]
    np.testing.assert_allclose(own, [plackett_luce(order) for order in orders], rtol=1e-4)
    assert sum(own) == pytest.approx(1.0, abs=1e-5)


def test_the_order_is_that_of_noisy_logarithms():
    """Orders of log(θ + c) + s g, with Gumbel's g, are as frequent as they are probable: chi-squared."""
    number, rng = 100_000, np.random.default_rng(0)
    latent = np.log(THRESHOLD + CONCENTRATIONS) + SCALE * rng.gumbel(size=(number, 4))
    assert latent.std(axis=0) == pytest.approx(math.sqrt(math.log(2.0)), rel=0.02)
    orders, counts = np.unique(np.argsort(-latent, axis=1), axis=0, return_counts=True)
    expected = number * np.array([plackett_luce(order) for order in orders])
    # 24 orders: 23 degrees of freedom, of which 64 is the quantile of 1 in 100,000.
    assert ((counts - expected) ** 2 / expected).sum() < 64


def test_any_increasing_function_of_the_readings_gives_the_same():
    """Exactly, with more readings than are compared with; and they compare by their places."""
    rng = np.random.default_rng(1)
    at, values = stations(rng.uniform(0, 3, 40)), rng.uniform(0.1, 9.0, 40)
    own, places = log_probs(at, jnp.asarray(values, jnp.float32)), comparable(at, values)
    for change in (lambda v: 5 * v - 300, lambda v: v**3, lambda v: -1 / v):
        np.testing.assert_array_equal(own, log_probs(at, jnp.asarray(change(values), jnp.float32)))
        np.testing.assert_array_equal(places, comparable(at, change(values)))
    assert not np.array_equal(own, log_probs(at, jnp.asarray(-values, jnp.float32)))
    assert places[0] == 0
    assert len(np.unique(places[9:])) > 4


def comparable(at, values) -> np.ndarray:
    readings = jnp.asarray(values, jnp.float32)
    return np.asarray(jax.vmap(sensor().comparable)(readings, recall(sensor(), at, readings)))


def test_places_add_up_to_one_and_draws_fall_on_them():
    """After 20 readings: the probability of each of nine places, and how often 20,000 draws are there."""
    rng, number = np.random.default_rng(2), 20
    at = stations(np.append(rng.uniform(0, 3, number), 1.0))
    readings = jnp.asarray(np.append(rng.uniform(-5, 5, number), 0.0), jnp.float32)
    last = jax.tree.map(lambda leaf: leaf[number], recall(sensor(), at, readings))
    known = np.asarray(last.earlier.readings)
    assert known[0] == readings[:-1].max()
    assert known[-1] == readings[:-1].min()
    assert len(np.unique(known)) == NUM_RANKED
    edges = np.concatenate([[known[0] + 2], known, [known[-1] - 2]])
    middles = jnp.asarray((edges[1:] + edges[:-1]) / 2, jnp.float32)
    bound = sensor().bind(THETA)
    log_prob = jax.jit(jax.vmap(lambda reading: bound.log_prob(reading, jnp.float32(1.0), last)))
    expected = np.exp(np.asarray(log_prob(middles), np.float64))
    assert expected.sum() == pytest.approx(1.0, abs=1e-5)
    keys = jax.random.split(jax.random.key(0), 20_000)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: bound.sample(key, jnp.float32(1.0), last)))(keys))
    places = (known[None, :] > drawn[:, None]).sum(axis=1)
    shares = np.bincount(places, minlength=NUM_RANKED + 1) / len(keys)
    assert (np.abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / len(keys))).all()


def test_more_gas_is_higher_in_the_order():
    at, readings = stations([0.5, 1.0, 1.5, 0.0]), jnp.array([1.0, 2.0, 3.0, 9.0])
    last = jax.tree.map(lambda leaf: leaf[3], recall(sensor(), at, readings))
    bound, amounts = sensor().bind(THETA), jnp.array([0.0, 1e-3, 0.1, 1.0, 10.0, 1e6])
    top = jax.jit(jax.vmap(lambda amount: bound.log_prob(jnp.float32(9.0), amount, last)))(amounts)
    assert (np.diff(np.asarray(top)) > 0).all()
    assert float(top[-1]) == pytest.approx(0.0, abs=1e-4)


def test_an_equal_reading_may_be_in_any_place_among_its_equals():
    at = stations([0.5, 1.0, 1.5, 0.2])
    tied = jnp.exp(log_probs(at, jnp.array([1.0, 2.0, 3.0, 2.0]))[3])
    above, below = (jnp.exp(log_probs(at, jnp.array([1.0, 2.0, 3.0, v]))[3]) for v in (2.5, 1.5))
    assert float(tied) == pytest.approx(float(above + below) / 2, rel=1e-5)
    silent = log_probs(at, jnp.zeros(4))
    np.testing.assert_allclose(silent, -np.log([1, 2, 3, 4]), atol=1e-5)


def test_the_first_reading_says_nothing_and_each_sensor_has_an_order_of_its_own():
    at = replace(stations([0.5, 1.0, 1.5]), sensor=jnp.array([0, 1, 0], jnp.int32))
    readings = jnp.array([1.0, 99.0, 2.0])
    assert float(log_probs(at, readings)[0]) == 0.0
    assert float(log_probs(at, readings)[1]) == 0.0
    assert float(log_probs(at, readings)[2]) == pytest.approx(math.log(plackett_of(1.5, 0.5)), abs=1e-5)
    with pytest.raises(ValueError, match="the sensor of each reading"):
        sensor(has_sensors=True).bind(THETA).log_prob(jnp.ones(()), jnp.ones(()), Station(jnp.zeros(2)))


def plackett_of(higher, lower) -> float:
    weights = [(THRESHOLD + amount) ** (1 / SCALE) for amount in (higher, lower)]
    return weights[0] / sum(weights)
