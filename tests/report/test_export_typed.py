"""The readings of a log as CSV: in the form in which they were typed, and read back to the last bit."""

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dowsax.console.surveys import read_upload
from dowsax.mission.log import Step
from dowsax.mission.plan import Plan
from dowsax.report.export import log_table
from dowsax.site import parse_site
from dowsax.survey import read_survey
from dowsax.survey.reading import Reading

SITE = """
area = {low = [0, 0], high = [160, 100], origin = [51.2, -1.75]}
field = {kind = "gas-plume", unit = "ppm", gas = "methane"}
wind = {missing = "interpolate"}
sensor = {ground = 31.7}
search = {particles = 64}
"""
SOUTHERLY = {"wind_u": 0.1, "wind_v": 2.7}
DATES = ("2026-05-04T12:30:00Z", "2026-05-04T14:30:01.5+02:00", "2026-05-04 12:30:02.123456")


def typed(*said, **everywhere):
    """Readings at places of their own, with what is said of each and of all."""
    places = [{"x": 3.1 + number, "y": 4.7, "value": 2.3} for number in range(len(said))]
    return [place | everywhere | own for place, own in zip(places, said, strict=True)]


def logged(given, site):
    """The steps that a log has of these readings; of one that is long, the beginning."""
    plan, taken = Plan.of(site), []
    for number, body in enumerate(given, 1):
        text = json.dumps(body)
        taken.append(plan.stations.complete(plan.parse_reading(json.loads(text)), taken))
        yield Step(number, "", text[:10_000], taken[-1].to_json(), {})


def exported(given, text=SITE):
    """The rows of the table, once it is seen that both ways to read it give the very same readings."""
    site = parse_site(text)
    log = list(logged(given, site))
    table = log_table(log, site)
    expected = [replace(Reading.from_json(entry.reading), id=None) for entry in log]
    stations, uploaded = Plan.of(site).stations, []
    for row in read_upload(table.encode(), "mission.csv", text).rows:
        uploaded.append(stations.complete(replace(row.reading, id=None), uploaded))
    assert uploaded == expected
    return list(csv.DictReader(io.StringIO(table))), table


def column(rows, name):
    return [row[name] for row in rows]


def test_a_date_is_written_in_utc():
    rows, _ = exported(typed(*({"time": date} for date in DATES), **SOUTHERLY))
    assert column(rows, "time") == [
        "2026-05-04T12:30:00Z",
        "2026-05-04T12:30:01.500Z",
        "2026-05-04T12:30:02.123456Z",
    ]


def test_a_date_beside_its_time_and_a_date_with_slashes_are_dates():
    rows, _ = exported(
        typed({"date": "2026/05/04", "time": "12:30"}, {"time": "2026/05/04 12:31"}, **SOUTHERLY)
    )
    assert column(rows, "time") == ["2026-05-04T12:30:00Z", "2026-05-04T12:31:00Z"]


def test_a_clock_without_a_date_stays_one():
    clocks = ("09:05", "12:30:05.1", "23:59:59.999")
    rows, _ = exported(typed(*({"time": clock} for clock in clocks), **SOUTHERLY))
    assert column(rows, "time") == ["09:05:00", "12:30:05.1", "23:59:59.999"]


@pytest.mark.parametrize("times", [(0.1, 0.3, 1e5 / 3), (1763223438.1234567, 1763223439.7654321)])
def test_seconds_stay_seconds(times):
    """Also of so many digits that no date has them."""
    rows, _ = exported(typed(*({"time": time} for time in times), **SOUTHERLY))
    assert [float(text) for text in column(rows, "time")] == list(times)


def test_dates_among_seconds_since_1970_are_dates_where_that_loses_nothing():
    for seconds, is_date in ((1777897801.25, True), (1777897801.1234567, False)):
        rows, _ = exported(typed({"time": "2026-05-04T12:30:00Z"}, {"time": seconds}, **SOUTHERLY))
        assert all("T" in text for text in column(rows, "time")) is is_date


def test_a_date_among_clocks_is_seconds_as_one_column_has_one_form():
    rows, _ = exported(typed({"time": "12:30"}, {"time": "1970-01-02T00:00Z"}, **SOUTHERLY))
    assert column(rows, "time") == ["45000.0", "86400.0"]


def test_a_wind_by_speed_and_direction_stays_so():
    """Random ones, and names and units of loggers; -90 degrees stays what it is."""
    random = np.random.default_rng(7)
    speeds, directions = random.uniform(0, 20, 40), random.uniform(0, 360, 40)
    winds = [
        {"wind_speed": speed, "wind_from": direction}
        for speed, direction in zip(speeds, directions, strict=True)
    ]
    rows, _ = exported(typed(*winds, {"ws_kmh": 36, "wd": -90}))
    assert not {"wind_u", "wind_v"} & rows[0].keys()
    assert [float(text) for text in column(rows, "wind_speed")] == [*speeds, 10.0]
    assert [float(text) for text in column(rows, "wind_from")] == [*directions, -90.0]


