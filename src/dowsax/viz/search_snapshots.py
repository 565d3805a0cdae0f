"""Snapshots of a search: what is known after each reading, without the truth."""

from typing import NamedTuple

import numpy as np

MAX_POINTS = 4096
"""More particles are thinned to this many."""
RADIUS_PROBABILITY = 0.95


class Snapshot(NamedTuple):
    """The belief after one reading. It holds nothing about the true source.

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
    def has_particles(self) -> bool:
        return bool(np.isfinite(self.spread))


def normalise_weights(log_weights: np.ndarray) -> np.ndarray:
    """Return weights that sum to one, or all zero where no particle is left."""
    log_weights = np.asarray(log_weights, np.float64)
    highest = log_weights.max()
    if not np.isfinite(highest):
        return np.zeros_like(log_weights)
    weights = np.exp(log_weights - highest)
    return weights / weights.sum()


def thin_points(
    points: np.ndarray, weights: np.ndarray, most: int = MAX_POINTS
) -> tuple[np.ndarray, np.ndarray]:
    """Return all points, or, if more than `most`, equally weighted ones by systematic resampling."""
    if len(points) <= most or not weights.any():
        return points[:most], weights[:most]
    steps = (np.arange(most) + 0.5) / most
    chosen = np.minimum(np.searchsorted(np.cumsum(weights), steps), len(points) - 1)
    return points[chosen], np.full(most, 1 / most)


def radius_about(mean: np.ndarray, points: np.ndarray, weights: np.ndarray) -> float:
    """Return the smallest r [m] with P(|(x, y) − mean| ≤ r) ≥ 0.95; infinite where no particle is left."""
    if not weights.any():
        return np.inf
    distances = np.linalg.norm(points - mean[None, :], axis=1)
    order = np.argsort(distances)
    running = np.cumsum(weights[order])
    return float(distances[order[min(int(np.searchsorted(running, RADIUS_PROBABILITY)), len(order) - 1)]])
