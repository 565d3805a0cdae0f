"""Posterior predictive check: whether the model explains the readings at all."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from dowsax.inference.belief import Belief
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.resampling import systematic
from dowsax.types import Key, Scalar
from dowsax.world import Model

NUM_DRAWS = 256
_NUM_QUICK_DRAWS, _MIN_QUICK_FIT = 64, 0.125
"""With at least this fit from the quick draws, more draws would not reject the readings."""
_READINGS_PER_BATCH = 16
"""Readings evaluated together, which takes two thirds of the time of one after another."""


def quick_fit(
    key: Key,
    model: Model,
    belief: Belief,
    max_readings: int | None = None,
    is_needed: bool | Bool[Array, ""] = True,
) -> Scalar:
    """Return `predictive_fit`, from fewer draws if these are conclusive; 1 where it is not needed."""
    most = NUM_DRAWS // _NUM_QUICK_DRAWS

    def is_open(carry) -> Bool[Array, ""]:
        number, total = carry
        is_conclusive = (number == 1) & (total >= _MIN_QUICK_FIT)
        return is_needed & (number < most) & ~is_conclusive

    def draw(carry):
        number, total = carry
        fit = predictive_fit(jax.random.fold_in(key, number), model, belief, max_readings, _NUM_QUICK_DRAWS)
        return number + 1, total + fit

    # A loop, as the branches of a condition would all be compiled, and in a batch all be computed.
    number, total = jax.lax.while_loop(is_open, draw, (jnp.zeros((), jnp.int32), jnp.zeros(())))
    return jnp.where(number > 0, total / jnp.maximum(number, 1), 1.0)


def predictive_fit(
    key: Key, model: Model, belief: Belief, max_readings: int | None = None, num_draws: int = NUM_DRAWS
) -> Scalar:
    r"""Return the posterior predictive probability of a history that fits worse.

    $P(T(z', \Theta) \le T(z, \Theta))$ over $\Theta$ from the belief and replicas $z'$ from the model, with
    $T$ the log likelihood of the whole history (Gelman, Meng and Stern 1996). Near zero, the model hardly
    ever gives such readings. The source must not jump. Of a longer history, `max_readings` readings are
    used, evenly spread, so that the cost is bounded.
    """
    draw_key, noise_key = jax.random.split(key)
    thetas = belief.particles[systematic(draw_key, belief.log_weights, num_draws)].T
    history = belief.history

    count = history.size if max_readings is None else jnp.minimum(history.size, max_readings)

    def excess_at(number):
        at = number if max_readings is None else number * history.size // jnp.maximum(count, 1)
        station = jax.tree.map(lambda leaf: leaf[at], history.stations)
        keys = jax.random.split(jax.random.fold_in(noise_key, at), num_draws)
        replicas = jax.vmap(model.sample_reading, in_axes=(0, 1, None))(keys, thetas, station)
        terms = jax.vmap(model.log_likelihood, in_axes=(1, None, 0))(thetas, station, replicas)
        excess = reading_log_likelihood(model, thetas, station, history.readings[at]) - terms
        # The last batch may reach beyond the last reading.
        return jnp.where(number < count, excess, 0.0)

    def add(batch, totals):
        numbers = batch * _READINGS_PER_BATCH + jnp.arange(_READINGS_PER_BATCH)
        return totals + jnp.sum(jax.vmap(excess_at)(numbers), axis=0)

    excess = jax.lax.fori_loop(0, -(-count // _READINGS_PER_BATCH), add, jnp.zeros(num_draws))
    return jnp.mean(excess >= 0)
