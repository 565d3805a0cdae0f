"""From a belief to the moves and back: coordinates, target density and what is known of it already."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief, History
from dowsax.inference.config import FilterConfig
from dowsax.inference.proposals import Columns, Proposal, freeze
from dowsax.inference.rejuvenation import Density, adapted, rejuvenate
from dowsax.inference.replay import newest_terms, replay
from dowsax.inference.straightening import Straightening, straightening
from dowsax.types import Key, Scalar
from dowsax.world import Coordinates, LogLinear, Model


class MoveInfo(NamedTuple):
    """What the moves did."""

    acceptance_rate: Scalar
    evaluations: Scalar


class Target(eqx.Module):
    """The posterior density in the coordinates of the moves, evaluated by the column."""

    model: Model
    coordinates: Coordinates
    history: History
    starts: Int[Array, " n"] | None
    free: Columns
    straightening: Straightening | None

    def columns(self, rows: Float[Array, "m n"]) -> Columns:
        """All coordinates, the free ones included."""
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
        return newest_terms(self.model, thetas, station, self.history.readings[at])

    def __call__(self, rows: Columns) -> Density:
        columns, thetas = self.thetas(rows)
        past = replay(self.model, thetas, self.history, self.history.size - 1, self.starts)
        return Density(self.log_prior(columns, thetas), past, self.newest(thetas))


def move(
    key: Key,
    model: Model,
    coordinates: Coordinates,
    config: FilterConfig,
    proposals: Sequence[Proposal],
    belief: Belief,
    newest: Float[Array, " n"],
    exponent: Scalar,
    replay_from_start: bool,
    spent: Scalar,
) -> tuple[Belief, Float[Array, " n"], MoveInfo]:
    """Move all particles under the posterior with part `exponent` of the newest reading.

    Returns the belief, the newest terms of the moved particles, and what was done. With
    `replay_from_start` all readings count for every particle, else those of its own regime. `spent` are the
    likelihood terms that the newest reading has cost so far.
    """
    move_key, free_key = jax.random.split(key)
    columns = jax.vmap(coordinates.forward, out_axes=1)(belief.particles)
    num_rows = columns.shape[0] - coordinates.free
    rows, free = columns[:num_rows], columns[num_rows:]
    starts = None if replay_from_start else belief.starts
    straight = None
    # A particle of a younger regime answers for fewer readings than the least squares do.
    if config.straighten and replay_from_start and isinstance(coordinates, LogLinear):
        straight = straightening(model, coordinates, belief.history, exponent)
        rows = straight.straight(rows)
    target = Target(model, coordinates, belief.history, starts, free, straight)
    thetas = jax.vmap(coordinates.inverse, in_axes=1, out_axes=1)(columns)
    known = Density(target.log_prior(columns, thetas), belief.log_likelihoods, newest)
    gradients = None
    if any(proposal.needs_gradients for proposal in proposals):
        gradients = jax.grad(lambda rows: jnp.sum(target.newest(target.thetas(rows)[1])))(rows)
    most: int | Int[Array, ""] = config.max_moves
    if config.max_terms is not None:
        affordable = (config.max_terms - spent) / (rows.shape[1] * jnp.maximum(belief.history.size, 1))
        most = jnp.clip(affordable, config.num_moves, config.max_moves).astype(jnp.int32)
    moved = rejuvenate(
        move_key,
        freeze(rows, gradients),
        known,
        exponent,
        belief.step_size,
        proposals=proposals,
        evaluate=target,
        num_moves=config.num_moves,
        max_moves=most,
        forgetting=config.forgetting,
    )
    # The free coordinates are uniform whatever the readings say: drawn anew, exactly.
    fresh = jax.random.uniform(free_key, free.shape)
    columns = target.columns(moved.columns)
    particles = jax.vmap(coordinates.inverse, in_axes=1)(columns.at[num_rows:].set(fresh))
    belief = eqx.tree_at(
        lambda at: (at.particles, at.log_likelihoods, at.step_size),
        belief,
        (particles, moved.density.past, adapted(belief.step_size, moved.acceptance_rate)),
    )
    num_terms = moved.num_moves * rows.shape[1] * belief.history.size
    info = MoveInfo(moved.acceptance_rate, num_terms.astype(jnp.float32))
    return belief, moved.density.newest, info
