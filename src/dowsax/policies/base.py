"""The protocol of a policy, and the choice of the action with the highest score."""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.types import Key, Station, Theta

Action = Int[Array, ""]


@runtime_checkable
class Policy(Protocol):
    """The next action, given the belief, which holds the readings, and the station of the sensor."""

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action: ...


@runtime_checkable
class Oracle(Protocol):
    """A policy that knows the true source: a bound for tables, which cannot search."""

    def policy_for(self, theta: Theta) -> Policy:
        """Return the policy for the true source Θ."""
        ...


def choose_best(key: Key, scores: Float[Array, " actions"], free: Bool[Array, " actions"]) -> Action:
    """Return an action with the highest score, at random among ties.

    A move that the border cuts short (not `free`) is chosen only where all are. NaN counts as −∞.
    """
    scores = jnp.where(jnp.isnan(scores), -jnp.inf, scores)
    allowed = jnp.where(jnp.any(free), free, True)
    top = jnp.max(scores, where=allowed, initial=-jnp.inf)
    ties = allowed & (scores >= top)
    return jax.random.categorical(key, jnp.where(ties, 0.0, -jnp.inf)).astype(jnp.int32)
