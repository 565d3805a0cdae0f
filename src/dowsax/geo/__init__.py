"""Places on the Earth: local coordinates, polygons, winds, and how they are said."""

from dowsax.geo.local import Frame

__all__ = ["Frame"]
