"""The protocol of a policy, and the choice of the action with the highest score."""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.types import Key, Station, Theta
from dowsax.world import Budget, Candidates

Action = Int[Array, ""]


@runtime_checkable
class Policy(Protocol):
    """The number of the candidate to go to, given the belief, which holds the readings, the station of the
    sensor, the candidates, and what is left of the budget."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action: ...


@runtime_checkable
class Oracle(Protocol):
    """A policy that knows the true source: a bound for tables, which cannot search."""

    def policy_for(self, theta: Theta) -> Policy:
        """Return the policy for the true source Θ."""
        ...


def choose_best(key: Key, scores: Float[Array, " actions"], free: Bool[Array, " actions"]) -> Action:
    """Return an action with the highest score, at random among ties.

    A masked candidate (not `free`) is chosen only where all are. NaN counts as −∞.
    """
    scores = jnp.where(jnp.isnan(scores), -jnp.inf, scores)
    allowed = jnp.where(jnp.any(free), free, True)
    top = jnp.max(scores, where=allowed, initial=-jnp.inf)
    ties = allowed & (scores >= top)
    return jax.random.categorical(key, jnp.where(ties, 0.0, -jnp.inf)).astype(jnp.int32)
