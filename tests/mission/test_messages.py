"""Live messages: every request is answered, and none ends the stream."""

import io
import json
from dataclasses import replace

import pytest
from made_disks import largest_file
from made_missions import MODEL, hill_site

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog, Refusal, Step
from dowsax.mission.messages import MAX_BYTES, UNEXPECTED_ERROR, answer, serve_lines, unused_keys_warning
from dowsax.mission.messages import read_lines as stream_lines
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.reading_json import KEYS, from_object, parse_object, unknown_keys

ORIGIN = (52.1, 5.1)


@pytest.fixture
def advisor(tmp_path):
    one = Advisor(
        hill_site(coordinates=LocalCoordinates(ORIGIN)), seed=4, log=tmp_path / "mission.log", model=MODEL
    )
    yield one
    one.close()


def read_lines(advisor, *lines):
    said = []
    serve_lines(advisor, lines, said.append)
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in said)
    return [json.loads(line) for line in said]


def test_every_line_is_answered_in_order(advisor):
    """Advice for readings, an error with its line for the rest; empty lines are nothing."""
    good = b'{"id": 1, "x": 2, "y": 2, "value": 0.1}\n'
    said = read_lines(
        advisor,
        good,
        b"\n",
        b"{oops\n",
        b"\xff\xfe\n",
        b"[1, 2]\n",
        b'{"id": "z", "x": 2}\n',
        good,
        b'{"x": 4, "y": 2, "value": "0.2"}',
    )
    assert [body.get("line") for body in said] == [None, 3, 4, 5, 6, None, None]
    assert said[0]["status"] == "searching"
    assert "Not JSON" in said[1]["error"]
    assert "JSON object" in said[3]["error"]
    assert said[4]["error"] == "`y` is missing: give it with `x`."
    assert said[4]["id"] == "z"
    assert said[5] == said[0]
    assert said[6]["number"] == 2
    records = list(MissionLog.open(advisor._log.path).records())
    assert [type(record) for record in records] == [Step, *[Refusal] * 4, Step]


def test_places_in_degrees_come_back_in_degrees(advisor):
    """In and out of the site's frame, to centimetres: 1 cm is about 1e-7 degrees."""
    latitude, longitude = LocalCoordinates(ORIGIN).to_degrees([(4.0, 6.0)])[0]
    (said,) = read_lines(advisor, json.dumps({"lat": latitude, "lon": longitude, "value": 0.3}))
    assert advisor.readings[0].position == pytest.approx((4.0, 6.0), abs=1e-2)
    there = said["degrees"]["next"]
    back = LocalCoordinates(ORIGIN).to_metres(there["latitude"], there["longitude"])[0]
    assert back == pytest.approx(said["next_position"], abs=1e-2)


def test_messages_have_significant_digits_only(advisor):
    """Told in millimetres and hundredths of a degree; what is logged and computed with has all its digits."""
    (said,) = read_lines(advisor, '{"x": 4, "y": 2, "value": 0.3}')
    exact = advisor.latest
    for told, meant, digits in (
        *zip(said["next_position"], exact.next_position, (3, 3), strict=True),
        *zip(said["region"]["centre"], exact.region.centre, (3, 3), strict=True),
        (said["distance"], exact.distance, 3),
        (said["bearing"], exact.bearing, 2),
        (said["region"]["radius"], exact.region.radius, 3),
    ):
        assert told == round(meant, digits)
    (step,) = advisor._log.steps()
    assert Advice.from_json(step.advice) == exact
    north = replace(exact, bearing=359.9999).message(LocalCoordinates())
    assert north["bearing"] == 0.0


def test_a_reading_at_the_advised_place_is_accepted(advisor):
    """Rounding does not lead out of the area: at its very border the reading is taken in."""
    body = '{"x": 20.0005, "y": -0.0005, "value": 0.1}'
    (said,) = read_lines(advisor, body)
    assert said["status"] == "searching"
    (x, y) = said["next_position"]
    assert 0 <= x <= 20
    assert 0 <= y <= 20
    (refused,) = read_lines(advisor, body.replace("20.0005", "20.01"))
    assert "outside the area" in refused["error"]


def test_wind_may_be_given_in_two_ways():
    """3 m/s from 270°, a west wind, goes east."""
    place = {"x": 1, "y": 2, "value": 3}
    by_angle = from_object(
        parse_object(json.dumps(place | {"wind_speed": 3, "wind_from": 270})), LocalCoordinates()
    )
    assert by_angle.wind == pytest.approx((3.0, 0.0), abs=1e-12)
    assert from_object(
        parse_object(json.dumps(place | {"wind_u": 3, "wind_v": 0})), LocalCoordinates()
    ).wind == (3.0, 0.0)


