"""Redundancy reading by reading: the known count of scores that neighbours share."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr

from dowsax.inference.belief import Belief, History
from dowsax.inference.live_redundancy import live_redundancy
from dowsax.inference.redundancy import MIN_EFFECTIVE_READINGS, correlation_estimate, with_redundancy
from dowsax.types import Station
from dowsax.world import benchmark_model

MODEL = benchmark_model("temperature")
NUM_MISSIONS = 200


def belief_of(scores, positions):
    """A belief whose readings have these normal scores."""
    number = scores.shape[0]
    history = History(Station(positions), jnp.zeros(number), jnp.asarray(number, jnp.int32))
    zeros, zero, starts = jnp.zeros(4), jnp.zeros(()), jnp.zeros(4, jnp.int32)
    return Belief(jnp.zeros((4, 2)), zeros, zeros, starts, history, zero, zero, ranks=ndtr(scores))


def counts_of(scores, positions, model=MODEL):
    find = jax.jit(jax.vmap(lambda one, places: live_redundancy(model, belief_of(one, places))))
    return np.asarray(find(scores, positions))


def lines(number):
    return jnp.stack([jnp.arange(number, dtype=jnp.float32), jnp.zeros(number)], axis=1)


def test_the_count_is_that_of_a_survey(key):
    """In space, for readings on a line in any order, the count is that of `correlation_estimate`."""
    score_key, order_key = jax.random.split(key)
    number = 60
    scores = jnp.repeat(jax.random.normal(score_key, (20, 15)), 4, axis=1)
    order = jax.random.permutation(order_key, number)
    # Unequal steps, so that no two neighbours are equally near.
    places = lines(number) ** 1.1
    mixed = jnp.tile(places[order], (20, 1, 1))
    ours = counts_of(scores[:, order], mixed)
    for mine, one in zip(ours, np.asarray(scores), strict=True):
        theirs = correlation_estimate(np.asarray(ndtr(one)), np.asarray(places))
        # A survey takes the mean of the scores off first; in a mission it is an error too.
        assert mine >= min(theirs, number / MIN_EFFECTIVE_READINGS) - 1.0


def test_independent_readings_mostly_count_one_by_one(key):
    """By chance one of ten does not, at one of its two first correlations; then it is a little above one."""
    found = counts_of(jax.random.normal(key, (NUM_MISSIONS, 40)), jnp.tile(lines(40), (NUM_MISSIONS, 1, 1)))
    share = np.mean(found > 1)
    assert share <= 0.1 + 5 * np.sqrt(0.1 * 0.9 / NUM_MISSIONS)
    assert (found >= 1).all()
    assert np.median(found) == 1


def test_readings_that_err_as_one_count_as_one(key):
    """Groups of three: about three, and a dozen are left at least; 1 where the model says how many."""
    shared = jnp.repeat(jax.random.normal(key, (NUM_MISSIONS, 20)), 3, axis=1)
    places = jnp.tile(lines(60), (NUM_MISSIONS, 1, 1))
    found = counts_of(shared, places)
    # Of two neighbours in a row of three, correlations are 2/3, 2/3, 1/3 and 1/3, which adds up to 3 in all.
    assert 2.0 < np.mean(found) < 3.5
    assert found.max() <= 60 / MIN_EFFECTIVE_READINGS
    # The site said how many count as one: nothing is estimated, also where it said one.
    assert counts_of(shared, places, with_redundancy(MODEL, 1.0)).max() == 1
    assert counts_of(shared[:, :6], places[:, :6]).max() == 1


def test_without_ranks_every_reading_counts():
    belief = belief_of(jnp.zeros(12), lines(12))
    assert float(live_redundancy(MODEL, replace(belief, ranks=None))) == 1
