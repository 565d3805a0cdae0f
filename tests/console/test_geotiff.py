"""Corners of a GeoTIFF from its tags, against positions that other programs give."""

import numpy as np
import pytest

from dowsax.console.geotiff import corners_of

SCALE, TIE, TRANSFORM, KEYS = 33550, 33922, 34264, 34735


def directory(**keys):
    """The directory of a GeoTIFF with these keys."""
    codes = {"raster": 1025, "geographic": 2048, "projected": 3072}
    entries = [(codes[name], 0, 1, value) for name, value in keys.items()]
    return tuple(np.concatenate([[1, 1, 0, len(entries)], *entries]).tolist())


def test_degrees_are_taken_as_they_are():
    tags = {SCALE: (0.001, 0.002, 0), TIE: (0, 0, 0, 5.0, 52.0, 0), KEYS: directory(geographic=4326)}
    corners = corners_of(tags, 100, 50)
    assert np.allclose(corners, [[52, 5], [52, 5.1], [51.9, 5.1], [51.9, 5]])


def test_a_pixel_may_be_a_point():
    """Then the first place is that of the middle of the first pixel."""
    tags = {SCALE: (1, 1, 0), TIE: (0, 0, 0, 5.0, 52.0, 0), KEYS: directory(raster=2, geographic=4326)}
    assert np.allclose(corners_of(tags, 2, 2)[0], [52.5, 4.5])


@pytest.mark.parametrize(
    ("code", "east", "north", "latitude", "longitude"),
    [
        # The Eiffel Tower and the Sydney Opera House, by PROJ; the equator at 90° E by arithmetic.
        (32631, 448251.8, 5411943.8, 48.85837, 2.294481),
        (32756, 334873.0, 6252266.0, -33.857, 151.215),
        (3857, 10018754.1714, 0.0, 0.0, 90.0),
    ],
)
def test_projections_lead_to_degrees(code, east, north, latitude, longitude):
    tags = {SCALE: (1, 1, 0), TIE: (0, 0, 0, east, north, 0), KEYS: directory(projected=code)}
    assert np.allclose(corners_of(tags, 10, 10)[0], [latitude, longitude], atol=3e-4)


def test_a_matrix_may_turn_the_picture():
    matrix = [0, 0.001, 0, 5, 0.001, 0, 0, 52, 0, 0, 0, 0, 0, 0, 0, 1]
    tags = {TRANSFORM: tuple(matrix), KEYS: directory(geographic=4326)}
    assert np.allclose(corners_of(tags, 10, 20), [[52, 5], [52.01, 5], [52.01, 5.02], [52, 5.02]])


def test_a_picture_without_a_place_has_no_corners():
    assert corners_of({}, 10, 10) is None
    assert corners_of({SCALE: (1.0,), TIE: ()}, 10, 10) is None


@pytest.mark.parametrize(
    ("tags", "words"),
    [
        ({KEYS: directory(projected=28992)}, "EPSG:28992"),
        ({KEYS: directory(geographic=4326), TIE: (0, 0, 0, 500, 52, 0)}, "beyond the Earth"),
        ({KEYS: directory(geographic=4326), TIE: (0, 0, 0, float("nan"), 52, 0)}, "no number"),
        ({KEYS: directory(projected=32631), TIE: (0, 0, 0, 9e9, 9e9, 0)}, "GeoTIFF"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(tags, words):
    with pytest.raises(ValueError, match=words) as refused:
        corners_of({SCALE: (1, 1, 0), TIE: (0, 0, 0, 5.0, 52.0, 0)} | tags, 10, 10)
    assert "give its corners" in str(refused.value)