def test_all_keys_are_understood():
    text = (
        '{"id": 7, "x": 1, "y": 2, "value": 3, "unit": "ppb", "time": "2026-05-04T12:30:00Z", "altitude": 4,'
        '"dwell": 5, "sensor": "A", "wind_u": 1, "wind_v": -1, "battery": 0.7, "note": null}'
    )
    reading = from_object(parse_object(text), LocalCoordinates(), "ppm")
    moment = 1777897800.0
    assert reading == Reading((1.0, 2.0), 0.003, (1.0, -1.0), moment, "A", 4.0, 5.0, "7")
    assert Reading.from_json(json.loads(json.dumps(reading.to_json()))) == reading


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"x": 1, "y": 2}', "`value` is missing"),
        ('{"value": 1}', "position is missing"),
        ('{"x": 1, "y": 2, "latitude": 1, "longitude": 2, "value": 1}', "not both"),
        ('{"latitude": 95, "longitude": 5, "value": 1}', "between -90 and 90"),
        ('{"x": 1, "y": 2, "value": NaN}', "`value` is nan"),
        ('{"x": 1, "y": 2, "value": 1e400}', "`value` is inf"),
        ('{"x": 1, "y": 2, "value": [1]}', "not a number"),
        ('{"x": 1, "y": 2, "value": "n/a"}', "`value` says nothing, 'n/a': leave the reading out"),
        ('{"latitude": 52.1, "longitude": 354.9, "value": 1}', "take off 360, -5.1"),
        ('{"x": 1, "y": 2, "value": 1, "wind_sped": 3}', "is 'wind_speed' meant"),
        ('{"x": 1, "y": 2, "value": 1, "wind_speed": -3, "wind_from": 1}', "must be >= 0 m/s"),
        ('{"x": 1, "y": 2, "value": 1, "unit": "m/s"}', "no multiple"),
        ('{"x": 1, "X": 1, "y": 2, "value": 1}', "given twice"),
        ("[" * 100_000, "nested too deep|Not JSON"),
        ("", "Not JSON"),
    ],
)
def test_a_wrong_reading_gets_the_reason(text, reason):
    with pytest.raises(Refused, match=reason):
        from_object(parse_object(text), LocalCoordinates((52.1, 5.1)), "ppm")


def test_keys_are_explained():
    assert {"x", "y", "value", "time", "wind_from"} <= KEYS.keys()


@pytest.mark.parametrize("text", ["nonsense", '{"id": 7, "x": 1e6, "y": 2, "value": 0.1}'])
def test_what_is_refused_is_logged_as_refused_and_not_recorded_as_a_reading(advisor, text):
    """Whether it cannot be understood or cannot be."""
    said = answer(advisor, text)
    assert (said["recorded"], said["refused"]) == (False, True)
    assert advisor.readings == ()
    (refusal,) = advisor._log.records()
    assert refusal.reason == said["error"]


def test_what_is_not_recorded_says_so(advisor):
    body = json.dumps({"id": 1, "x": 2, "y": 2, "value": 0.1, "note": "x" * 9000})
    with largest_file(advisor._log.path.stat().st_size + 5000):
        said = answer(advisor, body)
    assert (said["recorded"], said["refused"]) == (False, False)
    assert said["id"] == "1"
    assert "disk is full" in said["error"]
    assert answer(advisor, body)["number"] == 1


POISON = {
    "half a character in the id": b'{"id": "\\ud800", "x": 2, "y": 2, "value": 0.1}',
    "half a character in a key": b'{"\\udfff": 1, "x": 2, "y": 2, "value": 0.1}',
    "half a character deep inside": b'{"note": [{"a": "\\ud83d"}], "x": 2, "y": 2, "value": 0.1}',
    "5,000 digits": b'{"x": 2, "y": 2, "value": ' + b"9" * 5000 + b"}",
    "5,000 digits in a key nobody uses": b'{"x": 2, "y": 2, "battery": ' + b"9" * 5000 + b', "value": "x"}',
    "an exponent beyond all": b'{"x": 2, "y": 2, "value": 1e999999999}',
    "bytes that are no text": b"\xff\xfe\x00\x80",
    "nested": b"[" * 60_000,
    "nested in a reading": b'{"x": 2, "y": 2, "value": ' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "nested as deep as can be read": b'{"x": 2, "y": 2, "value": ' + b"[" * 900 + b"]" * 900 + b"}",
    "nested in a key nobody uses": b'{"x": 2, "y": 2, "value": 1, "a": ' + b"[" * 30 + b"]" * 30 + b"}",
    "too long": b'{"x": 2, "y": 2, "value": 1, "note": "' + b"x" * 200_000 + b'"}',
    "many keys": b"{" + b",".join(b'"k%d": 1' % number for number in range(5000)) + b"}",
    "the same key twice": b'{"x": 2, "x": 3, "y": 2, "value": 1}',
    "a truth value": b'{"x": 2, "y": 2, "value": true}',
    "nothing": b"null",
}


