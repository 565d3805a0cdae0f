r"""Redundancy: how many readings count as one, estimated from the errors of the model.

A wrong model is wrong for a whole neighbourhood. Readings of one neighbourhood then err together, and counted
one by one they make a belief that is too narrow. By how much can be estimated from the readings alone:

- The variance of a sum of errors is $\kappa$ times that of independent ones, with
  $\kappa = 1 + \sum_{j \ge 1} \rho_j$ and $\rho_j$ the correlation of an error with that of its $j$-th
  nearest reading (`correlation_estimate`).
- The mean of the belief without a group of readings differs from that with all of them. Over $G$ groups that
  err independently, $\frac{G-1}{G} \sum_g (\mu_{-g} - \bar\mu)(\mu_{-g} - \bar\mu)^\top$ is its true
  covariance, the jackknife. In no direction of the source should it exceed $\kappa$ times the covariance of a
  belief that counts every reading (`jackknife_estimate`).

Either estimate may exceed what neighbours can have in common. In the wrong wind, or with a second source, the
whole survey errs together, and a belief that allowed for it would hardly differ from the prior. So at least a
dozen effective readings are left (`max_redundancy`): the jackknife has at most 16 groups, and a field has
about ten unknowns. A larger estimate means that the model does not fit, and is reported as such.

Readings of one place share more the sooner they follow each other. Without times nobody knows how soon: they
are taken in the order of the file, and all readings of one place together count as at most four readings
(`min_redundancy`).
"""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.special import ndtri

from dowsax.programs import stored_jit
from dowsax.types import Key, Scalar, Station
from dowsax.world import Model, take_position
from dowsax.world.sensors.redundant import Redundant

NUM_DRAWS = 256
SIGNIFICANCE_SIGMAS = 1.645
"""A correlation counts from this many standard errors on: 1 of 20 does so by chance."""
_MIN_LOG_LIKELIHOOD = -1e6
_MIN_GROUP_SIZE = 4
_MIN_LEVELS, _MAX_LEVELS = 2, 4
"""From 4 to 16 groups: fewer give a poor variance, more would separate neighbours."""
MIN_READINGS = 8
"""With fewer readings the redundancy is not estimated."""
MIN_EFFECTIVE_READINGS = 12
"""Effective readings of a survey at least, or all it has."""
_MAX_EFFECTIVE_AT_PLACE = 4
"""Effective readings at one place at most, where their times are not known."""
DECIMALS_OF_PLACE = 3
"""Within a millimetre is one position."""


def with_redundancy(model: Model, count: float | Scalar) -> Model:
    """Return the model in which `count` readings count as one."""
    sensor = model.sensor.sensor if isinstance(model.sensor, Redundant) else model.sensor
    by_number = tuple(with_redundancy(each, count) for each in model.by_number)
    return Model(model.prior, model.field, Redundant(sensor, count), by_number)


def max_redundancy(num_readings: int) -> float:
    """Return the largest redundancy of a survey with this many readings."""
    return max(1.0, num_readings / MIN_EFFECTIVE_READINGS)


def min_redundancy(places: np.ndarray, times: np.ndarray | None) -> float:
    """Return the least redundancy of readings at places (k, 2) [m], at most the largest.

    Above 1 where readings were taken at one place again and again, and no times tell how soon.
    """
    if times is not None:
        return 1.0
    _, repeats = np.unique(np.round(places, DECIMALS_OF_PLACE), axis=0, return_counts=True)
    least = len(places) / np.minimum(repeats, _MAX_EFFECTIVE_AT_PLACE).sum()
    return min(float(least), max_redundancy(len(places)))


def estimate_redundancy(
    key: Key, model: Model, samples: np.ndarray, weights: np.ndarray, stations: Station, values: np.ndarray
) -> float:
    r"""Return $\kappa \ge 1$ of readings (k,) under a belief of samples (n, d) and weights (n,).

    The larger of the two estimates. Where the errors of neighbours are uncorrelated, that of the jackknife
    counts only if it is larger than 1 of 20 are by chance.
    """
    if len(values) < MIN_READINGS:
        return 1.0
    # By numpy, as each operation on its own is a program to compile.
    thetas, readings = np.asarray(samples, np.float32), np.asarray(values, np.float32)
    scores = _scores(model, key, thetas, np.asarray(weights, np.float32), stations, readings)
    places = np.asarray(stations.place, np.float64)
    times = None if stations.time is None else np.asarray(stations.time, np.float64)
    count = correlation_estimate(np.asarray(scores, np.float64), places, times)
    terms = np.asarray(_terms(model, thetas, stations, readings), np.float64)
    # The terms include the redundancy of the model itself.
    own = float(model.sensor.count) if isinstance(model.sensor, Redundant) else 1.0
    places_of_source = take_position(samples, model.position_columns)
    found = [
        own * estimate
        for groups in groupings(places, times)
        if (estimate := jackknife_estimate(places_of_source, weights, terms, groups))
        > (1.0 if count > 1 else _chance_estimate(int(groups.max()) + 1, places_of_source.shape[1]))
    ]
    return max([count, min_redundancy(places, times), *found])


@stored_jit
def _scores(
    model: Model,
    key: Key,
    thetas: Float[Array, "n d"],
    weights: Float[Array, " n"],
    stations: Station,
    values: Float[Array, " k"],
) -> Float[Array, " k"]:
    """Return the rank in (0, 1) of each reading among predictive ones at its station; ties are random."""
    draw_key, score_key = jax.random.split(key)
    thetas = thetas[jax.random.choice(draw_key, weights.shape[0], (NUM_DRAWS,), p=weights)]

    def score(at):
        number, station, value = at
        noise_key, tie_key = jax.random.split(jax.random.fold_in(score_key, number))
        keys = jax.random.split(noise_key, thetas.shape[0])
        expected = jax.vmap(model.sample_reading, in_axes=(0, 0, None))(keys, thetas, station)
        expected = jax.vmap(model.comparable, in_axes=(0, None))(expected, station)
        value = model.comparable(value, station)
        below, level = jnp.sum(expected < value), jnp.sum(expected == value)
        return (below + jax.random.uniform(tie_key) * (level + 1)) / (thetas.shape[0] + 1)

    return jax.lax.map(score, (jnp.arange(values.shape[0]), stations, values))


