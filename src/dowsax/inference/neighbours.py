"""The nearest neighbours of every particle, itself among them, in the embedding space.

`exact_neighbours` compares all pairs: right up to a few thousand particles, and on an accelerator.
`tree_neighbours` asks a k-d tree on the host: in nine dimensions it is far faster than all pairs from ten
thousand particles on, while windows along random projections lose most neighbours there.
Three things make it fast: branches that could improve the list only slightly are skipped, more of them with
more particles (`slack`); the particles are laid out in the order of a first tree, so that successive queries
touch the same memory; and a little noise separates copies of one particle, because a k-d tree cannot split
equal points and would compare all of them.
"""

import math
from functools import partial
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

_BLOCK_ROWS = 256
"""Rows of the distance matrix that exist at once."""
_LEAF_SIZE = 32
_TIE_BREAKING_NOISE = 1e-7


class Neighbours(eqx.Module):
    """For each particle the indices of its neighbours, nearest first.

    If fewer particles are active than neighbours were asked for, or the particle itself is inactive, the
    remaining entries hold its own index and are not `valid`.
    """

    indices: Int[Array, "n m"]
    valid: Bool[Array, "n m"]


@runtime_checkable
class NeighbourSearch(Protocol):
    """Finds, for each active particle, `num_neighbours` active ones (static; at most all particles)."""

    def __call__(
        self, embeddings: Float[Array, "n e"], active: Bool[Array, " n"], num_neighbours: int
    ) -> Neighbours: ...


def exact_neighbours(
    embeddings: Float[Array, "n e"], active: Bool[Array, " n"], num_neighbours: int
) -> Neighbours:
    """Compare all pairs, in blocks of rows: time O(n²), memory O(n)."""
    num_particles = embeddings.shape[0]
    size = min(num_neighbours, num_particles)
    points = jax.lax.stop_gradient(embeddings)

    def row(index: Int[Array, ""]) -> tuple[Int[Array, " m"], Bool[Array, " m"]]:
        distances = jnp.sum((points - points[index][None, :]) ** 2, axis=1)
        distances = jnp.where(active, distances, jnp.inf).at[index].set(-1.0)
        negated, indices = jax.lax.top_k(-distances, size)
        valid = (negated > -jnp.inf) & active[index]
        return jnp.where(valid, indices, index), valid

    rows = jnp.arange(num_particles, dtype=jnp.int32)
    return Neighbours(*jax.lax.map(row, rows, batch_size=min(_BLOCK_ROWS, num_particles)))


def slack(num_particles: int) -> float:
    r"""Return ε of the tree: branches not nearer than $1/(1+ε)$ of the farthest neighbour are skipped.

    In nine dimensions the branches to visit grow with the number of particles. Rising with its logarithm,
    0.5 at 10,000 and 0.9 at 100,000, ε holds the time near n log n; 97 to 99 % of the true neighbours are
    found at the one, above 90 % at the other.
    """
    return min(max(0.5 + 0.4 * math.log10(num_particles / 10_000), 0.0), 0.9)


def tree_neighbours(
    embeddings: Float[Array, "n e"], active: Bool[Array, " n"], num_neighbours: int
) -> Neighbours:
    """Query a k-d tree on the host, from within the compiled program; one population at a time."""
    num_particles = embeddings.shape[0]
    size = min(num_neighbours, num_particles)
    shape = (num_particles, size)
    result = jax.ShapeDtypeStruct(shape, jnp.int32), jax.ShapeDtypeStruct(shape, jnp.bool_)
    found = jax.pure_callback(
        partial(_query_tree, size=size),
        result,
        jax.lax.stop_gradient(embeddings),
        active,
        vmap_method="sequential",
    )
    return Neighbours(*found)


def _query_tree(embeddings: jax.Array, active: jax.Array, *, size: int) -> tuple[np.ndarray, np.ndarray]:
    num_particles = embeddings.shape[0]
    indices = np.repeat(np.arange(num_particles, dtype=np.int32)[:, None], size, axis=1)
    valid = np.zeros((num_particles, size), np.bool_)
    chosen = np.flatnonzero(np.asarray(active))
    found = min(size, chosen.size)
    if found == 0:
        return indices, valid
    points = np.asarray(embeddings, np.float64)[chosen]
    points += _TIE_BREAKING_NOISE * np.random.default_rng(0).standard_normal(points.shape)
    # Late, as it takes a quarter of a second and the default filter has no use for it.
    from scipy.spatial import KDTree

    order = KDTree(points, _LEAF_SIZE, compact_nodes=False, balanced_tree=False).indices
    points, chosen = points[order], chosen[order]
    tree = KDTree(points, _LEAF_SIZE, balanced_tree=False)
    _, nearest = tree.query(points, found, eps=slack(chosen.size), workers=-1)
    indices[chosen, :found] = chosen[np.reshape(nearest, (-1, found))]
    valid[chosen, :found] = True
    return indices, valid
