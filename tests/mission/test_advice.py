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
