"""What is odd about a reading and is taken in all the same: it is said, once, with the advice."""

import json

import numpy as np
import pytest
from made_missions import MODEL, hill_site

from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.answers import answer, serve_lines, unused_words
from dowsax.mission.log import MissionLog
from dowsax.survey.reading import Refused
from dowsax.survey.reading_json import parse_object, unknown_keys

READING = {"x": 2, "y": 2, "value": 0.1}


def advisor(**changes):
    log = changes.pop("log", None)
    return Advisor(hill_site(**changes), "infotaxis", seed=4, log=log, model=MODEL)


def test_readings_in_a_no_go_area_count_and_are_warned_of_when_one_enters_it(tmp_path):
    """Not again while one is there, and again when one comes back; the log keeps it with the advice."""
    one = advisor(log=tmp_path / "mission.log")
    places = [(2.0, 2.0), (8.0, 8.0), (9.0, 9.0), (12.0, 12.0), (10.0, 10.0), (11.0, 9.0)]
    told = [one.observe(place, 0.2).warnings for place in places]
    assert [len(warnings) for warnings in told] == [0, 1, 0, 0, 1, 0]
    assert told[1][0].startswith("The reading was taken in a no-go area: it counts")
    assert len(one.readings) == len(places)
    with MissionLog.open(one._log.path) as log:
        kept = [Advice.from_json(entry.advice).warnings for entry in log.steps()]
    assert kept == told
    one.close()


def test_readings_outside_the_geofence_are_warned_of():
    fence = np.array([[0.0, 0.0], [12.0, 0.0], [12.0, 20.0], [0.0, 20.0]])
    one = advisor(geofence=(fence,), no_go=())
    assert one.observe((12.0, 3.0), 0.2).warnings == ()
    (told,) = one.observe((15.0, 3.0), 0.2).warnings
    assert "outside the geofence" in told


def test_logs_of_earlier_times_have_no_warnings():
    body = advisor().observe((2.0, 2.0), 0.1).to_json()
    del body["warnings"]
    assert Advice.from_json(body).warnings == ()


def test_keys_that_nobody_uses_are_told_once_a_stream():
    """With the first reading that has them, and new ones with theirs; the readings count."""
    lines = [
        READING,
        READING | {"x": 3, "battery": 0.7, "crew": "B", "note": None},
        READING | {"x": 4, "battery": 0.6},
        READING | {"x": 5, "crew": "B", "rssi": -70},
    ]
    said = []
    serve_lines(advisor(), map(json.dumps, lines), said.append)
    warnings = [json.loads(line)["warnings"] for line in said]
    assert warnings == [
        [],
        ["Not used, as no key of a reading is called so: battery, crew."],
        [],
        ["Not used, as no key of a reading is called so: rssi."],
    ]
    assert json.loads(said[-1])["number"] == 4


def test_keys_by_any_name_that_is_known_are_not_strange():
    """Those of loggers, those that the site names, and those that say nothing."""
    body = {"lat": 1, "lon": 2, "ch4 (ppm)": 3, "ws": 1, "wd": 2, "id": 1, "unit": "ppm", "alt": 4, "a": None}
    assert unknown_keys(body) == ()
    named = {"x": 1, "y": 2, "reading_of_the_day": 3}
    assert unknown_keys(named | {"value": 4}) == ("reading_of_the_day",)
    assert unknown_keys(named, {"value": "reading_of_the_day"}) == ()
    assert unused_words((), set()) is None


@pytest.mark.parametrize("text", ['{"id": 3, "x": 2, "y": 2, "val', '{"id": 3, "x": 2,', '{"id": 3'])
def test_an_object_that_is_cut_short_says_so_and_what_to_do(text):
    """As when a stream ends in the middle of its last line: with the line, and the end of what came."""
    with pytest.raises(Refused, match=rf"cut short after column {len(text)}; send the whole object again"):
        parse_object(text)
    said = []
    serve_lines(advisor(), [json.dumps(READING) + "\n", text], said.append)
    last = json.loads(said[-1])
    assert last["line"] == 2
    assert (last["recorded"], last["refused"]) == (False, True)
    assert "cut short" in last["error"]
    assert "cut short" not in answer(advisor(), '{"x": 2, "y": oops, "value": 1}')["error"]
