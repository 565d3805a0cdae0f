"""Positions as exports write them: longitude and latitude where the site has them, else x and y."""

import numpy as np

from dowsax.geo.polygons import Polygon
from dowsax.geo.valid_polygons import round_polygons
from dowsax.report.findings import Findings
from dowsax.report.regions import DECIMALS, Region

_DEGREE_DECIMALS = 9
"""A tenth of a millimetre, as `DECIMALS` of metres."""


def places(findings: Findings, positions: np.ndarray) -> np.ndarray:
    """Return longitude and latitude [degrees] of positions (k, 2) [m], or the positions, rounded.

    Longitudes go on beyond 180 where a site lies across that meridian, so that lines and rings stay whole.
    """
    return np.round(_continuous(findings, positions), _decimals(findings))


def region_rings(findings: Findings, region: Region) -> list[list[Polygon]]:
    """Return the polygons of a region, each as its border and its holes, in rounded places.

    Rounded degrees are another lattice than rounded metres, on which they are made valid once more.
    """
    rings = [ring for patch in region.patches for ring in (patch.border, *patch.holes)]
    found = round_polygons([_continuous(findings, ring) for ring in rings], _decimals(findings))
    return [[border, *holes] for border, holes in found]


def _decimals(findings: Findings) -> int:
    return _DEGREE_DECIMALS if findings.coordinates.is_geographic else DECIMALS


def _continuous(findings: Findings, positions: np.ndarray) -> np.ndarray:
    origin = findings.coordinates.origin
    if origin is None or len(positions) == 0:
        return positions
    found = findings.coordinates.to_degrees(positions)[:, ::-1].copy()
    apart = np.abs(found[:, 0] - origin[1]) > 180
    found[apart, 0] += np.copysign(360, origin[1])
    return found
