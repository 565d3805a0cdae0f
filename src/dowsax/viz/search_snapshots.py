"""What is known after each reading of a search: all that a view of it may show before its end."""

from typing import NamedTuple

import numpy as np

MAX_POINTS = 4096
"""A larger cloud of particles is thinned to this many."""
RADIUS_LEVEL = 0.95


class Snapshot(NamedTuple):
    """The belief after one reading. Nothing here tells where the source truly is.

    A belief without particles has infinite spread, no mass and weights that are all zero.
    """

    number: int
    """Of the reading, from 1."""
    position: np.ndarray
    """(2,) [m], of the sensor."""
    reading: float
    path_length: float
    """[m], walked so far."""
    mean: np.ndarray
    """(2,) [m], of the source position."""
    std: np.ndarray
    """(d,), of Θ in its units."""
    spread: float
    """[m], max(σx, σy)."""
    mass: float
    """P(source within 1 m of the mean)."""
    radius: float
    """[m], 95 % credible radius about the mean."""
    ess: float
    points: np.ndarray
    """(m, 2) [m], positions of particles, thinned."""
    weights: np.ndarray
    """(m,), their weights: they sum to one, or to zero where no particle is left."""

    @property
    def living(self) -> bool:
        return bool(np.isfinite(self.spread))


def normal_weights(log_weights: np.ndarray) -> np.ndarray:
    """Weights that sum to one, or all zero where no particle is left."""
    log_weights = np.asarray(log_weights, np.float64)
    highest = log_weights.max()
    if not np.isfinite(highest):
        return np.zeros_like(log_weights)
    weights = np.exp(log_weights - highest)
    return weights / weights.sum()


def thin_points(
    points: np.ndarray, weights: np.ndarray, most: int = MAX_POINTS
) -> tuple[np.ndarray, np.ndarray]:
    """At most so many points: all of them, or equally weighted ones in equal steps of the running weight."""
    if len(points) <= most or not weights.any():
        return points[:most], weights[:most]
    steps = (np.arange(most) + 0.5) / most
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), steps), len(points) - 1)
    return points[chosen], np.full(most, 1 / most)


def radius_about(mean: np.ndarray, points: np.ndarray, weights: np.ndarray) -> float:
    """[m], the smallest r with P(|(x, y) − mean| ≤ r) ≥ 0.95; infinite where no particle is left."""
    if not weights.any():
        return np.inf
    distances = np.linalg.norm(points - mean[None, :], axis=1)
    order = np.argsort(distances)
    running = np.cumsum(weights[order])
    return float(distances[order[min(int(np.searchsorted(running, RADIUS_LEVEL)), len(order) - 1)]])
