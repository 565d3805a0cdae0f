"""The interface of a learner: a pair of pure functions, so a run is a `scan` and many seeds are a `vmap`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.types import Key, Scalar

NetworkOfKey = Callable[[Key], Any]
"""`(key) -> network` with random weights; a network is `(observation) -> ActorCriticOutput`."""


class LearnerState(eqx.Module):
    """The state carried from one update to the next."""

    network: PyTree
    optimiser: PyTree
    environments: PyTree
    """The searches in progress; not a learned quantity."""
    updates: Int[Array, ""]
    steps: Int[Array, ""]
    """Total number of moves."""


class UpdateInfo(NamedTuple):
    """What happened in one update; nothing here is needed by the next one."""

    tally: PyTree
    """Counts over the searches that ended in the rollout."""
    steps: Int[Array, ""]
    """Moves in this update."""
    actor_loss: Float[Array, ""]
    critic_loss: Float[Array, ""]
    entropy: Float[Array, ""]
    """[nats], mean entropy of the policy."""
    divergence: Float[Array, ""]
    """[nats], KL divergence from the policy before the update to the one after it."""
    clipped: Float[Array, ""]
    """Share of moves whose probability ratio was clipped."""
    explained: Float[Array, ""]
    """Explained variance of the value targets; at most 1."""
    grad_norm: Float[Array, ""]
    healthy: Bool[Array, ""]
    """False if a loss or gradient was not finite; the network is then unchanged."""


class Learner(NamedTuple):
    """A learner is a pair of pure functions."""

    init: Callable[[Key], LearnerState]
    update: Callable[[Key, LearnerState], tuple[LearnerState, UpdateInfo]]


def trainable(network: PyTree) -> PyTree:
    """Return the weights: all arrays of floating point numbers."""
    return eqx.filter(network, eqx.is_inexact_array)


def choose(condition: Bool[Array, ""], if_true: PyTree, if_false: PyTree) -> PyTree:
    """Select one of two trees of like shape; leaves that are not arrays are those of the first."""
    arrays, rest = eqx.partition(if_true, eqx.is_array)
    others = eqx.filter(if_false, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda a, b: jnp.where(condition, a, b), arrays, others), rest)


def all_finite(*trees: PyTree) -> Bool[Array, ""]:
    """Return whether every number in the trees is finite."""
    leaves = [
        jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(eqx.filter(trees, eqx.is_inexact_array))
    ]
    return jnp.all(jnp.stack(leaves))


def global_norm(tree: PyTree) -> Scalar:
    """Return the Euclidean norm of all numbers of a tree."""
    return jnp.sqrt(sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), start=jnp.zeros(())))


def anneal(start: float, end: float, share: Scalar) -> Scalar:
    """Interpolate linearly from `start` to `end` as the share of the run goes from 0 to 1."""
    return start + (end - start) * jnp.clip(share, 0.0, 1.0)


def explained_variance(value: Array, target: Array, valid: Array) -> Scalar:
    r"""$1 - \mathrm{Var}(R - V) / \mathrm{Var}(R)$ over the valid entries."""
    residual, spread = (jnp.var(part, where=valid) for part in (target - value, target))
    return jnp.where(spread > 0, 1 - residual / jnp.maximum(spread, 1e-12), 0.0)


def init_state(network: PyTree, optimiser: PyTree, environments: PyTree) -> LearnerState:
    """Return the state before the first update."""
    # Two separate zeros: a state is donated to the next update, and no buffer can be donated twice.
    return LearnerState(network, optimiser, environments, jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32))


def next_state(
    state: LearnerState,
    *,
    network: PyTree,
    optimiser: PyTree,
    environments: PyTree,
    steps: Array,
    healthy: Array,
) -> LearnerState:
    """Return the state after an update; if it was not healthy, network, optimiser and counts are unchanged.

    The environments advance in any case: holding the old ones too would take their memory twice.
    """
    learned = (network, optimiser, state.updates + 1, state.steps + steps)
    before = (state.network, state.optimiser, state.updates, state.steps)
    network, optimiser, updates, total = choose(healthy, learned, before)
    return LearnerState(network, optimiser, environments, updates, total)
