"""Summaries of a belief: moments, quantiles, entropies and the credible radius of the source.

The location [m] is that of the belief's position columns, two or three. If no particle is left, every weight
is zero.
"""

from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief
from dowsax.inference.grid import BENCHMARK_GRID, Grid, cell_mass
from dowsax.inference.weights import alive, members_at, normalise
from dowsax.types import Position, Scalar, Theta
from dowsax.world import take_position

# By default a GPU rounds the factors of a product to ten bits: centimetres of a mean position.
_MATMUL_PRECISION = jax.lax.Precision.HIGHEST
FAR_M = 1e6
"""[m], the error of an estimate with another number of sources."""
NUM_PROMISING = 16
"""Places that a belief proposes to read at."""


def weighted_mean(particles: Float[Array, "n d"], log_weights: Float[Array, " n"]) -> Theta:
    r"""$\mu = \sum_i w_i \Theta_i$."""
    return jnp.matmul(jnp.exp(normalise(log_weights)), particles, precision=_MATMUL_PRECISION)


def weighted_covariance(
    particles: Float[Array, "n d"], log_weights: Float[Array, " n"]
) -> Float[Array, "d d"]:
    r"""$\Sigma = \sum_i w_i (\Theta_i - \mu)(\Theta_i - \mu)^\top$."""
    centred = particles - weighted_mean(particles, log_weights)[None, :]
    return jnp.matmul(
        (centred * jnp.exp(normalise(log_weights))[:, None]).T, centred, precision=_MATMUL_PRECISION
    )


def weighted_quantile(
    values: Float[Array, " n"], log_weights: Float[Array, " n"], probability: float | Scalar
) -> Scalar:
    r"""The inverse distribution function $\min\{v_i : \sum_{v_j \le v_i} w_j \ge p\}$.

    Always one of the values that has weight, without interpolation: $p = 0$ gives the least of them and
    $p = 1$ the greatest.
    """
    weights = jnp.exp(normalise(log_weights))
    # Values without weight go to the end, where rounding in the running sum cannot reach them.
    order = jnp.argsort(jnp.where(weights > 0, values, jnp.inf))
    running = jnp.cumsum(weights[order])
    first = jnp.sum(running < probability * running[-1])
    greatest = jnp.maximum(jnp.sum(weights > 0) - 1, 0)
    return values[order[jnp.minimum(first, greatest)]]


def likeliest_number(belief: Belief) -> Float[Array, ""]:
    """The most probable number of sources."""
    if belief.number_column is None:
        return jnp.asarray(1.0 + len(belief.other_columns))
    return jnp.argmax(number_probabilities(belief)).astype(jnp.float32)


def number_probabilities(belief: Belief) -> Float[Array, " numbers"]:
    """The probability of each number of sources, from 0 to the largest."""
    most = 1 + len(belief.other_columns)
    if belief.number_column is None:
        return jnp.zeros(most + 1).at[most].set(1.0)
    numbers = belief.particles[:, belief.number_column].astype(jnp.int32)
    return jnp.zeros(most + 1).at[numbers].add(jnp.exp(normalise(belief.log_weights)))


def _settled_weights(belief: Belief) -> Float[Array, " n"]:
    """Log weights given the most probable number of sources; those of the belief where it is known."""
    if belief.number_column is None:
        return belief.log_weights
    is_likeliest = belief.particles[:, belief.number_column] == likeliest_number(belief)
    return normalise(jnp.where(is_likeliest, belief.log_weights, -jnp.inf))


def mean(belief: Belief) -> Theta:
    r"""The posterior mean $\mu_k$, in the units of Θ; given the most probable number of sources."""
    return weighted_mean(belief.particles, _settled_weights(belief))


def covariance(belief: Belief) -> Float[Array, "d d"]:
    r"""The posterior covariance $\Sigma_k$; given the most probable number of sources."""
    return weighted_covariance(belief.particles, _settled_weights(belief))


