r"""Attention between particles, and the smoothing of weights along it.

$$\alpha_{ij} \propto \exp(e_i \cdot e_j / \sqrt d), \quad j \in S_i, \qquad
  \tilde w = (1 - \varepsilon)\, w + \varepsilon A^\top w.$$

Inactive particles (log weight −∞) are in no row but their own, so they neither give nor receive weight.
"""

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.features import Projection, Standardise, particle_features
from dowsax.inference.neighbours import Neighbours, NeighbourSearch, exact_neighbours
from dowsax.inference.weights import normalise
from dowsax.types import Scalar


@dataclass(frozen=True)
class AttentionConfig:
    """Static choices of the smoothing."""

    epsilon: float = 0.2
    """ε: the share of the weights that is redistributed."""
    num_neighbours: int = 16
    """m: number of entries of a row, the particle itself included."""
    drop_mass: float | None = None
    """δ: widen each row until it has 1 − δ of its dense mass; needs all pairs in memory."""

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise ValueError(f"`epsilon`, a share of the weights, must be in [0, 1]; got {self.epsilon}.")
        if self.num_neighbours < 1:
            raise ValueError(
                f"`num_neighbours`, with the particle itself, must be at least 1; got {self.num_neighbours}."
            )
        if self.drop_mass is not None and not 0 < self.drop_mass < 1:
            raise ValueError(
                f"`drop_mass`, a share of a row, must be in (0, 1) or None; got {self.drop_mass}."
            )


PAPER_ATTENTION = AttentionConfig()
DEFAULT_PROJECTION = Standardise()


class Attention(eqx.Module):
    """A sparse row-stochastic matrix: row i has the entries `shares[i]` in the columns `indices[i]`."""

    indices: Int[Array, "n m"]
    shares: Float[Array, "n m"]


def _row_scores(embeddings: Float[Array, "n e"], indices: Int[Array, "n m"]) -> Float[Array, "n m"]:
    r"""$e_i \cdot e_j / \sqrt d$."""
    scale = embeddings.shape[1] ** -0.5
    return scale * jnp.einsum("ne,nme->nm", embeddings, embeddings[indices])


def _softmax(scores: Float[Array, "n m"], included: Bool[Array, "n m"]) -> Float[Array, "n m"]:
    """Softmax over the included entries of each row; the particle itself, the first, if there are none."""
    first = jnp.arange(scores.shape[1])[None, :] == 0
    included = included | (first & ~jnp.any(included, axis=1, keepdims=True))
    return jax.nn.softmax(jnp.where(included, scores, -jnp.inf), axis=1)


def sparse_attention(embeddings: Float[Array, "n e"], neighbours: Neighbours) -> Attention:
    """Return the softmax over the neighbours of each particle; time and memory O(n·m)."""
    scores = _row_scores(embeddings, neighbours.indices)
    return Attention(neighbours.indices, _softmax(scores, neighbours.valid))


def widened_attention(
    embeddings: Float[Array, "n e"], active: Bool[Array, " n"], num_neighbours: int, drop_mass: float
) -> Attention:
    """Return rows of m, 2m, 4m, … nearest neighbours: the first size with 1 − `drop_mass` of the dense row.

    The dense mass needs all pairs: for up to a few thousand particles.
    """
    num_particles = embeddings.shape[0]
    everyone = exact_neighbours(embeddings, active, num_particles)
    scores = _row_scores(embeddings, everyone.indices)
    mass = jnp.cumsum(_softmax(scores, everyone.valid), axis=1)
    sizes = [min(num_neighbours, num_particles)]
    while sizes[-1] < num_particles:
        sizes.append(min(2 * sizes[-1], num_particles))
    ladder = jnp.asarray(sizes)
    # The last size is the whole row, even if rounding leaves its mass below one.
    enough = (mass[:, ladder - 1] >= 1 - drop_mass).at[:, -1].set(True)
    size = ladder[jnp.argmax(enough, axis=1)]
    inside = jnp.arange(num_particles)[None, :] < size[:, None]
    return Attention(everyone.indices, _softmax(scores, everyone.valid & inside))


def dense_attention(embeddings: Float[Array, "n e"], active: Bool[Array, " n"]) -> Attention:
    """Return the attention over all pairs of active particles; time and memory O(n²), for comparison."""
    num_particles = embeddings.shape[0]
    scores = embeddings.shape[1] ** -0.5 * (embeddings @ embeddings.T)
    itself = jnp.eye(num_particles, dtype=bool)
    allowed = (active[:, None] & active[None, :]) | (itself & ~active[:, None])
    shares = jax.nn.softmax(jnp.where(allowed, scores, -jnp.inf), axis=1)
    indices = jnp.broadcast_to(jnp.arange(num_particles)[None, :], shares.shape)
    return Attention(indices, shares)


def dropped_mass(dense: Attention, sparse: Attention) -> Float[Array, " n"]:
    """Return the mass of each dense row outside the sparse one: δ of Prop. 2 is their maximum."""
    inside = jnp.take_along_axis(dense.shares, sparse.indices, axis=1)
    return jnp.clip(1 - jnp.sum(inside, axis=1, where=sparse.shares > 0), 0.0, 1.0)


def _mix(
    log_weights: Float[Array, " n"], other: Float[Array, " n"], share: float | Scalar
) -> Float[Array, " n"]:
    """Return (1 − share)·w + share·other, in log space, so that tiny weights do not vanish."""
    # The inner `where` keeps the gradient of the logarithm finite at zero.
    some = other > 0
    log_other = jnp.where(some, jnp.log(jnp.where(some, other, 1.0)), -jnp.inf)
    return normalise(jnp.logaddexp(jnp.log1p(-share) + log_weights, jnp.log(share) + log_other))


def smooth(
    log_weights: Float[Array, " n"], attention: Attention, epsilon: float | Scalar
) -> Float[Array, " n"]:
    r"""Return $(1 - \varepsilon) w + \varepsilon A^\top w$, on the simplex (Prop. 1), as log weights."""
    given = jnp.exp(normalise(log_weights))[:, None] * attention.shares
    received = jnp.zeros_like(log_weights).at[attention.indices].add(given)
    return _mix(log_weights, received, epsilon)


def uniform_mixing(log_weights: Float[Array, " n"], rho: float | Scalar) -> Float[Array, " n"]:
    r"""$(1 - \rho) w_i + \rho / n$ over the $n$ active particles: the control for attention."""
    active = log_weights > -jnp.inf
    return _mix(log_weights, active / jnp.maximum(jnp.sum(active), 1), rho)


def attend(
    particles: Float[Array, "n d"],
    log_likelihoods: Float[Array, " n"],
    log_weights: Float[Array, " n"],
    config: AttentionConfig = PAPER_ATTENTION,
    search: NeighbourSearch = exact_neighbours,
    project: Projection = DEFAULT_PROJECTION,
) -> Attention:
    """Return the attention of a population: features, projection, neighbours, softmax.

    `log_likelihoods` are those of the new reading. With `drop_mass`, the search is over all pairs.
    """
    embeddings = project(particle_features(particles, log_likelihoods, log_weights), log_weights)
    active = log_weights > -jnp.inf
    if config.drop_mass is not None:
        return widened_attention(embeddings, active, config.num_neighbours, config.drop_mass)
    return sparse_attention(embeddings, search(embeddings, active, config.num_neighbours))
