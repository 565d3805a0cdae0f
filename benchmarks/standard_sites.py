"""The standard sites: what `dowsax site new` writes, with its examples of a fence and a no-go area in use."""

from dowsax.site import new_site

_POLYGONS = """
[[geofence]]
name = "fence"
corners = [[0.0, 0.0], [200.0, 0.0], [200.0, 150.0], [0.0, 150.0]]

[[no_go]]
name = "tank"
corners = [[90.0, 60.0], [110.0, 60.0], [110.0, 80.0], [90.0, 80.0]]
"""


def standard_site(kind: str) -> str:
    """Return the text of the standard site of this kind."""
    return new_site(kind) + _POLYGONS