def std(belief: Belief) -> Theta:
    r"""$\sigma_k = \sqrt{\mathrm{diag}\,\Sigma_k}$, in the units of Θ."""
    centred = belief.particles - mean(belief)[None, :]
    return jnp.sqrt(
        jnp.matmul(jnp.exp(normalise(_settled_weights(belief))), centred**2, precision=_MATMUL_PRECISION)
    )


def mean_position(belief: Belief) -> Position:
    """The posterior mean of the position [m]."""
    return belief.position(mean(belief))


def location_spread(belief: Belief) -> Scalar:
    r"""$\max(\sigma_x, \sigma_y)$ [m], over all axes and sources; infinite if no particle is left."""
    spreads, columns = std(belief), (belief.position_columns, *belief.other_columns)
    of_sources = jnp.max(jnp.stack([take_position(spreads, each) for each in columns]), axis=1)
    largest = jnp.max(jnp.where(jnp.arange(len(columns)) < likeliest_number(belief), of_sources, 0.0))
    return jnp.where(alive(belief.log_weights), largest, jnp.inf)


def quantile(belief: Belief, probability: float | Scalar) -> Theta:
    """The weighted quantile of each column of Θ; see `weighted_quantile`."""
    columns = jax.vmap(weighted_quantile, in_axes=(1, None, None))
    return columns(belief.particles, _settled_weights(belief), probability)


