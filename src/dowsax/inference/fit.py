"""Does the model explain the readings at all? A belief may be sharp and yet the best of bad explanations."""

import jax
import jax.numpy as jnp

from dowsax.inference.belief import Belief
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.resampling import systematic
from dowsax.types import Key, Scalar
from dowsax.world import Model

NUM_DRAWS = 256
_FEW, _PLAIN = 64, 0.125
"""Where so large a share of a few draws fits worse, more of them would not find the readings odd."""
_TOGETHER = 16
"""Readings looked at in one go, which takes two thirds of the time of one after another."""


def quick_fit(key: Key, model: Model, belief: Belief, most: int | None = None) -> Scalar:
    """As `predictive_fit`, from a few draws where these leave no doubt."""
    few_key, key = jax.random.split(key)
    rough = predictive_fit(few_key, model, belief, most, _FEW)
    return jax.lax.cond(rough >= _PLAIN, lambda: rough, lambda: predictive_fit(key, model, belief, most))


def predictive_fit(
    key: Key, model: Model, belief: Belief, most: int | None = None, num_draws: int = NUM_DRAWS
) -> Scalar:
    r"""The posterior predictive probability of a history that fits worse.

    $P(T(z', \Theta) \le T(z, \Theta))$ over $\Theta$ from the belief and replicas $z'$ from the model, with
    $T$ the log likelihood of the whole history (Gelman, Meng and Stern 1996). Near zero, the readings are
    such as the model hardly ever gives. The same source for all readings: not for one that jumps. Of a longer
    history than `most`, so many readings are looked at, evenly spread: what it costs stays the same.
    """
    draw_key, noise_key = jax.random.split(key)
    thetas = belief.particles[systematic(draw_key, belief.log_weights, num_draws)].T
    history = belief.history

    count = history.size if most is None else jnp.minimum(history.size, most)

    def excess_at(number):
        at = number if most is None else number * history.size // jnp.maximum(count, 1)
        station = jax.tree.map(lambda leaf: leaf[at], history.stations)
        keys = jax.random.split(jax.random.fold_in(noise_key, at), num_draws)
        replicas = jax.vmap(model.sample_reading, in_axes=(0, 1, None))(keys, thetas, station)
        terms = jax.vmap(model.log_likelihood, in_axes=(1, None, 0))(thetas, station, replicas)
        excess = reading_log_likelihood(model, thetas, station, history.readings[at]) - terms
        # The last go may reach beyond the newest reading.
        return jnp.where(number < count, excess, 0.0)

    def add(go, totals):
        numbers = go * _TOGETHER + jnp.arange(_TOGETHER)
        return totals + jnp.sum(jax.vmap(excess_at)(numbers), axis=0)

    excess = jax.lax.fori_loop(0, -(-count // _TOGETHER), add, jnp.zeros(num_draws))
    return jnp.mean(excess >= 0)
