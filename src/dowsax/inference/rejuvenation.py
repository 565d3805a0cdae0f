"""Metropolis–Hastings moves of the whole population over the full history (Prop. 3)."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.proposals import Columns, Population, Proposal
from dowsax.types import Key, Scalar

TARGET_ACCEPTANCE = 0.25
_STEP_SIZE_RANGE = (0.1, 3.0)


class Density(NamedTuple):
    """The terms of the log target, each (n,), carried along so that only proposals are evaluated."""

    log_prior: Float[Array, " n"]
    """In the coordinates of the moves, Jacobian included."""
    past_log_likelihood: Float[Array, " n"]
    """Of all readings but the new one."""
    new_log_likelihood: Float[Array, " n"]


Evaluate = Callable[[Columns], Density]


class MoveResult(NamedTuple):
    """The particles after the moves."""

    columns: Columns
    density: Density
    acceptance_rate: Scalar
    num_moves: Int[Array, ""]


def log_target(density: Density, exponent: Scalar) -> Float[Array, " n"]:
    r"""Return $\log p(\Theta) + \sum_{t<k} \log p(o_t \mid \Theta) + \beta \log p(o_k \mid \Theta)$."""
    return density.log_prior + density.past_log_likelihood + exponent * density.new_log_likelihood


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
    num_watched: int | None = None,
) -> MoveResult:
    """Move every particle `num_moves` times, and on until it has forgotten its start, `max_moves` at most.

    Forgotten means: over the population none of the first `num_watched` coordinates (default: all) correlates
    with its own start by more than `forgetting`. Proposals alternate.
    """
    # Known at compile time and equal within a batch, which needs no masking then.
    fixed = isinstance(max_moves, int) and max_moves == num_moves

    def propose(number: Int[Array, ""], key: Key, columns: Columns) -> tuple[Columns, Float[Array, " n"]]:
        branches = [
            lambda key, columns, proposal=proposal: proposal(key, columns, population, step_size)
            for proposal in proposals
        ]
        return jax.lax.switch(number % len(branches), branches, key, columns)

    def move(carry):
        number, key, columns, density, num_accepted, _ = carry
        key, move_key = jax.random.split(key)
        columns, density, accepted = metropolis_step(
            move_key, columns, density, exponent, lambda key, at: propose(number, key, at), evaluate
        )
        memory = (
            jnp.ones(())
            if fixed
            else start_correlation(population.columns[:num_watched], columns[:num_watched])
        )
        return number + 1, key, columns, density, num_accepted + jnp.mean(accepted), memory

    def is_unfinished(carry) -> Bool[Array, ""]:
        number, _, _, _, _, memory = carry
        if fixed:
            return number < num_moves
        return (number < num_moves) | ((number < max_moves) & (memory > forgetting))

    start = (jnp.zeros((), jnp.int32), key, population.columns, density, jnp.zeros(()), jnp.ones(()))
    number, _, columns, density, num_accepted, _ = jax.lax.while_loop(is_unfinished, move, start)
    return MoveResult(columns, density, num_accepted / jnp.maximum(number, 1), number)


def start_correlation(start: Columns, now: Columns) -> Scalar:
    """Return the largest correlation, over the coordinates, of the particles with their start."""
    start = start - jnp.mean(start, axis=1, keepdims=True)
    now = now - jnp.mean(now, axis=1, keepdims=True)
    scale = jnp.sqrt(jnp.sum(start**2, axis=1) * jnp.sum(now**2, axis=1))
    return jnp.max(jnp.sum(start * now, axis=1) / jnp.maximum(scale, 1e-30))


def adapt_step_size(step_size: Scalar, acceptance_rate: Scalar) -> Scalar:
    """Return the step size of the next moves: larger after many acceptances, smaller after few."""
    return jnp.clip(step_size * jnp.exp(acceptance_rate - TARGET_ACCEPTANCE), *_STEP_SIZE_RANGE)
