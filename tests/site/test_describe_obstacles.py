"""Obstacles in words."""

import pytest
from made_sites import site

from dowsax.site.describe_obstacles import describe_obstacles

HALL = "[[obstacle]]\ncorners = [[30, 10], [50, 10], [50, 35], [30, 35]]\n"
PLACE = "(30, 10), (50, 10), (50, 35), (30, 35) m, 500 m²"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", f"1: {PLACE}, of any height, opaque"),
        ('name = "hall"\nheight = 5\n', f"'hall': {PLACE}, 5 m high, opaque"),
        ("attenuation = 0.2\n", f"1: {PLACE}, of any height, attenuation 0.2 1/m"),
        ("attenuation = [0.1, 0.3]\n", f"1: {PLACE}, of any height, attenuation 0.1 to 0.3 1/m"),
        ('attenuation = "unknown"\n', f"1: {PLACE}, of any height, attenuation unknown"),
        (
            "attenuation = {median = 0.1, factor = 2}\n",
            f"1: {PLACE}, of any height, attenuation 0.1 1/m within a factor of 2",
        ),
    ],
)
def test_each_obstacle_is_described(text, words):
    head, described = describe_obstacles(site(HALL + text, kind="radiation"))
    assert head == ("obstacles", "1, with 4 corners in all; ways go around them")
    assert described == ("", words)


def test_long_lists_are_cut():
    huts = [f"[[obstacle]]\ncorners = [[{x}, 9], [{x + 1}, 9], [{x + 1}, 10]]\n" for x in range(0, 60, 2)]
    words = describe_obstacles(site("".join(huts), kind="radiation"))
    assert len(words) == 1 + 20 + 1
    assert words[-1] == ("", "and 10 more")
