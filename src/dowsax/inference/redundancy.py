r"""How many readings count as one: an estimate from what the model leaves unexplained.

Where a model is wrong it is wrong for a whole neighbourhood. Readings of one neighbourhood then err together,
and counted one by one they make a belief that is too sharp. How much so shows in the readings themselves, and
the truth is not needed:

- The variance of a sum of errors is $\kappa$ times that of independent ones, with
  $\kappa = 1 + \sum_{j \ge 1} \rho_j$ and $\rho_j$ the correlation of an error with that of its $j$-th
  nearest reading (`correlated`).
- The mean of the belief without a group of readings differs from that with all of them. Over $G$ groups that
  err independently, $\frac{G-1}{G} \sum_g (\mu_{-g} - \bar\mu)(\mu_{-g} - \bar\mu)^\top$ is its true
  covariance, the jackknife. In no direction of the source should it exceed $\kappa$ times the covariance of a
  belief that counts every reading (`jackknifed`).

Either may ask for more than neighbours can have in common. In the wrong wind, or with a second source, the
whole survey errs together, and a belief that made up for it would be next to nothing. So a dozen readings are
left (`most_redundant`): the jackknife has 16 groups at most and knows of none that are larger, and of far
fewer independent readings than the ten or so unknowns of a field no belief is made but the prior's. What is
beyond that is no matter of counting: the model does not fit, and that is said.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.special import ndtri

from dowsax.types import Key, Station
from dowsax.world import Model
from dowsax.world.sensors.redundant import Redundant

NUM_DRAWS = 256
_SIGNIFICANT = 1.645
"""Standard errors above zero at which a correlation counts: one of 20 does so by chance."""
_LOWEST_TERM = -1e6
_LEAST_IN_A_GROUP = 4
_FEWEST_LEVELS, _MOST_LEVELS = 2, 4
"""From 4 to 16 groups: fewer say little of a variance, and neighbours fall into different ones of more."""
_FEWEST = 8
"""Readings below which errors say nothing of each other."""
_LEAST_LEFT = 12
"""Readings that a survey counts as at least, or as many as it has."""


def counted(model: Model, count: float) -> Model:
    """The model in which so many readings count as one."""
    sensor = model.sensor.sensor if isinstance(model.sensor, Redundant) else model.sensor
    return Model(model.prior, model.field, Redundant(sensor, count))


def most_redundant(num_readings: int) -> float:
    """The most readings of so many that may count as one."""
    return max(1.0, num_readings / _LEAST_LEFT)


def redundancy(
    key: Key, model: Model, samples: np.ndarray, weights: np.ndarray, stations: Station, values: np.ndarray
) -> float:
    r"""$\kappa$, at least 1, of readings (k,) under a belief of samples (n, d) and weights (n,).

    One, where the errors of neighbours have nothing in common; else what either estimate asks for.
    """
    if len(values) < _FEWEST:
        return 1.0
    draw_key, score_key = jax.random.split(key)
    chosen = jax.random.choice(draw_key, len(weights), (NUM_DRAWS,), p=jnp.asarray(weights, jnp.float32))
    thetas = jnp.asarray(samples, jnp.float32)
    readings = jnp.asarray(values, jnp.float32)
    scores = _scores(model, score_key, thetas[chosen], stations, readings)
    places = np.asarray(stations.position, np.float64)
    times = None if stations.time is None else np.asarray(stations.time, np.float64)
    count = correlated(np.asarray(scores, np.float64), places, times)
    if count == 1:
        return 1.0
    terms = np.asarray(_terms(model, thetas, stations, readings), np.float64)
    # The belief is that of a count of its own, which the terms have in them.
    own = float(model.sensor.count) if isinstance(model.sensor, Redundant) else 1.0
    found = [own * jackknifed(samples[:, :2], weights, terms, groups) for groups in groupings(places, times)]
    return max([count, *found])


@eqx.filter_jit
def _scores(
    model: Model, key: Key, thetas: Float[Array, "m d"], stations: Station, values: Float[Array, " k"]
) -> Float[Array, " k"]:
    """Where each reading lies among readings that the belief expects there, from 0 to 1; ties by lot."""

    def score(at):
        number, station, value = at
        noise_key, tie_key = jax.random.split(jax.random.fold_in(key, number))
        keys = jax.random.split(noise_key, thetas.shape[0])
        expected = jax.vmap(model.sample_reading, in_axes=(0, 0, None))(keys, thetas, station)
        below, level = jnp.sum(expected < value), jnp.sum(expected == value)
        return (below + jax.random.uniform(tie_key) * (level + 1)) / (thetas.shape[0] + 1)

    return jax.lax.map(score, (jnp.arange(values.shape[0]), stations, values))


@eqx.filter_jit
def _terms(
    model: Model, thetas: Float[Array, "n d"], stations: Station, values: Float[Array, " k"]
) -> Float[Array, "n k"]:
    """The log likelihood of each reading under each sample; none is hopeless."""
    each = jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))
    return jnp.maximum(jax.vmap(each, in_axes=(0, None, None))(thetas, stations, values), _LOWEST_TERM)


def jackknifed(places: np.ndarray, weights: np.ndarray, terms: np.ndarray, groups: np.ndarray) -> float:
    """The largest ratio over all directions of the jackknife's variance of the mean to the belief's own.

    Samples of the place (n, 2) with weights (n,), the log likelihoods (n, k) that the belief is made of, and
    the group (k,) of each reading. A belief without a group is the samples with other weights, none of them
    more than √n times the mean: else a few samples that the group had made unlikely could decide (truncated
    importance sampling, Ionides 2008).
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
        # A belief without width has no direction to compare.
        return 1.0


def groupings(places: np.ndarray, times: np.ndarray | None) -> list[np.ndarray]:
    """Ways to part readings into groups: by place, and by time where there are times."""
    levels = min(_MOST_LEVELS, int(np.log2(len(places) / _LEAST_IN_A_GROUP)))
    if levels < _FEWEST_LEVELS:
        return []
    if times is None:
        return [halved(places, levels)]
    lapse = (times - times.min())[:, None]
    # Small beside any distance: time parts only what is in one place.
    tie = lapse / max(float(lapse.max()), 1e-9) * 1e-6
    return [halved(np.concatenate([places, tie], axis=1), levels), halved(lapse, levels)]


def halved(coordinates: np.ndarray, levels: int) -> np.ndarray:
    """Groups (k,) of about equal size: halves of halves, each time along the longer side."""
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


def correlated(scores: np.ndarray, positions: np.ndarray, times: np.ndarray | None = None) -> float:
    r"""$\kappa$ of scores (k,) in (0, 1): neighbours in place, and in time where the place is the same.

    Correlations are added up from the nearest on, as long as they can be told from nothing.
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
        if correlation <= _SIGNIFICANT / np.sqrt(number):
            break
        total += correlation
    return total


def _neighbours(positions: np.ndarray, times: np.ndarray | None) -> np.ndarray:
    """(k, k − 1): the other readings by distance, those of one place by time."""
    number = len(positions)
    order = np.empty((number, number - 1), np.int32)
    everyone = np.arange(number)
    lapse = everyone if times is None else times
    for at in everyone:
        # Millimetres apart is one place.
        distance = np.round(np.linalg.norm(positions - positions[at], axis=1), 3)
        ranked = np.lexsort((np.abs(lapse - lapse[at]), distance))
        order[at] = ranked[ranked != at]
    return order
