"""What a learner is: a pair of pure functions, so that a run is a scan and many seeds are a `vmap`."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.types import Key, Scalar

NetworkOfKey = Callable[[Key], Any]
"""`(key) -> network` with random weights; a network is `(seen) -> Judgement(logits, value)`."""


class LearnerState(eqx.Module):
    """All that the next update needs."""

    network: PyTree
    optimiser: PyTree
    slots: PyTree
    """The searches under way; no part of what has been learned."""
    updates: Int[Array, ""]
    steps: Int[Array, ""]
    """Moves made so far, over all searches."""


class UpdateInfo(NamedTuple):
    """What happened in one update; nothing here is needed by the next one."""

    tally: PyTree
    """Of the searches in the rollout."""
    steps: Int[Array, ""]
    """Moves made in this update."""
    actor_loss: Float[Array, ""]
    critic_loss: Float[Array, ""]
    entropy: Float[Array, ""]
    """[nats], of the choice of a move, on average."""
    divergence: Float[Array, ""]
    """[nats], from the policy that moved to the one that has learned from it."""
    clipped: Float[Array, ""]
    """The share of moves whose gradient was cut off."""
    explained: Float[Array, ""]
    """The share of the variance of the targets that the values explain; at most 1."""
    grad_norm: Float[Array, ""]
    healthy: Bool[Array, ""]
    """False: a loss or gradient was not finite, and the network stayed as it was."""


class Learner(NamedTuple):
    """A learner is a pair of pure functions."""

    init: Callable[[Key], LearnerState]
    update: Callable[[Key, LearnerState], tuple[LearnerState, UpdateInfo]]


def trainable(network: PyTree) -> PyTree:
    """The weights: all arrays of floating point numbers."""
    return eqx.filter(network, eqx.is_inexact_array)


def choose(condition: Bool[Array, ""], if_true: PyTree, if_false: PyTree) -> PyTree:
    """One of two trees of like shape; leaves that are no arrays are those of the first."""
    arrays, rest = eqx.partition(if_true, eqx.is_array)
    others = eqx.filter(if_false, eqx.is_array)
    return eqx.combine(jax.tree.map(lambda a, b: jnp.where(condition, a, b), arrays, others), rest)


def all_finite(*trees: PyTree) -> Bool[Array, ""]:
    """Whether every number in the trees is finite."""
    leaves = [
        jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(eqx.filter(trees, eqx.is_inexact_array))
    ]
    return jnp.all(jnp.stack(leaves))


def global_norm(tree: PyTree) -> Scalar:
    """The length of all numbers of a tree taken as one vector."""
    return jnp.sqrt(sum((jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)), start=jnp.zeros(())))


def annealed(start: float, end: float, share: Scalar) -> Scalar:
    """From `start` to `end` on a straight line as the share of the run goes from 0 to 1."""
    return start + (end - start) * jnp.clip(share, 0.0, 1.0)


def explained_variance(value: Array, target: Array, valid: Array) -> Scalar:
    r"""$1 - \mathrm{Var}(R - V) / \mathrm{Var}(R)$ over the valid entries."""
    residual, spread = (jnp.var(part, where=valid) for part in (target - value, target))
    return jnp.where(spread > 0, 1 - residual / jnp.maximum(spread, 1e-12), 0.0)


def begin(network: PyTree, optimiser: PyTree, slots: PyTree) -> LearnerState:
    """Nothing has been learned yet."""
    # Two arrays of their own: a state is donated to the next update, and no buffer can be given twice.
    return LearnerState(network, optimiser, slots, jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32))


def proceed(
    state: LearnerState, *, network: PyTree, optimiser: PyTree, slots: PyTree, steps: Array, healthy: Array
) -> LearnerState:
    """The state after an update: network, optimiser and counts as they were if it was not healthy.

    The searches have gone on in any case: to keep the old ones as well would take their memory twice.
    """
    learned = (network, optimiser, state.updates + 1, state.steps + steps)
    before = (state.network, state.optimiser, state.updates, state.steps)
    network, optimiser, updates, total = choose(healthy, learned, before)
    return LearnerState(network, optimiser, slots, updates, total)
