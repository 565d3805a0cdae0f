"""The functions of one recorded search. All randomness of a search comes from its own key."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int
from jaxtyping import Key as KeyArray

from dowsax.envs import SearchProblem, SearchState
from dowsax.evaluate.trace import Recorder
from dowsax.policies import Oracle, Policy
from dowsax.policies.inner_planner import with_planned
from dowsax.policies.planned import PlannedReadings, keep_apart
from dowsax.types import Key, Scalar, Target
from dowsax.world import Model, PerhapsAbsent

Keys = KeyArray[Array, "*batch"]
# The fold of the key that draws a search. No reading uses it, for any number of readings.
_PREPARE_FOLD = 200


def prepare(search: SearchProblem, key: Key) -> SearchState:
    """Draw the search of this key, before its first reading."""
    return search.prepare(jax.random.fold_in(key, _PREPARE_FOLD))


def decide(search: SearchProblem, policy: Policy | Oracle, key: Key, state: SearchState) -> Target:
    """Return where the policy reads next; NaN for an action that does not exist."""
    return decide_in_team(search, policy, key, state, None, jnp.zeros(()))


def decide_in_team(
    search: SearchProblem,
    policy: Policy | Oracle,
    key: Key,
    state: SearchState,
    planned: PlannedReadings | None,
    apart: Scalar,
) -> Target:
    """Do what `decide` does, where others are about to take readings; farther than `apart` [m] from them."""
    policy_key, _ = step_keys(key, state)
    acting = policy.policy_for(state.theta) if isinstance(policy, Oracle) else with_planned(policy, planned)
    candidates = keep_apart(search.candidates(state), planned, apart)
    action = acting(policy_key, state.belief, state.station, candidates, search.budget_left(state))
    exists = (action >= 0) & (action < search.actions.num_actions)
    return jax.tree.map(lambda leaf: jnp.where(exists, leaf, jnp.nan), candidates.target(action))


def with_presence(search: SearchProblem, is_present: Bool[Array, ""] | None) -> SearchProblem:
    """Return the search with a source or without; as it is if that is not said."""
    if is_present is None:
        return search
    truth = search.model if search.truth is None else search.truth
    assert isinstance(truth, Model)
    return replace(search, truth=PerhapsAbsent(truth, is_present))


def read(
    search: SearchProblem, record: Recorder, key: Key, state: SearchState, target: Target
) -> tuple[SearchState, Any, Bool[Array, ""]]:
    """Take one reading at a place or path, record it, and say whether none can follow."""
    _, read_key = step_keys(key, state)
    state, info = search.read_at(read_key, state, target)
    return state, record(search, state, info), search.is_over(state)


def step_keys(key: Key, state: SearchState) -> tuple[Key, Key]:
    """Return the keys of the next move and of its reading; they depend only on the number of readings."""
    size = state.belief.history.size
    policy_key, read_key = jax.random.split(jax.random.fold_in(key, size + (size >= _PREPARE_FOLD)))
    return policy_key, read_key


def as_arrays(tree):
    """Turn floats into arrays, so that a field which differs only in numbers is not compiled again."""
    return jax.tree.map(
        lambda leaf: jnp.asarray(leaf, jnp.float32) if isinstance(leaf, float) else leaf, tree
    )


def stack_policies(policies: Sequence[Policy | Oracle]) -> Any:
    """Stack the arrays of policies that are otherwise equal; `take_policy` is the inverse."""
    arrays, rests = zip(*(eqx.partition(policy, eqx.is_array) for policy in policies), strict=True)
    if any(not eqx.tree_equal(rest, rests[0]) for rest in rests):
        raise ValueError("Policies that search in turn must be equal except for their weights.")
    return eqx.combine(jax.tree.map(lambda *leaves: jnp.stack(leaves), *arrays), rests[0])


def take_policy(stacked: Any, number: Int[Array, ""] | None) -> Policy | Oracle:
    """Return the policy of this number; without a number the one policy that it is."""
    if number is None:
        return stacked
    return jax.tree.map(lambda leaf: leaf[number] if eqx.is_array(leaf) else leaf, stacked)


def require_finite(search: SearchProblem, targets: Any) -> Any:
    """Return the places or paths; raise a ValueError if one is NaN."""
    if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(targets)):
        raise ValueError(
            f"The policy gave an action that does not exist: they are 0 to {search.actions.num_actions - 1}."
        )
    return targets


def has_ended(newest: Any, is_over: np.ndarray, is_met: np.ndarray):
    """Return whether a search ends: all rules are met, no reading can follow, or no particle is left."""
    return is_met.all(axis=-1) | is_over | ~np.isfinite(newest.spread)
