"""Degrees and metres: there and back to less than a centimetre, against formulas of the test's own."""

import numpy as np
import pymap3d
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.geo.local import LocalCoordinates

# WGS84: the equatorial radius [m] and the squared eccentricity.
RADIUS, SQUARED = 6378137.0, 0.00669437999014
places = st.tuples(st.floats(-80, 80), st.floats(-180, 180))


def cartesian(latitude, longitude):
    """Earth-centred coordinates [m] of places on the ellipsoid, by the textbook."""
    latitude, longitude = np.radians(latitude), np.radians(longitude)
    normal = RADIUS / np.sqrt(1 - SQUARED * np.sin(latitude) ** 2)
    flat = normal * np.cos(latitude)
    return np.stack(
        [flat * np.cos(longitude), flat * np.sin(longitude), (1 - SQUARED) * normal * np.sin(latitude)]
    )


def east_and_north(place, origin):
    """Unit vectors to the east and the north at the origin, times the chord to the place."""
    latitude, longitude = np.radians(origin)
    east = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    north = np.array(
        [
            -np.sin(latitude) * np.cos(longitude),
            -np.sin(latitude) * np.sin(longitude),
            np.cos(latitude),
        ]
    )
    chord = cartesian(*place) - cartesian(*origin)
    return np.array([east @ chord, north @ chord])


@settings(max_examples=50, deadline=None, derandomize=True)
@given(origin=places, offset=st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)))
def test_there_and_back_over_ten_kilometres(origin, offset):
    """Below a millimetre, and the degrees are those of pymap3d but for the height it forgets."""
    frame = LocalCoordinates(origin)
    ((latitude, longitude),) = frame.to_degrees(np.array([offset]))
    np.testing.assert_allclose(frame.to_metres(latitude, longitude), [offset], atol=1e-3)
    np.testing.assert_allclose(east_and_north((latitude, longitude), origin), offset, atol=1e-3)
    flat_latitude, flat_longitude, _ = pymap3d.enu2geodetic(*offset, 0.0, *origin, 0.0)
    height = (offset[0] ** 2 + offset[1] ** 2) / (2 * 6.33e6)
    tilt = np.hypot(*offset) / 6.33e6
    gap = np.degrees(1.1 * height * tilt / 6.33e6) + 1e-9
    assert abs(latitude - flat_latitude) < gap
    apart = (longitude - flat_longitude + 180) % 360 - 180
    assert abs(apart) * np.cos(np.radians(latitude)) < gap


@pytest.mark.parametrize("origin", [(52.1, 5.2), (-35.2, 149.1), (0.0, 0.0), (64.0, -179.99)])
def test_small_offsets_follow_the_radii_of_curvature(origin):
    """One ten-thousandth of a degree is N cos φ Δλ to the east and M Δφ to the north, to a millimetre."""
    step = 1e-4
    sine = np.sin(np.radians(origin[0]))
    normal = RADIUS / np.sqrt(1 - SQUARED * sine**2)
    meridian = RADIUS * (1 - SQUARED) / (1 - SQUARED * sine**2) ** 1.5
    found = LocalCoordinates(origin).to_metres([origin[0], origin[0] + step], [origin[1] + step, origin[1]])
    expected = np.radians(step) * np.diag([normal * np.sqrt(1 - sine**2), meridian])
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_a_hundred_kilometres_come_back():
    """A regional survey: the climb back to the ellipsoid converges."""
    offsets = np.array([[1e5, 0.0], [-9e4, 8e4], [0.0, -1.2e5]])
    frame = LocalCoordinates((38.2, -122.3))
    np.testing.assert_allclose(frame.to_metres(*frame.to_degrees(offsets).T), offsets, atol=1e-3)


def test_metres_alone():
    assert not LocalCoordinates().is_geographic
    with pytest.raises(ValueError, match="origin"):
        LocalCoordinates().to_metres(1.0, 2.0)
    with pytest.raises(ValueError, match="origin"):
        LocalCoordinates().to_degrees(np.zeros((1, 2)))


def test_a_place_that_is_not_on_the_earth_is_said_in_metres():
    """Where a number is absurd there are no degrees of it."""
    frame = LocalCoordinates((52.1, 5.1))
    assert frame.format_position((6e6, 0.0)).endswith("° E")
    assert frame.format_position((1e29, 3.0)) == "(1e+29, 3) m"
    assert frame.format_position((0.0, -1e300)) == "(0, -1e+300) m"
    assert frame.format_both((0.0, -1e300)) == "(0, -1e+300) m"


def test_a_place_is_said_in_both_where_both_are_known():
    assert LocalCoordinates((52.1, 5.1)).format_both((0.0, 100.0)) == "(0, 100) m, 52.100899° N, 5.100000° E"
    assert LocalCoordinates().format_both((0.0, 100.0)) == "(0, 100) m"


def test_origins_off_the_globe():
    with pytest.raises(ValueError, match=r"latitude .* swapped"):
        LocalCoordinates((149.1, -35.2))
    with pytest.raises(ValueError, match="longitude"):
        LocalCoordinates((35.2, 190.0))
