"""Weighted draws as smooth densities on a grid, and the levels of their highest-density regions."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter, gaussian_filter1d

_NUM_CELLS = 240
_MARGIN_BANDWIDTHS = 4.0
"""Draws within this many bandwidths get a margin of as many on either side."""
_MIN_RELATIVE_BANDWIDTH = 1e-3
"""Bandwidth of draws that are all equal, as a share of their size (or of one)."""


class Density(NamedTuple):
    """Probability per cell, indexed [y, x], on cells of equal size with these centres."""

    x: np.ndarray
    y: np.ndarray
    mass: np.ndarray

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The outer edges: left, right, bottom, top."""
        half_x, half_y = 0.5 * (self.x[1] - self.x[0]), 0.5 * (self.y[1] - self.y[0])
        left, right, bottom, top = (
            self.x[0] - half_x,
            self.x[-1] + half_x,
            self.y[0] - half_y,
            self.y[-1] + half_y,
        )
        return float(left), float(right), float(bottom), float(top)


def bandwidth(values: np.ndarray, weights: np.ndarray, dimensions: int) -> float:
    r"""Silverman's $\sigma\, n^{-1/(d+4)}$ with the effective sample size.

    σ is the smaller of the standard deviation and the interquartile range over 1.349, as a belief often has
    long tails.
    """
    mean = np.sum(weights * values)
    deviation = np.sqrt(np.sum(weights * (values - mean) ** 2))
    order = np.argsort(values)
    quarter, three = values[order][
        np.minimum(np.searchsorted(np.cumsum(weights[order]), (0.25, 0.75)), len(values) - 1)
    ]
    spread = min(deviation, (three - quarter) / 1.349) if three > quarter else deviation
    effective = 1 / np.sum(weights**2)
    narrowest = _MIN_RELATIVE_BANDWIDTH * max(1.0, float(np.abs(mean)))
    return max(float(spread) * effective ** (-1 / (dimensions + 4)), narrowest)


def position_density(positions: np.ndarray, weights: np.ndarray) -> Density:
    """Return the density of positions east and north, on a grid that just holds the draws and a rim of 0."""
    positive = weights > 0
    points, weights = positions[positive], weights[positive]
    widths = [bandwidth(points[:, axis], weights, 2) for axis in (0, 1)]
    edges = [_edges(points[:, axis], width) for axis, width in enumerate(widths)]
    mass, *_ = np.histogram2d(points[:, 0], points[:, 1], bins=edges, weights=weights)
    steps = [edge[1] - edge[0] for edge in edges]
    mass = gaussian_filter(
        mass, [width / step for width, step in zip(widths, steps, strict=True)], mode="reflect"
    )
    # The rim closes the lines of regions that reach the end of the prior.
    x, y = (
        np.concatenate([[edge[0] - step / 2], 0.5 * (edge[1:] + edge[:-1]), [edge[-1] + step / 2]])
        for edge, step in zip(edges, steps, strict=True)
    )
    return Density(x, y, np.pad(mass.T / mass.sum(), 1))


def marginal_density(values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centres and density, with maximum 1, of one column."""
    positive = weights > 0
    values, weights = values[positive], weights[positive]
    width = bandwidth(values, weights, 1)
    edges = _edges(values, width)
    mass, _ = np.histogram(values, bins=edges, weights=weights)
    mass = gaussian_filter1d(mass, width / (edges[1] - edges[0]), mode="reflect")
    return 0.5 * (edges[1:] + edges[:-1]), mass / mass.max()


def highest_density_level(mass: np.ndarray, probability: float) -> float:
    """Return the level above which the cells are the smallest region of this probability."""
    ranked = np.sort(mass, axis=None)[::-1]
    held = np.cumsum(ranked) / ranked.sum()
    return float(ranked[min(int(np.searchsorted(held, probability)), len(ranked) - 1)])


def _edges(values: np.ndarray, width: float) -> np.ndarray:
    """Return edges of cells over the draws; mass is reflected at their ends, as priors end abruptly.

    Draws within a few bandwidths get a margin instead.
    """
    low, high = values.min(), values.max()
    room = 0.0 if high - low > _MARGIN_BANDWIDTHS * width else _MARGIN_BANDWIDTHS * width
    return np.linspace(low - room, high + room, _NUM_CELLS + 1)
