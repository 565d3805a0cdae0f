"""The colour scale of readings, shared by pictures and the terminal."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.colors import Normalize as Norm
else:
    Norm = Any

_MAX_LINEAR_RATIO = 30.0
"""Readings whose sizes differ by a larger factor have a logarithmic colour scale."""
_COLOUR_DECADES = 3.0
"""Number of decades below the largest reading at which such a scale starts."""


def reading_norm(readings: np.ndarray) -> Norm:
    """Return the colour scale of readings: linear, or symmetric-logarithmic where sizes differ much."""
    from matplotlib.colors import Normalize, SymLogNorm

    low, high = float(readings.min()), float(readings.max())
    sizes = np.abs(readings[readings != 0])
    if low == high:
        return Normalize(low - 0.5, high + 0.5)
    if sizes.max() / sizes.min() <= _MAX_LINEAR_RATIO:
        return Normalize(low, high)
    # Negative readings of a field that is never negative show the size of the noise: linear up to it.
    smallest = max(float(sizes.min()), float(sizes.max()) / 10**_COLOUR_DECADES, -low)
    return SymLogNorm(smallest, linscale=0.4, vmin=low, vmax=high)
