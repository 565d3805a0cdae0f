"""Readings as JSON objects: what is understood, and what is refused in words that say what to do."""

import json

import pytest

from dowsax.mission import Frame, parse_site
from dowsax.mission.advisor import Advisor
from dowsax.mission.reading import Refused, parse

PLACE = {"x": 1.0, "y": 2.0, "value": 3.0}


def parsed(**given):
    return parse(json.dumps(PLACE | given), Frame(), "ppm")


def test_wind_by_the_direction_it_comes_from():
    """A west wind goes east, whether its direction is written as 270 or as -90 degrees."""
    assert parsed(wind_speed=3, wind_from=270).wind == pytest.approx((3, 0))
    assert parsed(windspeed=3, winddir=-90).wind == pytest.approx((3, 0))


def test_units_are_converted():
    assert parsed(unit="ppb").value == pytest.approx(0.003)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"wind_speed": 3, "wind_from": 400}, "`wind_from` is between 0 and 360 degrees; got 400"),
        ({"wind_speed": -3, "wind_from": 40}, "`wind_speed` is not below 0"),
        ({"wind_speed": 3}, "`wind_from` is missing"),
        ({"unit": "counts"}, "no multiple of the site's 'ppm'"),
        ({"latitude": 1, "longitude": 2}, "not both"),
    ],
)
def test_refused(given, reason):
    with pytest.raises(Refused, match=reason):
        parsed(**given)


def test_what_the_sensor_cannot_say_is_named_as_the_key_it_came_in():
    site = parse_site('area = {low = [0, 0], high = [9, 9]}\nfield = {kind = "radiation"}\n')
    with pytest.raises(Refused, match=r"^`value` is -4: a count is a whole number"):
        Advisor(site, warm_up=False).observe((1.0, 2.0), -4.0)