def interval(belief: Belief, probability: float) -> tuple[Theta, Theta]:
    r"""The central interval of each column of Θ: its quantiles at $(1 \mp p) / 2$.

    The values are those of `quantile`, but for two that lie closer than $2^{-30}$ of the range. By halving,
    which is many times faster than sorting on a CPU. Infinite when no particle is left.
    """
    weights = jnp.exp(normalise(_settled_weights(belief)))
    columns, live = belief.particles.T[:, None, :], (weights > 0)[None, None, :]
    shares = jnp.array([(1 - probability) / 2, (1 + probability) / 2])
    wanted = jnp.maximum(shares * jnp.sum(weights), jnp.finfo(weights.dtype).tiny)[None, :]

    def halve(_, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = 0.5 * (low + high)
        below = jnp.where(columns <= middle[:, :, None], weights[None, None, :], 0.0)
        enough = jnp.sum(below, axis=-1) >= wanted
        return jnp.where(enough, low, middle), jnp.where(enough, middle, high)

    least = jnp.min(columns, axis=-1, where=live, initial=jnp.inf)
    greatest = jnp.max(columns, axis=-1, where=live, initial=-jnp.inf)
    ends = jnp.nextafter(least, -jnp.inf), greatest
    low, high = jax.lax.fori_loop(0, 30, halve, tuple(jnp.repeat(end, 2, axis=1) for end in ends))
    between = (columns > low[:, :, None]) & (columns <= high[:, :, None]) & live
    found = jnp.min(jnp.where(between, columns, jnp.inf), axis=-1)
    return found[:, 0], found[:, 1]


def distances_to_mean(belief: Belief) -> Float[Array, " n"]:
    r"""$|(x_i, y_i) - \mu|$ [m] for each particle; of several sources, of the furthest from its mean."""
    if not belief.other_columns:
        return jnp.linalg.norm(belief.positions - mean_position(belief)[None, :], axis=1)
    positions, weights = belief.source_positions, jnp.exp(normalise(_settled_weights(belief)))
    means = jnp.einsum("n,nka->ka", weights, positions, precision=_MATMUL_PRECISION)
    number = likeliest_number(belief)
    distances = jnp.linalg.norm(positions - means[None], axis=2)
    distances = jnp.where(jnp.arange(positions.shape[1])[None, :] < number, distances, 0.0)
    if belief.number_column is None:
        return jnp.max(distances, axis=1)
    # A particle of another number is far from any estimate.
    return jnp.where(belief.particles[:, belief.number_column] == number, jnp.max(distances, axis=1), jnp.inf)


def distance_to_truth(belief: Belief, theta: Theta) -> Scalar:
    """The distance [m] from the mean position to that of a true source.

    Of several sources it is the largest, each with the mean that is its own; `FAR_M` for another number.
    """
    if not belief.other_columns:
        return jnp.linalg.norm(mean_position(belief) - belief.position(theta))
    blocks, number = (belief.position_columns, *belief.other_columns), likeliest_number(belief)
    means, truths = (
        jnp.stack([take_position(each, block) for block in blocks]) for each in (mean(belief), theta)
    )
    distances = jnp.linalg.norm(means[:, None] - truths[None], axis=2)
    ways, is_counted = np.array(list(permutations(range(len(blocks))))), jnp.arange(len(blocks)) < number
    matched = jnp.where(is_counted[None, :], distances[np.arange(len(blocks))[None, :], ways], 0.0)
    # Sources that are there are matched with each other.
    is_right = jnp.all((ways < number) | ~is_counted[None, :], axis=1)
    if belief.number_column is not None:
        is_right = is_right & (theta[belief.number_column] == number)
    return jnp.min(jnp.where(is_right, jnp.max(matched, axis=1), FAR_M))


def mass_within(belief: Belief, radius: float | Scalar) -> Scalar:
    r"""$P(|(x, y) - \mu| \le r)$: that the source, or each source, lies within `radius` [m] of its mean.

    Where their number is unknown, also that it is the most probable one.
    """
    return jnp.sum(jnp.exp(normalise(belief.log_weights)), where=distances_to_mean(belief) <= radius)


def credible_radius(belief: Belief, probability: float | Scalar) -> Scalar:
    r"""The smallest $r$ [m] with $P(|(x, y) - \mu| \le r) \ge$ `probability`, given the likeliest number."""
    distances = distances_to_mean(belief)
    weights = jnp.exp(normalise(_settled_weights(belief)))
    wanted = probability * jnp.sum(weights)

    def halve(_, bounds: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = bounds
        middle = 0.5 * (low + high)
        enough = jnp.sum(weights, where=distances <= middle) >= wanted
        return jnp.where(enough, low, middle), jnp.where(enough, middle, high)

    # Bisection is many times faster than sorting on a CPU; the particles resolve the final bracket.
    furthest = jnp.max(distances, where=weights > 0, initial=0.0)
    low, high = jax.lax.fori_loop(0, 30, halve, (-jnp.ones(()), furthest))
    inside = (distances > low) & (distances <= high) & (weights > 0)
    return jnp.min(distances, where=inside, initial=jnp.inf, keepdims=False)


def _entropy(weights: Float[Array, " m"]) -> Scalar:
    return -jnp.sum(jax.scipy.special.xlogy(weights, weights))


def location_entropy(belief: Belief, grid: Grid = BENCHMARK_GRID) -> Scalar:
    r"""$-\sum_c P_c \log P_c$ [nats] over the cells of the grid; from 0 to the log of their number."""
    return _entropy(cell_mass(grid, belief))


def weight_entropy(belief: Belief) -> Scalar:
    r"""$-\sum_i w_i \log w_i$ [nats], from 0 to $\log n$. It measures degeneracy, not knowledge."""
    return _entropy(jnp.exp(normalise(belief.log_weights)))


def promising_places(belief: Belief, number: int = NUM_PROMISING) -> Float[Array, "places axes"]:
    """Return places where the source may be: the positions of particles at even shares of the weight.

    Of several sources they are those of each in turn.
    """
    members = members_at(belief.log_weights, (jnp.arange(number) + 0.5) / number)
    if not belief.other_columns:
        return belief.position(belief.particles[members])
    numbers = jnp.full(number, 1 + len(belief.other_columns))
    if belief.number_column is not None:
        numbers = belief.particles[members, belief.number_column].astype(jnp.int32)
    return belief.source_positions[members, jnp.arange(number) % numbers]
