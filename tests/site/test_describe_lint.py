"""Lint: sites that are well formed and may not be meant."""

from made_sites import site

from dowsax.site import NEW_SITE, parse_site
from dowsax.site.describe import lint_site

LAT_LON = "area = {south = 52.1, west = 5.1, north = 52.1015, east = 5.103}\nfield = {kind = 'level'}\n"
BOX = [[52.1002, 5.1002], [52.1002, 5.1028], [52.1013, 5.1028], [52.1013, 5.1002]]


def test_what_may_not_be_meant_is_asked():
    """A site of a decimetre, a fence around a tenth of it; the usual site raises no question."""
    assert lint_site(parse_site(NEW_SITE)) == []
    assert lint_site(parse_site(LAT_LON + f"[[geofence]]\ncorners_degrees = {BOX}\n")) == []
    (small,) = lint_site(
        parse_site("area = {low = [52.1, 5.1], high = [52.2, 5.2]}\nfield = {kind = 'level'}\n")
    )
    assert "write south, west, north and east" in small
    (narrow,) = lint_site(site("[[geofence]]\ncorners = [[0, 0], [3, 0], [3, 9], [0, 9]]\n"))
    assert "check the corners of geofence" in narrow
