"""Lengths and areas on the map by other means than the package's."""

import numpy as np
from made_findings import ORIGIN

CENTIMETRE = 0.01


def metres(lon_lat):
    """East and north of the origin by the ellipsoid's radii of curvature, good to 3 mm within 200 m."""
    major, square = 6378137.0, 6.69437999014e-3
    latitude = np.radians(ORIGIN[0])
    bend = 1 - square * np.sin(latitude) ** 2
    north_radius, east_radius = major * (1 - square) / bend**1.5, major / bend**0.5
    longitude, latitudes = np.asarray(lon_lat, np.float64).T
    middle = np.radians(0.5 * (latitudes + ORIGIN[0]))
    east = np.radians(longitude - ORIGIN[1]) * east_radius * np.cos(middle)
    return np.stack([east, np.radians(latitudes - ORIGIN[0]) * north_radius], axis=1)


def shoelace(points):
    x, y = np.asarray(points).T
    return 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
