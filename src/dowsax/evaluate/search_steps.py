"""The parts of one search. What happens in it depends on its own key alone, whoever runs the parts."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array
from jaxtyping import Key as KeyArray

from dowsax.envs import Search, SearchState
from dowsax.evaluate.trace import Row, row
from dowsax.policies import Informed, Policy
from dowsax.types import Key, Position

Keys = KeyArray[Array, "*batch"]
# The number by which a search is drawn. No reading has it, and it is the same whatever the most readings are.
_PREPARED = 200


def prepare(search: Search, key: Key) -> SearchState:
    """The search with this key, before its first reading."""
    return search.prepare(jax.random.fold_in(key, _PREPARED))


def decide(search: Search, policy: Policy | Informed, key: Key, state: SearchState) -> Position:
    """Where the policy goes next; nowhere (NaN) with an action that does not exist."""
    policy_key, _ = step_keys(key, state)
    acting = policy.told(state.theta) if isinstance(policy, Informed) else policy
    action = acting(policy_key, state.belief, state.station)
    exists = (action >= 0) & (action < search.motion.num_actions)
    return jnp.where(exists, search.motion(state.station.position, action), jnp.nan)


def take(search: Search, key: Key, state: SearchState, position: Position) -> tuple[SearchState, Row]:
    """One reading at a position."""
    _, take_key = step_keys(key, state)
    state, info = search.take(take_key, state, position)
    return state, row(state, info)


def step_keys(key: Key, state: SearchState) -> tuple[Key, Key]:
    """The keys of the next move and of its reading; they depend on the number of readings alone."""
    size = state.belief.history.size
    policy_key, take_key = jax.random.split(jax.random.fold_in(key, size + (size >= _PREPARED)))
    return policy_key, take_key


def traced(tree):
    """Its numbers as arrays, so that a field which differs by numbers alone is not compiled again."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf, jnp.float32) if isinstance(leaf, float) else leaf, tree
    )


def somewhere(search: Search, positions: Array) -> Array:
    """The positions, if all are any."""
    if not np.isfinite(positions).all():
        raise ValueError(
            f"The policy gave an action that does not exist: they are 0 to {search.motion.num_actions - 1}."
        )
    return positions


def over(search: Search, newest: Row, number: int | np.ndarray, spoken: np.ndarray):
    """Whether a search ends: all rules have spoken, no reading is left, or no particle, which never mends."""
    return spoken.all(axis=-1) | (number >= search.max_readings) | ~np.isfinite(newest.spread)
