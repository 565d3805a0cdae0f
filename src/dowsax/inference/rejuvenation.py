"""Metropolis–Hastings moves of the whole population over the full history (Prop. 3)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.proposals import Columns, Population, Proposal
from dowsax.types import Key, Scalar

WANTED_ACCEPTANCE = 0.25
_STEP_SIZES = (0.1, 3.0)


class Density(NamedTuple):
    """The parts of the target, each (n,): they are kept, so that only proposals are evaluated."""

    log_prior: Float[Array, " n"]
    """In the coordinates of the moves, Jacobian included."""
    past: Float[Array, " n"]
    """Log likelihood of all readings but the newest."""
    newest: Float[Array, " n"]


Evaluate = Callable[[Columns], Density]


class Moved(NamedTuple):
    """Where the particles are after the moves."""

    columns: Columns
    density: Density
    acceptance_rate: Scalar
    num_moves: Int[Array, ""]


def log_target(density: Density, exponent: Scalar) -> Float[Array, " n"]:
    r"""$\log p(\Theta) + \sum_{t<k} \log p(o_t \mid \Theta) + \beta \log p(o_k \mid \Theta)$."""
    return density.log_prior + density.past + exponent * density.newest


def metropolis_step(
    key: Key,
    columns: Columns,
    density: Density,
    exponent: Scalar,
    propose: Callable[[Key, Columns], tuple[Columns, Float[Array, " n"]]],
    evaluate: Evaluate,
) -> tuple[Columns, Density, Bool[Array, " n"]]:
    r"""Accept with $\min\{1, \tilde\pi(\Theta')q(\Theta|\Theta')/\tilde\pi(\Theta)q(\Theta'|\Theta)\}$.

    A proposal whose density is −∞ or NaN is rejected.
    """
    propose_key, accept_key = jax.random.split(key)
    proposed, log_correction = propose(propose_key, columns)
    new = evaluate(proposed)
    log_ratio = log_target(new, exponent) - log_target(density, exponent) + log_correction
    accepted = jnp.log(jax.random.uniform(accept_key, log_ratio.shape)) < log_ratio
    columns = jnp.where(accepted[None, :], proposed, columns)
    density = jax.tree.map(lambda fresh, old: jnp.where(accepted, fresh, old), new, density)
    return columns, density, accepted


def rejuvenate(
    key: Key,
    population: Population,
    density: Density,
    exponent: Scalar,
    step_size: Scalar,
    *,
    proposals: Sequence[Proposal],
    evaluate: Evaluate,
    num_moves: int,
    max_moves: int | Int[Array, ""],
    forgetting: float,
    watched: int | None = None,
) -> Moved:
    """Move every particle `num_moves` times, and on until it has forgotten its start, `max_moves` at most.

    Forgotten means: over the population none of the first `watched` coordinates (default: all) correlates
    with its own start by more than `forgetting`. The proposals take turns.
    """
    # Known beforehand, and the same for all of a batch: none has to be held back.
    fixed = isinstance(max_moves, int) and max_moves == num_moves

    def propose(turn: Int[Array, ""], key: Key, columns: Columns) -> tuple[Columns, Float[Array, " n"]]:
        branches = [
            lambda key, columns, proposal=proposal: proposal(key, columns, population, step_size)
            for proposal in proposals
        ]
        return jax.lax.switch(turn % len(branches), branches, key, columns)

    def move(carry):
        turn, key, columns, density, num_accepted, _ = carry
        key, move_key = jax.random.split(key)
        columns, density, accepted = metropolis_step(
            move_key, columns, density, exponent, lambda key, at: propose(turn, key, at), evaluate
        )
        memory = jnp.ones(()) if fixed else remembered(population.columns[:watched], columns[:watched])
        return turn + 1, key, columns, density, num_accepted + jnp.mean(accepted), memory

    def unfinished(carry) -> Bool[Array, ""]:
        turn, _, _, _, _, memory = carry
        if fixed:
            return turn < num_moves
        return (turn < num_moves) | ((turn < max_moves) & (memory > forgetting))

    start = (jnp.zeros((), jnp.int32), key, population.columns, density, jnp.zeros(()), jnp.ones(()))
    turn, _, columns, density, num_accepted, _ = jax.lax.while_loop(unfinished, move, start)
    return Moved(columns, density, num_accepted / jnp.maximum(turn, 1), turn)


def remembered(start: Columns, now: Columns) -> Scalar:
    """The largest correlation over the coordinates between where particles started and where they are."""
    start = start - jnp.mean(start, axis=1, keepdims=True)
    now = now - jnp.mean(now, axis=1, keepdims=True)
    scale = jnp.sqrt(jnp.sum(start**2, axis=1) * jnp.sum(now**2, axis=1))
    return jnp.max(jnp.sum(start * now, axis=1) / jnp.maximum(scale, 1e-30))


def adapted(step_size: Scalar, acceptance_rate: Scalar) -> Scalar:
    """The step size of the next moves: longer after too many acceptances, shorter after too few."""
    return jnp.clip(step_size * jnp.exp(acceptance_rate - WANTED_ACCEPTANCE), *_STEP_SIZES)