def test_a_wind_that_was_held_is_typed_as_the_one_before():
    rows, _ = exported(typed({"wind_speed": 3.3, "wind_from": 271}, {}, {"wind_speed": None, "wind_from": 1}))
    assert column(rows, "wind_speed") == ["3.3"] * 3
    assert column(rows, "wind_from") == ["271.0"] * 3


def test_an_altitude_is_as_typed_and_that_of_the_site_is_left_out_where_it_would_be_rounded():
    """1.5 m above a ground of 31.7 m is no double from which 31.7 leaves 1.5."""
    rows, _ = exported(typed({"altitude": 33.2}, {"altitude": 41.3}, **SOUTHERLY))
    assert column(rows, "altitude") == ["33.2", "41.3"]
    rows, _ = exported(typed({}, {"altitude": -999}, **SOUTHERLY))
    assert "altitude" not in rows[0]
    rows, _ = exported(typed({}, {}, **SOUTHERLY), SITE.replace("31.7", "32"))
    assert column(rows, "altitude") == ["33.5", "33.5"]


def test_winds_typed_in_both_ways_are_components():
    rows, _ = exported(typed({"wind_speed": 3.3, "wind_from": 271}, SOUTHERLY))
    assert column(rows, "wind_v")[1] == "2.7"
    assert not {"wind_speed", "wind_from"} & rows[0].keys()


def test_what_is_cut_in_the_log_is_written_in_numbers():
    """Of a reading with a long remark only the beginning is known: winds as components, dates as dates."""
    wind = {"wind_speed": 3.3, "wind_from": 271, "altitude": 33.2}
    given = typed({"time": DATES[0]}, {"time": DATES[1], "wind_from": 280}, **wind)
    given[1] = {"remark": "x" * 10_000} | given[1]
    rows, _ = exported(given)
    assert column(rows, "time") == ["2026-05-04T12:30:00Z", "2026-05-04T12:30:01.500Z"]
    assert float(column(rows, "wind_u")[0]) == pytest.approx(3.3, rel=1e-3)


@pytest.mark.parametrize("given", ["", "line 4", "((1.0, 2.0), 3.0)", "[1]", '{"x": '])
def test_a_log_that_does_not_say_how_is_written_in_numbers(given):
    site = parse_site(SITE)
    [entry] = logged(typed({"time": DATES[0], "wind_speed": 3, "wind_from": 270}), site)
    [row] = csv.DictReader(io.StringIO(log_table([replace(entry, given=given)], site)))
    assert float(row["time"]) == 1777897800
    assert float(row["wind_u"]) == 3


UPLOADED = (
    "when;Lat;Lon;ch4;ws;wd;extra\n"
    "2026-05-04 12:30:00;51,2001;-1,7499;2,1;3,5;270;a\n"
    "2026-05-04 12:30:02;51,2002;-1,7498;2,2;3,25;181,5;b\n"
)


def test_a_survey_that_was_uploaded_is_written_as_it_was():
    """With its own names, given by the site, and decimal commas."""
    text = f'{SITE}columns = {{time = "when", value = "ch4"}}\nrows = {{extra = "a"}}\n'
    for wanted in (text, text.replace('rows = {extra = "a"}', "")):
        site = parse_site(wanted)
        upload = read_upload(UPLOADED.encode(), "survey.csv", wanted)
        log = [
            Step(number, "", row.given, row.reading.to_json(), {})
            for number, row in enumerate(upload.rows, 1)
        ]
        table = log_table(log, site)
        rows = list(csv.DictReader(io.StringIO(table)))
        assert column(rows, "time") == ["2026-05-04T12:30:00Z", "2026-05-04T12:30:02Z"][: len(log)]
        assert column(rows, "wind_speed") == ["3.5", "3.25"][: len(log)]
        again = read_upload(table.encode(), "mission.csv", wanted)
        for one, other in zip(upload.rows, again.rows, strict=True):
            assert replace(other.reading, id=None) == replace(one.reading, id=None)


def test_locate_reads_the_same_survey(tmp_path):
    """Positions, values, winds and times between readings, to the last bit."""
    _, table = exported(typed(*({"time": date} for date in DATES), wind_speed=3.3, wind_from=271))
    path = tmp_path / "mission.csv"
    path.write_text(table)
    site = parse_site(SITE)
    survey = read_survey(path, site)
    taken = [
        Reading.from_json(entry.reading)
        for entry in logged(typed(*({"time": date} for date in DATES), wind_speed=3.3, wind_from=271), site)
    ]
    np.testing.assert_array_equal(survey.positions, [reading.position for reading in taken])
    np.testing.assert_array_equal(survey.wind, [reading.wind for reading in taken])
    np.testing.assert_array_equal(survey.time, [reading.time - taken[0].time for reading in taken])
    assert survey.notes == ()
