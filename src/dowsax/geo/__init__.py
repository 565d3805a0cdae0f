"""Geometry of a site: local coordinates, polygons, winds, and their formatting for people."""

from dowsax.geo.local import LocalCoordinates

__all__ = ["LocalCoordinates"]
