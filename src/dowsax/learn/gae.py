"""Generalised advantage estimation over steps, some of which have no transition."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float


class Advantages(NamedTuple):
    """Advantages and value targets; 0 where there was no transition."""

    advantage: Float[Array, "*steps"]
    target: Float[Array, "*steps"]
    """Advantage + value."""


def generalised_advantage(
    reward: Float[Array, " steps"],
    value: Float[Array, " steps"],
    next_value: Float[Array, " steps"],
    terminated: Bool[Array, " steps"],
    truncated: Bool[Array, " steps"],
    valid: Bool[Array, " steps"],
    *,
    discount: float,
    decay: float,
) -> Advantages:
    r"""Compute the advantages of the moves of one environment, in which one search follows another.

    $$A_t = \delta_t + \gamma\lambda\,[\text{the search goes on}]\,A_{t+1}, \qquad
      \delta_t = r_t + \gamma\,[\text{no stop}]\,V(s_{t+1}) - V(s_t).$$

    After a stop the value is 0; a truncated search would have gone on, so its last value counts. Steps that
    are not valid are skipped: t + 1 is the next valid step.
    """
    errors = temporal_difference(reward, value, next_value, terminated, discount=discount)
    continues = discount * decay * ~(terminated | truncated)

    def back(later: Array, step: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        error, share, counts = step
        advantage = error + share * later
        return jnp.where(counts, advantage, later), jnp.where(counts, advantage, 0.0)

    _, advantage = jax.lax.scan(back, jnp.zeros(()), (errors, continues, valid), reverse=True)
    return Advantages(advantage, jnp.where(valid, advantage + value, 0.0))


def temporal_difference(
    reward: Float[Array, "*steps"],
    value: Float[Array, "*steps"],
    next_value: Float[Array, "*steps"],
    terminated: Bool[Array, "*steps"],
    *,
    discount: float,
) -> Float[Array, "*steps"]:
    r"""$\delta = r + \gamma V(s') - V(s)$, with $V(s') = 0$ after a stop and only there."""
    return reward + discount * jnp.where(terminated, 0.0, next_value) - value
