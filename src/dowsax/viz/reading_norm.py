"""The colour scale of readings, shared by pictures and the terminal."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.colors import Normalize as Norm
else:
    Norm = Any

_LOGARITHMIC = 30.0
"""Readings whose sizes differ by more than this factor are coloured on a logarithmic scale."""
_DECADES = 3.0
"""How many decades below the largest reading such a scale begins."""


def reading_norm(readings: np.ndarray) -> Norm:
    """A colour scale for the readings: linear, or logarithmic but about zero when sizes differ much."""
    from matplotlib.colors import Normalize, SymLogNorm

    low, high = float(readings.min()), float(readings.max())
    sizes = np.abs(readings[readings != 0])
    if low == high:
        return Normalize(low - 0.5, high + 0.5)
    if sizes.max() / sizes.min() <= _LOGARITHMIC:
        return Normalize(low, high)
    # Where a field is never negative, negative readings tell the size of the noise: linear up to there.
    smallest = max(float(sizes.min()), float(sizes.max()) / 10**_DECADES, -low)
    return SymLogNorm(smallest, linscale=0.4, vmin=low, vmax=high)
