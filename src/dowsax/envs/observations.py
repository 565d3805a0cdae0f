"""What a learner sees: numbers of about the size of one, whatever the field."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.envs.search import Search, SearchState
from dowsax.inference.scaling import prior_draws, scale_moments, scale_position, scale_reading
from dowsax.types import Position, Theta

Observation = Float[Array, " features"]
Observe = Callable[[SearchState], Observation]


class Raw(eqx.Module):
    """[p, z]: the position and the newest reading, in [−1, 1]³."""

    low: Position
    high: Position

    def __call__(self, state: SearchState) -> Float[Array, "3"]:
        place = scale_position(state.station.position, self.low, self.high)
        return jnp.append(place, scale_reading(state.reading))


class OfBelief(eqx.Module):
    """[p, z, μ, σ] of the paper, in [−1, 1]; μ and σ in units of the prior's standard deviation."""

    raw: Raw
    centre: Theta
    scale: Theta

    def __call__(self, state: SearchState) -> Observation:
        moments = scale_moments(state.belief, self.centre, self.scale)
        return jnp.concatenate([self.raw(state), moments])


def raw(search: Search) -> Raw:
    return Raw(jnp.array(search.motion.low), jnp.array(search.motion.high))


def of_belief(search: Search) -> OfBelief:
    """In units of the moments of the prior's draws."""
    draws = prior_draws(search.model.prior)
    return OfBelief(raw(search), jnp.mean(draws, axis=0), jnp.std(draws, axis=0))


OBSERVATIONS: dict[str, Callable[[Search], Observe]] = {"belief": of_belief, "raw": raw}