@pytest.mark.parametrize("name", POISON)
def test_nothing_that_is_sent_ends_the_stream(advisor, name):
    """Each is refused with a reason and recorded as refused; the line after it is answered as ever."""
    said = read_lines(advisor, POISON[name] + b"\n", b'{"id": 1, "x": 2, "y": 2, "value": 0.1}\n')
    assert said[0]["refused"]
    assert UNEXPECTED_ERROR not in said[0]["error"]
    assert len(said[0]["error"]) < 300
    assert said[1]["number"] == 1
    refusal, step = MissionLog.open(advisor._log.path).records()
    assert refusal.reason == said[0]["error"]
    assert step.number == 1


def test_a_long_line_is_never_read_as_a_whole():
    """Its beginning is enough to refuse it; the lines after it are not lost."""
    stream = io.BytesIO(b"x" * 1_000_000 + b"\n" + b"next\n" + b"y" * 300_000)
    lines = list(stream_lines(stream))
    assert [len(line) for line in lines] == [MAX_BYTES + 1, 5, MAX_BYTES + 1]
    exact = b"z" * MAX_BYTES + b"\n"
    assert list(stream_lines(io.BytesIO(exact + b"next"))) == [exact, b"next"]


def test_a_line_that_is_too_long_is_refused_also_where_it_begins_blank(advisor):
    """What is in it is not known; a short blank line is nothing."""
    stream = io.BytesIO(b" " * 100_000 + b'{"x": 2, "y": 2, "value": 0.1}\n' + b" " * 1000 + b"\n")
    (said,) = read_lines(advisor, *stream_lines(stream))
    assert "Too long" in said["error"]


def test_an_unexpected_error_is_a_refusal(advisor, monkeypatch):
    """An error of our own is answered, recorded and logged, and the mission goes on."""
    good = b'{"id": 1, "x": 2, "y": 2, "value": 0.1}\n'
    with monkeypatch.context() as patched:
        patched.setattr(Advisor, "add", lambda *_: 1 / 0)
        (said,) = read_lines(advisor, good)
    assert said["error"].startswith(f"{UNEXPECTED_ERROR} (ZeroDivisionError)")
    assert said["refused"]
    assert said["id"] == "1"
    (after,) = read_lines(advisor, good)
    assert after["number"] == 1


def test_a_full_disk_that_does_not_take_a_note_ends_nothing(advisor):
    """Such as that the broker was lost, which is told while the feed begins again."""
    with largest_file(advisor._log.path.stat().st_size + 10):
        advisor.note("alarm", "No connection to the broker.")
    (after,) = read_lines(advisor, b'{"id": 1, "x": 2, "y": 2, "value": 0.1}')
    assert after["number"] == 1


def test_a_reading_is_withdrawn_and_corrected_by_a_line(advisor):
    """By id or by number; the answer is advice, as a reading would get it, and the log has all of it."""
    said = read_lines(
        advisor,
        '{"id": "a", "x": 2, "y": 2, "value": 0.1}',
        '{"x": 4, "y": 2, "value": 30}',
        '{"withdraw": true, "number": 2, "reason": "a slip"}',
        '{"correct": true, "id": "a", "searcher": "anna", "value": 0.2, "lat": 52.1, "lon": 5.1}',
    )
    assert [body["number"] for body in said] == [1, 2, 3, 4]
    assert "Reading 2 was withdrawn." in said[2]["why"]
    assert "Reading 1 was corrected." in said[3]["why"]
    (reading,) = advisor.readings
    assert (reading.value, reading.id) == (0.2, "a")
    assert reading.position == pytest.approx((0.0, 0.0), abs=1e-6)
    steps = list(MissionLog.open(advisor._log.path).steps())
    assert [(step.corrects, step.reason) for step in steps] == [
        (None, ""),
        (None, ""),
        (2, "a slip"),
        (1, ""),
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"withdraw": true}', "Say which reading"),
        ('{"withdraw": true, "id": "a", "number": 1}', "Say which reading"),
        ('{"withdraw": true, "id": "b"}', "'b' was never recorded"),
        ('{"withdraw": true, "number": 7}', "Reading 7 was never recorded"),
        ('{"withdraw": true, "number": 1.5}', "whole number"),
        ('{"withdraw": true, "number": true}', "whole number"),
        ('{"withdraw": "a"}', "must be true or false"),
        ('{"withdraw": true, "correct": true, "id": "a"}', "not several"),
        ('{"restore": true, "id": "a", "value": 3}', "restoration has no values"),
        ('{"restore": true, "id": "a"}', "Reading 1 counts: give `as_of`"),
        ('{"restore": true, "number": 1, "as_of": 0}', "`as_of` must be a whole number"),
        ('{"withdraw": true, "id": "a", "value": 3}', "has no values"),
        ('{"correct": true, "id": "a"}', "what is right instead"),
        ('{"correct": true, "id": "a", "value": "wet"}', "not a number"),
        ('{"correct": true, "id": "a", "x": 400}', "outside the area"),
        ('{"withdraw": true, "id": "a", "reason": 3}', "must be a text"),
    ],
)
def test_a_wrong_correction_gets_the_reason(advisor, text, reason):
    said = read_lines(advisor, '{"id": "a", "x": 2, "y": 2, "value": 0.1}', text)
    assert said[1]["refused"]
    assert reason in said[1]["error"]
    assert len(advisor.readings) == 1


