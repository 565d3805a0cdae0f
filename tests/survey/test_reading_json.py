"""Readings as JSON objects: what is understood, and what is refused in words that say what to do."""

import json
from dataclasses import replace

import pytest

from dowsax.geo import LocalCoordinates
from dowsax.mission.advisor import Advisor
from dowsax.mission.stations import Stations
from dowsax.site import parse_site
from dowsax.survey.columns import NAMES
from dowsax.survey.reading import Reading, Refused, build
from dowsax.survey.reading_json import from_object, parse_object

PLACE = {"x": 1.0, "y": 2.0, "value": 3.0}


def parsed(**given):
    return from_object(parse_object(json.dumps(PLACE | given)), LocalCoordinates(), "ppm")


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
    reading = from_object(parse_object(json.dumps(PLACE | given)), LocalCoordinates(), "counts", 2.0)
    assert reading.value == counts


def test_a_count_rate_without_a_time_is_refused():
    with pytest.raises(Refused, match=r"`unit` is 'cps'.*give `dwell` \[s\]"):
        from_object(parse_object(json.dumps(PLACE | {"unit": "cps"})), LocalCoordinates(), "counts")


def test_times_in_milliseconds_since_1970():
    """As a program in a browser says them; smaller numbers are seconds."""
    assert parsed(time=1763223438123).time == 1763223438.123
    assert parsed(time="1763223438123").time == 1763223438.123
    assert parsed(time=1763223438).time == 1763223438


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"altitude": -501}, "^`altitude` must be from -500 to 20000 m; got -501.$"),
        ({"altitude": 20001}, "from -500 to 20000 m; got 20001"),
        ({"wind_u": -998, "wind_v": -999.5}, "^`wind` must be <= 150 m/s; got 1412: check its unit.$"),
        (
            {"wind_speed": 400, "wind_from": 90},
            "^`wind_speed` must be <= 150 m/s; got 400: check its unit.$",
        ),
        ({"wind_speed": 3, "wind_from": 400}, "^`wind_from` must be from -360 to 360 degrees; got 400.$"),
        ({"wind_speed": -3, "wind_from": 40}, "^`wind_speed` must be >= 0 m/s; got -3.$"),
        ({"wind_speed": 3}, "^`wind_from` is missing: give it with `wind_speed`.$"),
        ({"unit": "counts"}, "no multiple of the site's 'ppm'"),
        ({"latitude": 1, "longitude": 2}, "not both"),
    ],
)
def test_refused(given, reason):
    with pytest.raises(Refused, match=reason):
        parsed(**given)


NOTHING = [-999, -9999.0, "-999", "", " ", None, float("nan"), "NaN", "n/a", "--"]


@pytest.mark.parametrize("mark", NOTHING)
def test_what_loggers_write_where_they_have_nothing_is_not_measured(mark):
    """In heights, winds, times and dwells, as in a survey; half a wind is none, and the rest is as it was."""
    plain, wind = parsed(), {"wind_speed": 3, "wind_from": 270}
    assert parsed(altitude=mark) == plain
    assert parsed(wind_u=mark, wind_v=1.0) == plain
    assert parsed(**wind | {"wind_from": mark}) == plain
    assert parsed(wind_u=mark, wind_v=mark, **wind).wind == pytest.approx((3, 0))
    assert build((1.0, 2.0), 3.0, altitude=mark, wind=(mark, mark)) == plain


@pytest.mark.parametrize("mark", ["", None, float("nan"), "n/a"])
def test_times_dwells_and_names_may_say_nothing(mark):
    """A time of -999 may be one."""
    assert parsed(time=mark, dwell=mark, sensor=mark, id=mark) == parsed()
    assert parsed(time=-999).time == -999


def test_a_reading_without_wind_is_as_one_whose_wind_says_nothing():
    """Refused where it matters, in words that say how to go on without."""
    stations = Stations(("wind",))
    for given in ({}, {"wind_u": -999, "wind_v": -999}):
        with pytest.raises(Refused, match=r'The wind is missing.*set missing = "interpolate"'):
            stations.complete(parsed(**given), [])
    held = replace(stations, hold_wind=True)
    before = held.complete(parsed(wind_u=1, wind_v=2), [])
    assert held.complete(parsed(wind_u=-999, wind_v=-999), [before]).wind == (1.0, 2.0)


