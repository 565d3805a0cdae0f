"""Moves of a belief: coordinates, target density, and the values of it that are known already."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief, History
from dowsax.inference.config import FilterConfig
from dowsax.inference.jumps import PATH_MOVES_FACTOR, Paths
from dowsax.inference.labels import agree
from dowsax.inference.proposals import Columns, Proposal, freeze
from dowsax.inference.rejuvenation import Density, adapt_step_size, rejuvenate
from dowsax.inference.replay import reading_log_likelihood, replay
from dowsax.inference.straightening import Straightening, build_straightening
from dowsax.types import Key, Scalar
from dowsax.world import Coordinates, Jump, LogLinear, Model, source_columns


class MoveInfo(NamedTuple):
    """What happened in the moves."""

    acceptance_rate: Scalar
    evaluations: Scalar


class Target(eqx.Module):
    """The posterior density in the coordinates of the moves, evaluated for each column.

    Rows are the coordinates of Θ without the free ones, followed by the sources of earlier regimes if the
    source jumps.
    """

    model: Model
    coordinates: Coordinates
    history: History
    free: Columns
    straightening: Straightening | None
    paths: Paths | None

    @property
    def num_rows(self) -> int:
        """Number of rows of the present Θ."""
        return len(self.model.prior.parameters) - self.free.shape[0]

    def columns(self, rows: Float[Array, "m n"]) -> Columns:
        """Return all coordinates of the present Θ, the free ones included."""
        rows = rows[: self.num_rows]
        bent = rows if self.straightening is None else self.straightening.bend(rows)
        return jnp.concatenate([bent, self.free])

    def thetas(self, rows: Float[Array, "m n"]) -> tuple[Columns, Columns]:
        """Return all coordinates, and their Θ."""
        columns = self.columns(rows)
        return columns, jax.vmap(self.coordinates.inverse, in_axes=1, out_axes=1)(columns)

    def log_prior(self, columns: Columns, thetas: Columns) -> Float[Array, " n"]:
        log_dets = jax.vmap(self.coordinates.log_det, in_axes=1)(columns)
        return jax.vmap(self.model.prior.log_prob, in_axes=1)(thetas) + log_dets

    def new_log_likelihood(self, thetas: Columns) -> Float[Array, " n"]:
        at = self.history.size - 1
        station = jax.tree.map(lambda leaf: leaf[at], self.history.stations)
        return reading_log_likelihood(self.model, thetas, station, self.history.readings[at])

    def __call__(self, rows: Columns) -> Density:
        columns, thetas = self.thetas(rows)
        log_prior = self.log_prior(columns, thetas)
        paths = None
        if self.paths is not None:
            paths = self.paths.with_rows(rows[self.num_rows :])
            log_prior = log_prior + paths.log_prior(self.model, thetas)
        return Density(log_prior, *replay(self.model, thetas, self.history, paths))


def move(
    key: Key,
    model: Model,
    coordinates: Coordinates,
    config: FilterConfig,
    proposals: Sequence[Proposal],
    belief: Belief,
    new_log_likelihood: Float[Array, " n"],
    exponent: Scalar,
    jump: Jump | None,
    spent: Scalar,
    effort: Scalar | float = 1.0,
) -> tuple[Belief, Float[Array, " n"], MoveInfo]:
    """Move all particles under the posterior with the part `exponent` of the new reading.

    Returns the belief, the log likelihood of the new reading for the moved particles, and info. If the source
    may `jump`, particles are paths and move as a whole. `spent` is the number of likelihood terms evaluated
    for the new reading so far, and `effort` the share of `max_terms` that it may take.
    """
    move_key, free_key = jax.random.split(key)
    columns_of_sources = source_columns(model.prior)
    if columns_of_sources is not None:
        likelihoods = belief.log_likelihoods + exponent * new_log_likelihood
        belief = replace(belief, particles=agree(belief.particles, likelihoods, columns_of_sources))
    columns = jax.vmap(coordinates.forward, out_axes=1)(belief.particles)
    num_rows = columns.shape[0] - _num_free(coordinates, jump, belief.position_columns)
    rows, free = columns[:num_rows], columns[num_rows:]
    shift = None
    # Least squares over all readings do not apply to a source that jumps.
    if config.straighten and jump is None and isinstance(coordinates, LogLinear):
        shift = build_straightening(model, coordinates, belief.history, exponent)
        rows = shift.straighten(rows)
    paths = None
    if jump is not None:
        assert belief.earlier is not None
        paths = Paths.of(jump, belief.starts, belief.earlier)
        if len(jump.columns) < columns.shape[0]:
            rows = jnp.concatenate([rows, paths.rows])
    target = Target(model, coordinates, belief.history, free, shift, paths)
    if jump is None:
        thetas = jax.vmap(coordinates.inverse, in_axes=1, out_axes=1)(columns)
        known = Density(target.log_prior(columns, thetas), belief.log_likelihoods, new_log_likelihood)
    else:
        # A path that has forgotten its oldest regime explains fewer readings than were added up.
        known = target(rows)
    gradients = None
    if any(proposal.needs_gradients for proposal in proposals):
        gradients = jax.grad(lambda rows: jnp.sum(target.new_log_likelihood(target.thetas(rows)[1])))(rows)
    min_moves, max_moves = _move_limits(config, belief, jump, spent, effort)
    moved = rejuvenate(
        move_key,
        freeze(rows, belief.log_weights, gradients),
        known,
        exponent,
        belief.step_size,
        proposals=proposals,
        evaluate=target,
        num_moves=min_moves,
        max_moves=max_moves,
        forgetting=config.forgetting,
        num_watched=num_rows,
    )
    # The free coordinates are uniform under the posterior too: redrawn exactly.
    fresh = jax.random.uniform(free_key, free.shape)
    columns = target.columns(moved.columns).at[num_rows:].set(fresh)
    belief = replace(
        belief,
        particles=jax.vmap(coordinates.inverse, in_axes=1)(columns),
        log_likelihoods=moved.density.past_log_likelihood,
        step_size=adapt_step_size(belief.step_size, moved.acceptance_rate),
        earlier=None if paths is None else paths.with_rows(moved.columns[num_rows:]).earlier,
    )
    num_terms = moved.num_moves * rows.shape[1] * belief.history.size
    info = MoveInfo(moved.acceptance_rate, num_terms.astype(jnp.float32))
    return belief, moved.density.new_log_likelihood, info


def _move_limits(
    config: FilterConfig, belief: Belief, jump: Jump | None, spent: Scalar, effort: Scalar | float
) -> tuple[int, int | Int[Array, ""]]:
    """Return the minimal and maximal number of moves, after `spent` likelihood terms for the new reading."""
    times = 1 if jump is None else PATH_MOVES_FACTOR
    min_moves, max_moves = times * config.num_moves, times * config.max_moves
    if config.max_terms is None:
        return min_moves, max_moves
    terms = belief.particles.shape[0] * jnp.maximum(belief.history.size, 1)
    affordable = (effort * config.max_terms - spent) / terms
    return min_moves, jnp.clip(affordable, min_moves, max_moves).astype(jnp.int32)


def _num_free(coordinates: Coordinates, jump: Jump | None, position_columns: tuple[int, ...]) -> int:
    """Return the number of coordinates that can be redrawn exactly.

    Zero if more than the position jumps: the coordinates of earlier sources then depend on the free ones.
    """
    return coordinates.free if jump is None or set(jump.columns) <= set(position_columns) else 0
