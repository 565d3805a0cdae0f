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
    ("given", "counts"),
    [
        ({"value": 12.4, "unit": "cps", "dwell": 5}, 62),
        ({"value": 12.4, "unit": "counts per second"}, 25),
        ({"value": 90, "unit": "cpm", "dwell": 4}, 6),
        ({"value": 0.31, "unit": "kcps"}, 620),
        ({"value": 31, "unit": "counts", "dwell": 5}, 31),
    ],
)
def test_count_rates_become_counts_by_the_time_counted(given, counts):
    """The reading's own, or the site's 2 s."""
    reading = parse(json.dumps(PLACE | given), Frame(), "counts", 2.0)
    assert reading.value == counts


def test_a_count_rate_without_a_time_is_refused():
    with pytest.raises(Refused, match=r"`unit` is 'cps'.*give `dwell` \[s\]"):
        parse(json.dumps(PLACE | {"unit": "cps"}), Frame(), "counts")


def test_times_in_milliseconds_since_1970():
    """As a program in a browser says them; smaller numbers are seconds."""
    assert parsed(time=1763223438123).time == 1763223438.123
    assert parsed(time="1763223438123").time == 1763223438.123
    assert parsed(time=1763223438).time == 1763223438


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"altitude": -999}, "`altitude`: -999 is what loggers write where they have nothing"),
        ({"altitude": -501}, "between -500 and 20000 m; got -501"),
        ({"altitude": 20001}, "between -500 and 20000 m; got 20001"),
        ({"wind_u": -999, "wind_v": -999}, "`wind`: there is no wind of 1413 m/s"),
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
    with pytest.raises(Refused, match=r"^`value` is -999, what loggers write where they have nothing"):
        Advisor(site, warm_up=False).observe((1.0, 2.0), -999.0)
