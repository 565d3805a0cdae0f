"""From a belief to the moves and back: coordinates, target density and what is known of it already."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief, History
from dowsax.inference.config import FilterConfig
from dowsax.inference.jumps import MOVES_OF_PATHS, Paths
from dowsax.inference.proposals import Columns, Proposal, freeze
from dowsax.inference.rejuvenation import Density, adapted, rejuvenate
from dowsax.inference.replay import reading_log_likelihood, replay
from dowsax.inference.straightening import Straightening, straightening
from dowsax.types import Key, Scalar
from dowsax.world import Coordinates, Jump, LogLinear, Model

POSITION = (0, 1)
"""The columns of Θ that say where the source is."""


class MoveInfo(NamedTuple):
    """What the moves did."""

    acceptance_rate: Scalar
    evaluations: Scalar


class Target(eqx.Module):
    """The posterior density in the coordinates of the moves, evaluated by the column.

    Rows are the coordinates of Θ but for the free ones and, where the source jumps, below them the sources of
    earlier regimes.
    """

    model: Model
    coordinates: Coordinates
    history: History
    free: Columns
    straightening: Straightening | None
    paths: Paths | None

    @property
    def num_rows(self) -> int:
        """Rows of the present Θ."""
        return len(self.model.prior.parameters) - self.free.shape[0]

    def columns(self, rows: Float[Array, "m n"]) -> Columns:
        """All coordinates of the present Θ, the free ones included."""
        rows = rows[: self.num_rows]
        bent = rows if self.straightening is None else self.straightening.bent(rows)
        return jnp.concatenate([bent, self.free])

    def thetas(self, rows: Float[Array, "m n"]) -> tuple[Columns, Columns]:
        """All coordinates and the Θ they stand for."""
        columns = self.columns(rows)
        return columns, jax.vmap(self.coordinates.inverse, in_axes=1, out_axes=1)(columns)

    def log_prior(self, columns: Columns, thetas: Columns) -> Float[Array, " n"]:
        log_dets = jax.vmap(self.coordinates.log_det, in_axes=1)(columns)
        return jax.vmap(self.model.prior.log_prob, in_axes=1)(thetas) + log_dets

    def newest(self, thetas: Columns) -> Float[Array, " n"]:
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
        past = replay(self.model, thetas, self.history, self.history.size - 1, paths)
        return Density(log_prior, past, self.newest(thetas))


def move(
    key: Key,
    model: Model,
    coordinates: Coordinates,
    config: FilterConfig,
    proposals: Sequence[Proposal],
    belief: Belief,
    newest: Float[Array, " n"],
    exponent: Scalar,
    jump: Jump | None,
    spent: Scalar,
) -> tuple[Belief, Float[Array, " n"], MoveInfo]:
    """Move all particles under the posterior with part `exponent` of the newest reading.

    Returns the belief, the newest terms of the moved particles, and what was done. Where the source may
    `jump`, particles are paths and move as a whole. `spent` are the likelihood terms that the newest reading
    has cost so far.
    """
    move_key, free_key = jax.random.split(key)
    columns = jax.vmap(coordinates.forward, out_axes=1)(belief.particles)
    num_rows = columns.shape[0] - _num_free(coordinates, jump)
    rows, free = columns[:num_rows], columns[num_rows:]
    straight = None
    # Least squares over all readings say nothing of a source that was somewhere else at some of them.
    if config.straighten and jump is None and isinstance(coordinates, LogLinear):
        straight = straightening(model, coordinates, belief.history, exponent)
        rows = straight.straight(rows)
    paths = None
    if jump is not None:
        assert belief.earlier is not None
        paths = Paths.of(jump, belief.starts, belief.earlier)
        if len(jump.columns) < columns.shape[0]:
            rows = jnp.concatenate([rows, paths.rows])
    target = Target(model, coordinates, belief.history, free, straight, paths)
    if jump is None:
        thetas = jax.vmap(coordinates.inverse, in_axes=1, out_axes=1)(columns)
        known = Density(target.log_prior(columns, thetas), belief.log_likelihoods, newest)
    else:
        # A path that has forgotten its oldest regime answers for fewer readings than were added up.
        known = target(rows)
    gradients = None
    if any(proposal.needs_gradients for proposal in proposals):
        gradients = jax.grad(lambda rows: jnp.sum(target.newest(target.thetas(rows)[1])))(rows)
    least, most = _moves(config, belief, jump, spent)
    moved = rejuvenate(
        move_key,
        freeze(rows, gradients),
        known,
        exponent,
        belief.step_size,
        proposals=proposals,
        evaluate=target,
        num_moves=least,
        max_moves=most,
        forgetting=config.forgetting,
        watched=num_rows,
    )
    # The free coordinates are uniform whatever the readings say: drawn again, exactly.
    fresh = jax.random.uniform(free_key, free.shape)
    columns = target.columns(moved.columns).at[num_rows:].set(fresh)
    belief = replace(
        belief,
        particles=jax.vmap(coordinates.inverse, in_axes=1)(columns),
        log_likelihoods=moved.density.past,
        step_size=adapted(belief.step_size, moved.acceptance_rate),
        earlier=None if paths is None else paths.with_rows(moved.columns[num_rows:]).earlier,
    )
    num_terms = moved.num_moves * rows.shape[1] * belief.history.size
    info = MoveInfo(moved.acceptance_rate, num_terms.astype(jnp.float32))
    return belief, moved.density.newest, info


def _moves(
    config: FilterConfig, belief: Belief, jump: Jump | None, spent: Scalar
) -> tuple[int, int | Int[Array, ""]]:
    """The least and the largest number of moves, after so many likelihood terms for the newest reading."""
    times = 1 if jump is None else MOVES_OF_PATHS
    least, most = times * config.num_moves, times * config.max_moves
    if config.max_terms is None:
        return least, most
    terms = belief.particles.shape[0] * jnp.maximum(belief.history.size, 1)
    affordable = (config.max_terms - spent) / terms
    return least, jnp.clip(affordable, least, most).astype(jnp.int32)


def _num_free(coordinates: Coordinates, jump: Jump | None) -> int:
    """Coordinates that can be drawn again exactly.

    None where more than the position jumps: then earlier sources have numbers that mean something else when
    the free coordinates of the present one change.
    """
    return coordinates.free if jump is None or set(jump.columns) <= set(POSITION) else 0