def test_keys_go_by_every_name_that_a_column_of_a_survey_has():
    """Each name alone, in any case, is understood as the role that it has in a survey."""
    others = {"wind_u": "wind_v", "wind_v": "wind_u", "wind_speed": "wind_from", "wind_from": "wind_speed"}
    for role, names in NAMES.items():
        for name in names if role in ("value", "altitude", "time", "dwell", "sensor", *others) else ():
            place = {"x": 1.0, "y": 2.0, others.get(role, "note"): 4.0}
            place |= {} if role == "value" else {"value": 3.0}
            plain = from_object(parse_object(json.dumps(place | {role: 5.0})), LocalCoordinates())
            assert (
                from_object(parse_object(json.dumps(place | {name.upper(): 5.0})), LocalCoordinates())
                == plain
            )
    lat_lon = {"GPS_Lat": 52.1, "lng": 5.1, "CH4 (ppb)": 2000, "alt_ft": 10}
    reading = from_object(parse_object(json.dumps(lat_lon)), LocalCoordinates((52.1, 5.1)), "ppm")
    assert reading.position == pytest.approx((0, 0))
    assert (reading.value, reading.altitude) == pytest.approx((2.0, 3.048))


def test_two_keys_that_may_be_the_value():
    """One is chosen as in a survey; the key's own name goes before, and what is null is nothing."""
    given = {"x": 1, "y": 2, "ch4": 3, "co2": 400}
    with pytest.raises(Refused, match=r"'ch4', 'co2' may each be the value; choose one.*\[columns\]"):
        from_object(parse_object(json.dumps(given)), LocalCoordinates())
    assert (
        from_object(parse_object(json.dumps(given)), LocalCoordinates(), columns={"value": "ch4"}).value == 3
    )
    assert from_object(parse_object(json.dumps(given | {"co2": None})), LocalCoordinates()).value == 3
    assert (
        from_object(
            parse_object(json.dumps(given | {"value": 7})), LocalCoordinates(), columns={"value": "sniff"}
        ).value
        == 7
    )


def test_a_date_and_a_time_of_day_make_a_time():
    """A time of day alone is seconds since midnight, as in a survey."""
    assert parsed(date="2026-05-04", time="12:30:00").time == parsed(time="2026-05-04T12:30:00Z").time
    assert parsed(time="12:30:05.5").time == 45005.5
    with pytest.raises(Refused, match="`time` is neither seconds nor a date"):
        parsed(time="25:99")


def test_latitude_and_longitude_that_are_exchanged():
    """They say so; but not at a site where both are the same, nor for a place outside either way."""
    frame, area = LocalCoordinates((52.1, 5.1)), ((-100.0, -100.0), (100.0, 100.0))
    with pytest.raises(Refused, match=r"`latitude` 5\.1 and `longitude` 52\.1 look swapped.*exchange"):
        from_object(parse_object('{"lat": 5.1, "lon": 52.1, "value": 1}'), frame, area=area)
    with pytest.raises(Refused, match="are latitude and longitude swapped"):
        from_object(parse_object('{"lat": -105.1, "lon": 40.1, "value": 1}'), frame, area=area)
    from_object(parse_object('{"lat": 51.1, "lon": 52.1, "value": 1}'), frame, area=area)
    even = from_object(
        parse_object('{"lat": 10.0001, "lon": 10.0002, "value": 1}'),
        LocalCoordinates((10.0, 10.0)),
        area=area,
    )
    assert even.position == pytest.approx((21.9, 11.1), abs=0.1)


def test_what_the_sensor_cannot_say_is_named_as_the_key_it_came_in():
    site = parse_site('area = {low = [0, 0], high = [9, 9]}\nfield = {kind = "radiation"}\n')
    with pytest.raises(Refused, match=r"^`value` is -4: a count is a whole number"):
        Advisor(site, warm_up=False).observe((1.0, 2.0), -4.0)
    with pytest.raises(Refused, match=r"^`value` is -999, what loggers write where they have nothing"):
        Advisor(site, warm_up=False).observe((1.0, 2.0), -999.0)


def test_a_reading_on_the_way_says_so():
    """It is written and read back as such; others are written as they always were."""
    moving, still = parsed(x=1, y=2, value=3, moving=True), parsed(x=1, y=2, value=3)
    assert moving.moving
    assert not still.moving
    assert "moving" not in still.to_json()
    assert all(Reading.from_json(json.loads(json.dumps(one.to_json()))) == one for one in (moving, still))
    with pytest.raises(Refused, match="`moving` must be true or false"):
        parsed(x=1, y=2, value=3, moving="yes")
