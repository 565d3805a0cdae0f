"""Cells of the location of a source, and what readings tell about the cell in which it lies."""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.weights import members_at, normalise
from dowsax.types import Key, Scalar

_NUM_CELLS = 64
"""Into which the location is divided."""
_OVERLAP = 1.5
"""The width of a cell, in units of the distance between cells of a normal distribution."""
# A GPU would otherwise round the factors of a product to ten bits.
_PRECISION = jax.lax.Precision.HIGHEST


class Cells(NamedTuple):
    """The particles that the planner reweights, and the cells in which they lie."""

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    shares: Float[Array, "n cells"]
    """Of each particle in each cell; the cells overlap, and the shares of a particle sum to one, those of
    each source by itself."""
    before: Float[Array, " cells"]
    squares_before: Float[Array, " cells"]
    """The weight of each cell, and the sum of squares of its parts."""


def divide(key: Key, belief: Belief, scale: float | Scalar, num_particles: int) -> Cells:
    """Return at most `num_particles` particles, of equal weight where there were more, in cells.

    Cells are `scale` [m] wide, or as wide as it takes for them to cover the belief, if that is more.
    """
    chosen = replace(belief, log_weights=normalise(belief.log_weights))
    if belief.particles.shape[0] > num_particles:
        chosen = belief.thin(systematic(key, chosen.log_weights, num_particles))
    particles, log_weights = chosen.particles, chosen.log_weights
    # What a reading tells about several sources is what it tells about each, added up.
    each = []
    for at, positions in enumerate(jnp.unstack(chosen.source_positions, axis=1)):
        if belief.number_column is None:
            each.append(_shares(positions, log_weights, scale))
            continue
        is_there = particles[:, belief.number_column] > at
        weights = normalise(jnp.where(is_there, log_weights, -jnp.inf))
        each.append(_with_absence(_shares(positions, weights, scale), is_there))
    shares = jnp.concatenate(each, axis=1)
    before, squares_before = _cell_weights(jnp.exp(log_weights)[None, :], shares)
    return Cells(particles, log_weights, shares, before[0], squares_before[0])


def _shares(
    positions: Float[Array, "n axes"], log_weights: Float[Array, " n"], scale: float | Scalar
) -> Float[Array, "n cells"]:
    """Return the share of each particle in each cell of the location of a source."""
    weights = jnp.exp(log_weights)
    num_axes = positions.shape[1]
    centred = positions - jnp.matmul(weights, positions, precision=_PRECISION)[None, :]
    spread = jnp.sqrt(jnp.sum(jnp.matmul(weights, centred**2, precision=_PRECISION)) / num_axes)
    width = jnp.maximum(scale, _OVERLAP * spread / _NUM_CELLS ** (1 / num_axes))
    middles = positions[members_at(log_weights, (jnp.arange(_NUM_CELLS) + 0.5) / _NUM_CELLS)]
    squares = jnp.sum((positions[:, None, :] - middles[None, :, :]) ** 2, axis=2)
    return jax.nn.softmax(-0.5 * squares / width**2, axis=1)


def _with_absence(shares: Float[Array, "n cells"], is_there: Bool[Array, " n"]) -> Float[Array, "n more"]:
    """Return the shares with one more cell: that there is no such source."""
    present = jnp.where(is_there[:, None], shares, 0.0)
    return jnp.concatenate([present, 1.0 - is_there[:, None].astype(shares.dtype)], axis=1)


def information(
    cells: Cells, log_weights: Float[Array, "rows n"], log_likelihoods: Float[Array, "readings n"]
) -> Float[Array, " readings"]:
    r"""Return what each reading tells about the cell [nats].

    $$\sum_c a_c \log \frac{a_c}{b_c} - \frac12 \sum_c \Big(\frac{A_c}{a_c} - \frac{B_c\, a_c}{b_c^2}\Big)$$

    with the weights a and b of the cells after and before the reading, and A and B the sums of squares of
    their parts. To first order each particle counts half in its own cell. If it counted in full, what tells
    about strength or background alone would count as well; not at all, and small gains would be lost.

    `log_weights` are those before the readings: one row for all, or one for each.
    """
    posteriors = jnp.exp(jax.vmap(normalise)(log_weights + log_likelihoods))
    after, squares_after = _cell_weights(posteriors, cells.shares)
    before, squares_before = cells.before[None, :], cells.squares_before[None, :]
    if log_weights.shape[0] > 1:
        before, squares_before = _cell_weights(jnp.exp(log_weights), cells.shares)
    divergence = after * (jnp.log(after) - jnp.log(before))
    return jnp.sum(
        divergence - 0.5 * (squares_after / after - squares_before / before * after / before), axis=1
    )


def _cell_weights(
    weights: Float[Array, "readings n"], shares: Float[Array, "n cells"]
) -> tuple[Float[Array, "readings cells"], Float[Array, "readings cells"]]:
    """Return the weight of each cell, and the sum of squares of its parts."""
    total = jnp.matmul(weights, shares, precision=_PRECISION)
    squares = jnp.matmul(weights**2, shares**2, precision=_PRECISION)
    return jnp.maximum(total, jnp.finfo(total.dtype).tiny), squares
