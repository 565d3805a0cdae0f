"""What a policy is, and how an action is chosen from the worth of each."""

from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.types import Key, Station, Theta

Action = Int[Array, ""]


@runtime_checkable
class Policy(Protocol):
    """Where to go next, given what is believed and where one stands; the belief holds the readings."""

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action: ...


@runtime_checkable
class Informed(Protocol):
    """A policy that has to be told the truth before it can act: a limit for tables, not a way to search."""

    def told(self, theta: Theta) -> Policy: ...


def best(key: Key, worth: Float[Array, " actions"], free: Bool[Array, " actions"]) -> Action:
    """One of the most worthy actions, at random among equals; a move cut short only where no other is left.

    Worth that is not a number counts as the least.
    """
    worth = jnp.where(jnp.isnan(worth), -jnp.inf, worth)
    allowed = jnp.where(jnp.any(free), free, True)
    top = jnp.max(worth, where=allowed, initial=-jnp.inf)
    ties = allowed & (worth >= top)
    return jax.random.categorical(key, jnp.where(ties, 0.0, -jnp.inf)).astype(jnp.int32)
