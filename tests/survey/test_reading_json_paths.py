"""Live readings along open paths: the keys of their ends, and what is refused."""

import numpy as np
import pytest

from dowsax.geo.local import LocalCoordinates
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.reading_json import from_object

GLOBE = LocalCoordinates((52.1, 5.1))
GIVEN = {
    "numbered": {"x1": 1, "y1": 2, "x2": 30, "y2": 4},
    "plain": {"x": 1, "y": 2, "x2": 30, "y2": 4},
    "units": {"x1_m": 1, "y1_m": 2, "x2_cm": 3000, "y2_cm": 400},
}


@pytest.mark.parametrize("keys", GIVEN.values(), ids=GIVEN)
def test_both_ends_are_understood(keys):
    reading = from_object({**keys, "value": 2.5}, LocalCoordinates())
    assert (reading.position, reading.far_end) == ((1.0, 2.0), (30.0, 4.0))
    assert Reading.from_json(reading.to_json()) == reading


def test_ends_may_be_given_in_degrees():
    (lat1, lon1), (lat2, lon2) = GLOBE.to_degrees([[1.0, 2.0], [30.0, 4.0]]).tolist()
    body = {"lat1": lat1, "lon1": lon1, "lat2": lat2, "lon2": lon2, "value": 2.5}
    reading = from_object(body, GLOBE)
    np.testing.assert_allclose([reading.position, reading.far_end], [[1.0, 2.0], [30.0, 4.0]], atol=1e-6)


@pytest.mark.parametrize("nothing", [None, "", "n/a"])
def test_without_a_far_end_it_is_a_point(nothing):
    reading = from_object({"x": 1, "y": 2, "x2": nothing, "y2": nothing, "value": 2.5}, LocalCoordinates())
    assert reading.far_end is None
    assert "far_end" not in reading.to_json()


def test_a_path_of_no_length_is_a_point():
    assert from_object({"x": 1, "y": 2, "x2": 1, "y2": 2, "value": 2.5}, LocalCoordinates()).far_end is None


REFUSED = {
    "one end": ({"x1": 1, "y1": 2}, "`x1` is of one end of a path, and the other is missing"),
    "half": ({"x": 1, "y": 2, "x2": 3}, "`y2` is missing: give it with `x2`"),
    "twice": ({"x": 1, "y": 2, "x2": 3, "y2": 4, "lat2": 52, "lon2": 5}, "Give either x2 and y2"),
    "a word": ({"x": 1, "y": 2, "x2": "far", "y2": 4}, "`x2` is not a number"),
    "infinite": ({"x": 1, "y": 2, "x2": float("inf"), "y2": 4}, "`x2` is inf"),
    "no degrees": ({"x": 1, "y": 2, "lat2": 95, "lon2": 4}, "a latitude must be between"),
}


@pytest.mark.parametrize(("keys", "reason"), REFUSED.values(), ids=REFUSED)
def test_half_a_path_is_refused(keys, reason):
    with pytest.raises(Refused) as caught:
        from_object({**keys, "value": 2.5}, GLOBE)
    assert reason in str(caught.value)
