"""Simulated surveys whose paths depend on the source only through their readings.

A path that depends on the true source carries information beyond its readings, and the posterior given the
readings would then fail calibration. So half of these surveys are random walks, and half follow what their
own readings suggest.
"""

from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import Model, wander
from dowsax.world.motion import AREA_SIDE_M, START_SIDE_M, UNIT_MOVES_M

_NUM_GUESSES = 2000
_SURVEYS_PER_BATCH = 1000
_PURSUIT_PROBABILITY = 0.8
# Finite, so that all guesses may be ruled out.
_MIN_LOG_LIKELIHOOD = -1e4

Survey = tuple[Float[Array, "length 2"], Float[Array, " length"]]


class Surveys(NamedTuple):
    """Sources (b, d), and surveys of them: positions (b, k, 2) [m], or stations, and readings (b, k)."""

    thetas: np.ndarray
    positions: np.ndarray | Station
    readings: np.ndarray


def wandering_survey(key: Key, model: Model, theta: Theta, length: int) -> Survey:
    """Simulate a survey on a random walk."""
    walk_key, noise_key = jax.random.split(key)
    path = wander(walk_key, length)
    return path, model.simulate(noise_key, theta, Station(path))


def pursuing_survey(key: Key, model: Model, theta: Theta, length: int) -> Survey:
    """Simulate a survey that goes where its readings suggest.

    Guesses are drawn from the prior and weighted by the readings so far; each unit move is, with probability
    0.8, towards a guess drawn by these weights, and otherwise in any direction.
    """
    start_key, guess_key, walk_key = jax.random.split(key, 3)
    guesses = jax.vmap(model.prior.sample)(jax.random.split(guess_key, _NUM_GUESSES))
    start = jax.random.uniform(start_key, (2,), maxval=START_SIDE_M)

    def advance(carry: tuple[Position, Float[Array, " n"]], key: Key):
        position, log_weights = carry
        noise_key, guess_key, move_key = jax.random.split(key, 3)
        reading = model.sample_reading(noise_key, theta, Station(position))
        terms = jax.vmap(model.log_likelihood, in_axes=(0, None, None))(guesses, Station(position), reading)
        log_weights = log_weights + jnp.maximum(terms, _MIN_LOG_LIKELIHOOD)
        target = guesses[jax.random.categorical(guess_key, log_weights), :2]
        moved = jnp.clip(position + _move(move_key, target - position), 0.0, AREA_SIDE_M)
        return (moved, log_weights), (position, reading)

    keys = jax.random.split(walk_key, length)
    _, survey = jax.lax.scan(advance, (start, jnp.zeros(_NUM_GUESSES)), keys)
    return survey


def _move(key: Key, offset: Position) -> Position:
    """Draw a unit move, mostly along the offset; its axis is drawn in proportion to the offset."""
    aim_key, axis_key, random_key = jax.random.split(key, 3)
    size = jnp.abs(offset)
    east: Scalar = jax.random.uniform(axis_key) * jnp.sum(size) < size[0]
    direct = jnp.where(jnp.stack([east, ~east]), jnp.sign(offset), 0.0)
    anywhere = jnp.array(UNIT_MOVES_M)[jax.random.randint(random_key, (), 0, len(UNIT_MOVES_M))]
    return jnp.where(jax.random.uniform(aim_key) < _PURSUIT_PROBABILITY, direct, anywhere)


def simulate_surveys(key: Key, model: Model, num_surveys: int, length: int) -> Surveys:
    """Draw sources from the prior, and simulate a survey of `length` readings each, of both kinds in turn."""
    thetas, positions, readings = jax.tree.map(np.asarray, _simulate(key, model, num_surveys, length))
    return Surveys(thetas, positions, readings)


@eqx.filter_jit
def _simulate(key: Key, model: Model, num_surveys: int, length: int):
    def one(index_and_key):
        index, key = index_and_key
        source_key, survey_key = jax.random.split(key)
        theta = model.prior.sample(source_key)
        kinds = [partial(kind, model=model, length=length) for kind in (wandering_survey, pursuing_survey)]
        branches = [lambda key, theta, kind=kind: kind(key, theta=theta) for kind in kinds]
        return theta, *jax.lax.switch(index % 2, branches, survey_key, theta)

    # The guesses of all surveys at once would need much memory; an accelerator has enough for a thousand.
    batch_size = None if jax.default_backend() == "cpu" else min(num_surveys, _SURVEYS_PER_BATCH)
    numbered = jnp.arange(num_surveys), jax.random.split(key, num_surveys)
    return jax.lax.map(one, numbered, batch_size=batch_size)
