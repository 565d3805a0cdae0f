"""What a learner sees: numbers of about the size of one, whatever the field."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.envs.search import Search, SearchState
from dowsax.inference.summaries import mean, std
from dowsax.types import Position, Scalar, Theta

Observation = Float[Array, " features"]
Observe = Callable[[SearchState], Observation]

_NUM_DRAWS = 4096
# Readings span many decades: the inverse hyperbolic sine is linear about zero and a logarithm far from it.
_LARGEST_READING = 10.0
_WIDTH = 4.0
"""Standard deviations of the prior on either side of its mean that are told apart."""


class Raw(eqx.Module):
    """[p, z]: the position and the newest reading, in [−1, 1]³."""

    low: Position
    high: Position

    def __call__(self, state: SearchState) -> Float[Array, "3"]:
        place = 2 * (state.station.position - self.low) / (self.high - self.low) - 1
        return jnp.append(place, scaled_reading(state.reading))


class OfBelief(eqx.Module):
    """[p, z, μ, σ] of the paper, in [−1, 1]; μ and σ in units of the prior's standard deviation."""

    raw: Raw
    centre: Theta
    scale: Theta

    def __call__(self, state: SearchState) -> Observation:
        middle = (mean(state.belief) - self.centre) / (_WIDTH * self.scale)
        spread = std(state.belief) / (_WIDTH * self.scale)
        return jnp.concatenate([self.raw(state), jnp.clip(middle, -1, 1), jnp.clip(spread, 0, 1)])


def scaled_reading(reading: Scalar) -> Scalar:
    """The reading in [−1, 1]: asinh(z)/10, which tells readings up to ±11,000 apart."""
    return jnp.clip(jnp.arcsinh(reading) / _LARGEST_READING, -1, 1)


def raw(search: Search) -> Raw:
    return Raw(jnp.array(search.motion.low), jnp.array(search.motion.high))


def of_belief(search: Search) -> OfBelief:
    """Moments of the prior come from draws with a key of their own: the same in every run."""
    keys = jax.random.split(jax.random.key(0), _NUM_DRAWS)
    draws = jax.vmap(search.model.prior.sample)(keys)
    return OfBelief(raw(search), jnp.mean(draws, axis=0), jnp.std(draws, axis=0))


OBSERVATIONS: dict[str, Callable[[Search], Observe]] = {"belief": of_belief, "raw": raw}
