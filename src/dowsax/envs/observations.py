"""The observations of a learner: features in [−1, 1] for every field."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.envs.problem import SearchProblem, SearchState
from dowsax.inference.scaling import prior_draws, scale_moments, scale_position, scale_reading
from dowsax.types import Position, Theta

Observation = Float[Array, " features"]
Observe = Callable[[SearchState], Observation]


class RawFeatures(eqx.Module):
    """[p, z]: the position and the newest reading, in [−1, 1]."""

    low: Position
    high: Position

    def __call__(self, state: SearchState) -> Observation:
        place = scale_position(state.station.position, self.low, self.high)
        return jnp.append(place, scale_reading(state.reading))


class BeliefFeatures(eqx.Module):
    """[p, z, μ, σ] of the paper, in [−1, 1]; μ and σ in units of the prior's standard deviation."""

    raw: RawFeatures
    centre: Theta
    scale: Theta

    def __call__(self, state: SearchState) -> Observation:
        moments = scale_moments(state.belief, self.centre, self.scale)
        return jnp.concatenate([self.raw(state), moments])


def raw_features(search: SearchProblem) -> RawFeatures:
    """Return the position and the reading, scaled to the area of the search."""
    return RawFeatures(jnp.array(search.actions.low), jnp.array(search.actions.high))


def belief_features(search: SearchProblem) -> BeliefFeatures:
    """Return the paper's observation, scaled by mean and standard deviation of draws of the prior."""
    draws = prior_draws(search.model.prior)
    return BeliefFeatures(raw_features(search), jnp.mean(draws, axis=0), jnp.std(draws, axis=0))


OBSERVATIONS: dict[str, Callable[[SearchProblem], Observe]] = {"belief": belief_features, "raw": raw_features}
