"""Wind FROM a direction and wind that goes: the compass, and there and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.geo.wind import interpolate_wind, speed_and_direction, wind_from


@pytest.mark.parametrize(
    ("direction", "goes"),
    [(270.0, (3, 0)), (90.0, (-3, 0)), (0.0, (0, -3)), (360.0, (0, -3)), (180.0, (0, 3))],
)
def test_the_compass(direction, goes):
    """A west wind, from 270°, goes east."""
    np.testing.assert_allclose(wind_from(3.0, direction), goes, atol=1e-12)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(speed=st.floats(0.01, 50), direction=st.floats(0, 359.99))
def test_there_and_back(speed, direction):
    found_speed, found_direction = speed_and_direction(wind_from(speed, direction))
    assert found_speed == pytest.approx(speed)
    assert (found_direction - direction + 180) % 360 == pytest.approx(180, abs=1e-6)
    assert 0 <= found_direction < 360


def test_calm_air_comes_from_nowhere():
    assert speed_and_direction(np.zeros(2)) == (0.0, 0.0)


def test_many_at_once():
    winds = wind_from(np.array([1.0, 2.0]), np.array([270.0, 180.0]))
    np.testing.assert_allclose(winds, [[1, 0], [0, 2]], atol=1e-12)


def test_interpolated_in_time_and_held_at_the_ends():
    wind = np.array([[0.0, 0.0], [1.0, 2.0], [9.0, 9.0], [3.0, 0.0], [7.0, 7.0]])
    known = np.array([False, True, False, True, False])
    found = interpolate_wind(wind, known, np.array([0.0, 10.0, 15.0, 20.0, 30.0]))
    np.testing.assert_allclose(found, [[1, 2], [1, 2], [2, 1], [3, 0], [3, 0]])
