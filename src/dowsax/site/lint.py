"""Lint of a site: what is well formed and may still not be meant.

Nothing is refused for it: each question is shown with what was understood.
"""

import numpy as np

from dowsax.geo.polygons import Bounds
from dowsax.site.site import Site

_MIN_DIAGONAL_M = 1.0
"""[m], across."""


def lint_site(site: Site) -> list[str]:
    """Return questions about the places of a site."""
    questions = []
    low, high = np.array(site.low), np.array(site.high)
    if site.diagonal < _MIN_DIAGONAL_M:
        questions.append(
            f"The area is {site.diagonal:.2g} m across: if low and high are degrees, write south, west, "
            "north and east instead."
        )
    share = reachable(site)
    if share < 0.5:
        questions.append(
            f"The sensor may be in {100 * share:.2g} % of the area only: check the corners of "
            "geofence and no-go areas against [area]."
        )
    for number, corners in enumerate(site.geofence, 1):
        if (corners.max(axis=0) < low).any() or (corners.min(axis=0) > high).any():
            questions.append(
                f"The geofence {number} lies outside the area: check its corners, latitude first."
            )
    return questions


def reachable(site: Site) -> float:
    """Return the share of the area in which the sensor may be, from a grid of 2,500 places."""
    axes = [np.linspace(site.low[axis], site.high[axis], 101)[1::2] for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    return float(Bounds(site.geofence, site.no_go).allow(grid).mean())
