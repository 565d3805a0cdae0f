"""Generalised advantage estimation over ticks, in some of which a search stands still."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Advantages(NamedTuple):
    """What moves were worth; 0 where there was none."""

    advantage: Float[Array, "*ticks"]
    target: Float[Array, "*ticks"]
    """What the value should have been: advantage + value."""


def generalised_advantage(
    reward: Float[Array, " ticks"],
    value: Float[Array, " ticks"],
    next_value: Float[Array, " ticks"],
    terminated: Bool[Array, " ticks"],
    truncated: Bool[Array, " ticks"],
    valid: Bool[Array, " ticks"],
    *,
    discount: float,
    decay: float,
) -> Advantages:
    r"""The advantages of the moves of one place, in which one search follows another.

    $$A_t = \delta_t + \gamma\lambda\,[\text{the search goes on}]\,A_{t+1}, \qquad
      \delta_t = r_t + \gamma\,[\text{no stop}]\,V(s_{t+1}) - V(s_t).$$

    After a stop there is nothing more to gain; a search cut short would have gone on, so its last value
    counts. A tick that is not valid hands on what comes from later: t + 1 is the next valid tick.
    """
    errors = temporal_difference(reward, value, next_value, terminated, discount=discount)
    continues = discount * decay * ~(terminated | truncated)

    def back(later: Array, tick: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        error, share, counts = tick
        advantage = error + share * later
        return jnp.where(counts, advantage, later), jnp.where(counts, advantage, 0.0)

    _, advantage = jax.lax.scan(back, jnp.zeros(()), (errors, continues, valid), reverse=True)
    return Advantages(advantage, jnp.where(valid, advantage + value, 0.0))


def temporal_difference(
    reward: Float[Array, "*ticks"],
    value: Float[Array, "*ticks"],
    next_value: Float[Array, "*ticks"],
    terminated: Bool[Array, "*ticks"],
    *,
    discount: float,
) -> Float[Array, "*ticks"]:
    r"""$\delta = r + \gamma V(s') - V(s)$, with $V(s') = 0$ after a stop and only there."""
    return reward + discount * jnp.where(terminated, 0.0, next_value) - value