def test_an_implausible_value_counts_once_it_is_confirmed(advisor):
    """The answer says that it can be; what is refused for another reason cannot."""
    huge = '{"id": 2, "x": 4, "y": 2, "value": 4e6}'
    said = read_lines(
        advisor,
        '{"id": 1, "x": 2, "y": 2, "value": 0.1}',
        huge,
        huge.replace("}", ', "confirm": true}'),
        '{"id": 3, "x": 4, "y": 2, "value": 0.1, "dwell": 1e15}',
        '{"id": 4, "x": 4, "y": 2}',
    )
    assert said[1]["confirm"] is False
    assert '"confirm": true' in said[1]["error"]
    assert said[2]["number"] == 2
    assert "more than a day" in said[3]["error"]
    assert "confirm" not in said[4]


def build_advisor():
    return Advisor(hill_site(), "infotaxis", seed=4, model=MODEL)


READING = {"x": 2, "y": 2, "value": 0.1}


def test_logs_of_earlier_times_have_no_warnings():
    body = build_advisor().observe((2.0, 2.0), 0.1).to_json()
    del body["warnings"]
    assert Advice.from_json(body).warnings == ()


def test_unused_keys_are_warned_about_once_a_stream():
    """With the first reading that has them, and new ones with theirs; the readings count."""
    lines = [
        READING,
        READING | {"x": 3, "battery": 0.7, "crew": "B", "note": None},
        READING | {"x": 4, "battery": 0.6},
        READING | {"x": 5, "crew": "B", "rssi": -70},
    ]
    said = []
    serve_lines(build_advisor(), map(json.dumps, lines), said.append)
    warnings = [json.loads(line)["warnings"] for line in said]
    assert warnings == [
        [],
        ["Not used at this site: battery, crew."],
        [],
        ["Not used at this site: rssi."],
    ]
    assert json.loads(said[-1])["number"] == 4


def test_keys_by_any_name_that_is_known_are_not_strange():
    """Those of loggers, those that the site names, and those that say nothing."""
    body = {"lat": 1, "lon": 2, "ch4 (ppm)": 3, "ws": 1, "wd": 2, "id": 1, "unit": "ppm", "alt": 4, "a": None}
    assert unknown_keys(body) == ()
    named = {"x": 1, "y": 2, "reading_of_the_day": 3}
    assert unknown_keys(named | {"value": 4}) == ("reading_of_the_day",)
    assert unknown_keys(named, {"value": "reading_of_the_day"}) == ()
    assert unused_keys_warning((), set()) is None


@pytest.mark.parametrize("text", ['{"id": 3, "x": 2, "y": 2, "val', '{"id": 3, "x": 2,', '{"id": 3'])
def test_an_object_that_is_cut_short_says_so_and_what_to_do(text):
    """As when a stream ends in the middle of its last line: with the line, and the end of what came."""
    with pytest.raises(Refused, match=rf"cut short after column {len(text)}; send the whole object again"):
        parse_object(text)
    said = []
    serve_lines(build_advisor(), [json.dumps(READING) + "\n", text], said.append)
    last = json.loads(said[-1])
    assert last["line"] == 2
    assert (last["recorded"], last["refused"]) == (False, True)
    assert "cut short" in last["error"]
    assert "cut short" not in answer(build_advisor(), '{"x": 2, "y": oops, "value": 1}')["error"]