@stored_jit
def _terms(
    model: Model, thetas: Float[Array, "n d"], stations: Station, values: Float[Array, " k"]
) -> Float[Array, "n k"]:
    """Return the log likelihood of each reading under each sample, with a floor."""
    each = jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))
    return jnp.maximum(jax.vmap(each, in_axes=(0, None, None))(thetas, stations, values), _MIN_LOG_LIKELIHOOD)


def jackknife_estimate(
    places: np.ndarray, weights: np.ndarray, terms: np.ndarray, groups: np.ndarray
) -> float:
    """Return the largest ratio, over all directions, of the jackknife variance of the mean to the belief's.

    Samples of the place (n, 2) with weights (n,), the log likelihoods (n, k) of all readings, and
    the group (k,) of each reading. A belief without a group is the samples reweighted, with ratios of at most
    √n times their mean, so that a few samples cannot dominate (truncated importance sampling, Ionides 2008).
    """
    weights = weights / weights.sum()
    mean = weights @ places
    offsets = places - mean
    number = int(groups.max()) + 1
    without = []
    for group in range(number):
        left_out = -terms[:, groups == group].sum(axis=1)
        ratios = np.exp(left_out - left_out.max())
        others = weights * np.minimum(ratios, weights @ ratios * np.sqrt(len(ratios)))
        without.append(others @ offsets / others.sum())
    moved = np.array(without) - np.mean(without, axis=0)
    jackknife = moved.T @ moved * (number - 1) / number
    covariance = (offsets * weights[:, None]).T @ offsets
    try:
        return float(eigh(jackknife, covariance, eigvals_only=True)[-1])
    except np.linalg.LinAlgError:
        # The covariance of the belief is singular.
        return 1.0


@cache
def _chance_estimate(num_groups: int, num_axes: int) -> float:
    """Return what 1 of 20 estimates of the jackknife exceed where all readings err independently.

    The means without each group are then normal, and their covariance is Wishart's.
    """
    draws = np.random.default_rng(0).standard_normal((20_000, num_groups, num_axes))
    draws -= draws.mean(axis=1, keepdims=True)
    largest = np.linalg.eigvalsh(np.swapaxes(draws, 1, 2) @ draws / (num_groups - 1))[:, -1]
    return float(np.quantile(largest, 0.95))


def groupings(places: np.ndarray, times: np.ndarray | None) -> list[np.ndarray]:
    """Return partitions of the readings into groups: by position, and by time or else by their order.

    Without times the order matters only where places repeat.
    """
    levels = min(_MAX_LEVELS, int(np.log2(len(places) / _MIN_GROUP_SIZE)))
    if levels < _MIN_LEVELS:
        return []
    if times is None:
        if len(np.unique(np.round(places, DECIMALS_OF_PLACE), axis=0)) == len(places):
            return [bisect_readings(places, levels)]
        times = np.arange(len(places), dtype=np.float64)
    lapse = (times - times.min())[:, None]
    # Small compared with any distance: time separates only readings of one position.
    tie = lapse / max(float(lapse.max()), 1e-9) * 1e-6
    return [bisect_readings(np.concatenate([places, tie], axis=1), levels), bisect_readings(lapse, levels)]


def bisect_readings(coordinates: np.ndarray, levels: int) -> np.ndarray:
    """Return groups (k,) of about equal size: halves of halves, each along its longer side."""
    groups = np.zeros(len(coordinates), np.int64)
    for _ in range(levels):
        halves = np.empty_like(groups)
        for group in range(int(groups.max()) + 1):
            at = np.flatnonzero(groups == group)
            longer = np.ptp(coordinates[at], axis=0).argmax()
            order = at[np.argsort(coordinates[at, longer], kind="stable")]
            middle = len(order) // 2
            halves[order[:middle]], halves[order[middle:]] = 2 * group, 2 * group + 1
        groups = halves
    return groups


def correlation_estimate(scores: np.ndarray, positions: np.ndarray, times: np.ndarray | None = None) -> float:
    r"""Return $\kappa$ of scores (k,) in (0, 1), with neighbours by position, and by time at one position.

    Correlations are added up from the nearest neighbour on, as long as they are significant.
    """
    number = len(scores)
    errors = ndtri(np.clip(scores, 1e-6, 1 - 1e-6))
    errors = errors - errors.mean()
    scale = errors.std()
    if scale == 0:
        return 1.0
    errors = errors / scale
    order = _neighbours(positions, times)
    total = 1.0
    for rank in range(number - 1):
        correlation = float(np.mean(errors * errors[order[:, rank]]))
        if correlation <= SIGNIFICANCE_SIGMAS / np.sqrt(number):
            break
        total += correlation
    return total


def _neighbours(positions: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """Return the other readings (k, k − 1) by distance, those at one position by time."""
    number = len(positions)
    order = np.empty((number, number - 1), np.int32)
    everyone = np.arange(number)
    lapse = everyone if times is None else times
    for at in everyone:
        distance = np.round(np.linalg.norm(positions - positions[at], axis=1), DECIMALS_OF_PLACE)
        ranked = np.lexsort((np.abs(lapse - lapse[at]), distance))
        order[at] = ranked[ranked != at]
    return order
