"""Searches made by hand, for the views of them."""

import numpy as np

from dowsax.viz.search_snapshots import Snapshot, radius_about

CENTRE = np.array([12.0, 9.0])


def snapshot(number, spread=1.0, reading=1.0, centre=CENTRE, has_particles=True, num_points=200):
    """A Gaussian belief after a reading on a walk to the east."""
    points = centre + spread * np.random.default_rng(number).normal(size=(num_points, 2))
    weights = np.full(num_points, 1 / num_points) if has_particles else np.zeros(num_points)
    mean = points.mean(axis=0) if has_particles else np.zeros(2)
    return Snapshot(
        number,
        position=np.array([0.5 + number % 24, 3.0]),
        reading=reading,
        path_length=float(number - 1),
        mean=mean,
        std=np.full(7, spread),
        spread=spread if has_particles else np.inf,
        mass=min(1.0, 0.2 / max(spread, 0.2)) if has_particles else 0.0,
        radius=radius_about(mean, points, weights),
        ess=100.0,
        points=points,
        weights=weights,
    )


def contracting(num_readings):
    """A search that learns: readings over decades, a belief that contracts from 4 m to 0.2 m."""
    spreads, readings = np.geomspace(4, 0.2, num_readings), np.geomspace(0.001, 10, num_readings)
    return [snapshot(at + 1, float(spreads[at]), float(readings[at])) for at in range(num_readings)]
