r"""Redundancy reading by reading: how many readings of a mission count as one.

As `redundancy` does for a whole survey, but from the one-step-ahead ranks of the readings so far, which the
filter has found already. With the normal scores $s_i$ of the ranks and the j-th nearest reading $n_j(i)$ of
each,

$$\kappa = 1 + \sum_{j \ge 1} \rho_j, \qquad \rho_j = \frac{\sum_i s_i s_{n_j(i)}}{\sum_i s_i^2},$$

added up from the nearest on as long as they are significant, and the larger of two: with neighbours in the
order of the readings, and in space. A belief is widened accordingly (`widening`).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief
from dowsax.inference.fit import CheckedScores, checked_scores
from dowsax.inference.redundancy import MIN_EFFECTIVE_READINGS, MIN_READINGS, SIGNIFICANCE_SIGMAS
from dowsax.types import Scalar
from dowsax.world import Model
from dowsax.world.sensors.redundant import Redundant

_MIN_SIZE = 1e-6


def live_redundancy(model: Model, belief: Belief) -> Scalar:
    """Return how many readings count as one; 1 without kept ranks, or where the model says how many do."""
    if belief.ranks is None or isinstance(model.sensor, Redundant):
        return jnp.ones(())
    scores, size = checked_scores(belief), belief.history.size.astype(jnp.float32)
    number = jnp.sum(scores.counts).astype(jnp.float32)
    squares = jnp.sum((scores.places[:, None, :] - scores.places[None, :, :]) ** 2, axis=-1)
    found = jnp.maximum(_add_correlations(scores, scores.lags), _add_correlations(scores, squares))
    # Where neighbours among those tested err together, so do all readings between them.
    found = jnp.where(found > 1, found * size / jnp.maximum(number, 1.0), 1.0)
    found = jnp.minimum(found, size / MIN_EFFECTIVE_READINGS)
    return jnp.where(number >= MIN_READINGS, jnp.maximum(found, 1.0), 1.0)


def _add_correlations(at: CheckedScores, distances: Float[Array, "m m"]) -> Scalar:
    """Return 1 and the sum of the correlations with the nearest reading, the next, and so on."""
    room = at.counts.shape[0]
    number = jnp.sum(at.counts).astype(jnp.float32)
    is_other = at.counts[:, None] & at.counts[None, :] & ~jnp.eye(room, dtype=bool) & jnp.isfinite(distances)
    order = jnp.argsort(jnp.where(is_other, distances, jnp.inf), axis=1)
    # A score that does not count is zero, and so is the last column: each reading itself.
    neighbours = jnp.where(jnp.take_along_axis(is_other, order, axis=1), at.scores[order], 0.0)
    size = jnp.maximum(jnp.sum(at.scores**2), _MIN_SIZE)
    correlations = jnp.sum(at.scores[:, None] * neighbours, axis=0) / size
    is_significant = correlations > SIGNIFICANCE_SIGMAS / jnp.sqrt(jnp.maximum(number, 1.0))
    return 1.0 + jnp.sum(jnp.where(jnp.cumprod(is_significant) > 0, correlations, 0.0))
