"""Advice: bearings and distances."""

import pytest

from dowsax.mission.advice import (
    bearing_and_distance,
    compass_direction,
)


def test_bearings_are_those_of_a_compass():
    assert bearing_and_distance((0.0, 0.0), (0.0, 2.0)) == (0.0, 2.0)
    assert bearing_and_distance((1.0, 1.0), (4.0, 1.0)) == (90.0, 3.0)
    assert bearing_and_distance((0.0, 0.0), (-1.0, -1.0))[0] == pytest.approx(225.0)
    assert compass_direction(350.0) == "north"
    assert compass_direction(230.0) == "southwest"
    found = [compass_direction(bearing) for bearing in (22.0, 60.0, 112.5, 202.5, 300.0, 340.0)]
    sides = ("north-north", "east-north", "east-south", "south-south", "west-north", "north-north")
    assert found == [side + end for side, end in zip(sides, ("east",) * 3 + ("west",) * 3, strict=True)]
