"""Lint: sites that are well formed and may not be meant."""

import pytest
from made_sites import site

from dowsax.site import NEW_SITE, parse_site
from dowsax.site.describe import describe_site, lint_site

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


def test_a_geofence_beyond_the_area_is_asked_about():
    """As one that is not made smaller with its area; unless readings count there."""
    fence = "[[geofence]]\ncorners = [[0, 0], [260, 0], [260, 150], [0, 150]]\n"
    (beyond,) = lint_site(site(fence))
    assert "The geofence reaches beyond the area" in beyond
    assert lint_site(site(fence.replace("260", "202"))) == []


FLUSH = "[[obstacle]]\ncorners = [[120, 0], [130, 0], [130, 150], [120, 150]]\n[start]\nposition = [5, 5]\n"


def test_a_wall_that_ends_on_the_border_cuts_the_area_in_two():
    """As one that is drawn beyond it: of 200 m, 10 m are wall and 70 m lie behind."""
    for text in (FLUSH, FLUSH.replace("150", "151").replace(" 0]", " -1]")):
        cut = site(text, kind="radiation")
        assert cut.allowed_share == pytest.approx(0.95)
        assert cut.reachable_share == pytest.approx(0.6)
        (question,) = lint_site(cut)
        assert "there is no way to 35 % of the area" in question


def test_thin_walls_count_in_what_is_allowed():
    thin = site("[[obstacle]]\ncorners = [[99, 20], [99.5, 20], [99.5, 100], [99, 100]]\n", kind="radiation")
    assert thin.allowed_share == pytest.approx(1 - 40 / 30000)
    assert dict(describe_site(thin))["allowed"] == "about 99.87 % of the area"


@pytest.mark.parametrize(
    ("text", "heights"),
    [
        ("[sensor]\nheight = 1.5\n[flight]\nheight = 12\n", ("1.5 m", "12 m")),
        ("[sensor]\nheight = 1.5\n[flight]\nspeed = 3\n", ("1.5 m", "20 m")),
        ("[sensor]\nheight = 12\n[flight]\nheight = 12.0\n", None),
        ("[sensor]\nheight = 8\n[flight]\nspeed = 3\n", None),
        ("[sensor]\nheight = 1.5\n", None),
        ("[flight]\nheight = 12\n", None),
        ("[sensor]\nheight = 2\n[step]\nheights = [2, 5]\n[flight]\nheight = 12\n", None),
    ],
)
def test_a_drone_that_flies_higher_than_its_readings_are_planned_is_asked_about(text, heights):
    """In one line with both; not where nothing is said of a flight, nor where advice says how high."""
    questions = lint_site(site(text, kind="radiation"))
    assert len(questions) == (heights is not None)
    for words in heights or ():
        assert words in questions[0]
