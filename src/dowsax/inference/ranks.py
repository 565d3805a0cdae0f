"""One-step-ahead predictive ranks: where a reading lies among those that the belief before it expects.

Under the right model the ranks are independent and uniform on (0, 1), also with unknown noise and with a
source that may jump (Rosenblatt 1952, Dawid 1984). A test of them has one null distribution for all models.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief
from dowsax.inference.resampling import systematic
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model

NUM_DRAWS = 64
"""Predictive readings that a rank is found among."""
_KEY_NUMBER = 1
"""Of the key of a rank, so that a filter that keeps ranks gives the same belief as one that does not."""


def no_ranks(horizon: int) -> Float[Array, " horizon"]:
    """Return the ranks before the first reading."""
    return jnp.full(horizon, 0.5, jnp.float32)


def add_rank(key: Key, model: Model, belief: Belief, station: Station, reading: Scalar) -> Belief:
    """Return a belief that ranks are kept of with that of the next reading, which is not recorded yet."""
    if belief.ranks is None:
        return belief
    rank = predictive_rank(jax.random.fold_in(key, _KEY_NUMBER), model, belief, station, reading)
    return replace(belief, ranks=belief.ranks.at[belief.history.size].set(rank, mode="drop"))


def predictive_rank(key: Key, model: Model, belief: Belief, station: Station, reading: Scalar) -> Scalar:
    r"""Return the rank in (0, 1) of a reading among draws of $p(z_k \mid z_{1:k-1})$; ties are random."""
    draw_key, noise_key, tie_key = jax.random.split(key, 3)
    thetas = belief.particles[systematic(draw_key, belief.log_weights, NUM_DRAWS)]
    keys = jax.random.split(noise_key, NUM_DRAWS)
    expected = jax.vmap(model.sample_reading, in_axes=(0, 0, None))(keys, thetas, station)
    expected = jax.vmap(model.comparable, in_axes=(0, None))(expected, station)
    reading = model.comparable(reading, station)
    below, level = jnp.sum(expected < reading), jnp.sum(expected == reading)
    return (below + jax.random.uniform(tie_key) * (level + 1)) / (NUM_DRAWS + 1)
