"""Missions along open paths: advised by name, written to the log, resumed, corrected and exported."""

import json
import shutil

import numpy as np
import pytest
from made_plume_sites import SITE

from dowsax.mission.advice import Advice
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.mission.messages import answer
from dowsax.report.export import log_table
from dowsax.report.mission_findings import findings_of
from dowsax.site import parse_site
from dowsax.survey import read_survey

SMALL = SITE.replace(
    "wind =", 'search = {preset = "default", particles = 64}\nbudget = {readings = 9}\nwind =', 1
)
LISTED = {"south": [[10, 10], [110, 10]], "east": [[100, 5], [100, 75]], "north": [[10, 70], [110, 70]]}
PATHS = "".join(f'[[paths]]\nname = "{name}"\nends = {ends}\n' for name, ends in LISTED.items())
WIND = {"wind_u": 1.0, "wind_v": -2.0}


def advisor(text=SMALL + PATHS, log=None):
    return Advisor(parse_site(text), "random", seed=4, log=log, warm_up=False)


def send(one, ends, value, **others):
    keys = dict(zip(("x1", "y1", "x2", "y2"), np.ravel(ends).tolist(), strict=True))
    return answer(one, json.dumps({**keys, **WIND, "value": value, **others}))


@pytest.fixture(scope="module")
def mission(tmp_path_factory):
    """A mission with a reading along each path and one at a point; its log, and the answers."""
    path = tmp_path_factory.mktemp("mission") / "mission.log"
    one = advisor(log=path)
    answers = [send(one, ends, 2.0 + at, id=name) for at, (name, ends) in enumerate(LISTED.items())]
    point = {"x": 50, "y": 40, "value": 2.1, **WIND, "id": "point"}
    answers.append(answer(one, json.dumps(point)))
    yield one, path, answers
    one.close()


def test_advice_names_the_path_and_its_ends(mission):
    one, _, answers = mission
    for body in answers:
        assert body["status"] == "searching"
        path = next(path for path in one.plan.reach.paths if path.name == body["next_path"])
        assert (tuple(body["next_position"]), tuple(body["next_far_end"])) == path.ends
        assert (body["bearing"], body["distance"]) == (None, None)
        assert f"Next: the path {path.name}, from" in body["why"]
    latest = one.latest
    assert Advice.from_json(json.loads(json.dumps(latest.to_json()))) == latest


def test_nobody_goes_to_a_path(mission):
    """Of four readings only one is at a place, and none is forbidden."""
    one, _, answers = mission
    assert one.state.measures(one.plan)["path_length"] == 0.0
    assert not any(body["warnings"] for body in answers)


def test_a_mission_resumes_from_its_log(mission, tmp_path):
    """A copy of the log gives the same readings, belief and advice, and goes on."""
    one, path, _ = mission
    again = advisor(log=shutil.copy(path, tmp_path / "copy.log"))
    assert (again.readings, again.latest) == (one.readings, one.latest)
    np.testing.assert_array_equal(again.belief.particles, one.belief.particles)
    assert send(again, LISTED["east"], 2.2)["number"] == 5
    again.close()


def test_the_table_of_a_log_is_a_survey_with_the_same_paths(mission, tmp_path):
    one, path, _ = mission
    with MissionLog.open(path) as log:
        text = log_table(log.steps(), parse_site(SMALL + PATHS))
    (tmp_path / "survey.csv").write_text(text)
    survey = read_survey(tmp_path / "survey.csv", parse_site(SMALL + PATHS))
    assert [tuple(place) for place in survey.positions] == [reading.position for reading in one.readings]
    ends = [reading.far_end or reading.position for reading in one.readings]
    assert [tuple(place) for place in survey.far_ends] == ends


def test_findings_have_lines_for_paths_and_points_for_points(mission):
    one, _, _ = mission
    found = findings_of(one, parse_site(SMALL + PATHS), "random")
    assert found.is_path.tolist() == [True, True, True, False]
    np.testing.assert_array_equal(found.track, [[50.0, 40.0]])
    np.testing.assert_array_equal(found.posterior.places[0], [60.0, 10.0])
    np.testing.assert_array_equal(found.next_path, [one.latest.next_position, one.latest.next_far_end])
    assert len(found.waypoints) == 0


@pytest.mark.slow
def test_a_reading_at_a_point_is_one_along_a_path_of_no_length():
    """At a site with paths it changes the belief as at a site without: to the rounding of the mean."""
    along, at = advisor(), advisor(SMALL)
    for place, value in (((60.0, 20.0), 3.0), ((50.0, 40.0), 2.1)):
        along.observe(place, value, wind=(1.0, -2.0))
        at.observe(place, value, wind=(1.0, -2.0))
    np.testing.assert_allclose(along.belief.log_evidence, at.belief.log_evidence, rtol=1e-3)


def send_named(one, name, value, **others):
    return answer(one, json.dumps({"path": name, **WIND, "value": value, **others}))


def test_a_reading_may_name_its_path(mission, tmp_path):
    """The same reading as with the ends of the path, in the log and when the mission is resumed, too."""
    by_ends, path = mission[0], tmp_path / "mission.log"
    named = advisor(log=path)
    for at, name in enumerate(LISTED):
        assert not send_named(named, name, 2.0 + at, id=name)["warnings"]
    assert named.readings == by_ends.readings[:3]
    named.close()
    again = advisor(log=path)
    assert again.readings == named.readings
    again.close()


def test_a_path_that_is_not_listed_is_refused():
    """At a site without paths a position is asked for."""
    error = send_named(advisor(), "west", 2.0)["error"]
    assert error == "Unknown path 'west': the site file names south, east, north."
    assert "The position is missing" in send_named(advisor(SMALL), "south", 2.0)["error"]


def test_a_position_comes_before_the_name_of_a_path():
    """The name is then a key of no use, as before."""
    one = advisor()
    warnings = send(one, LISTED["east"], 2.5, path="south")["warnings"]
    assert any("path" in warning for warning in warnings)
    assert one.readings[0].far_end == (100.0, 75.0)


def test_a_correction_may_name_the_path():
    one = advisor()
    send_named(one, "east", 2.5, id="a")
    answer(one, json.dumps({"id": "a", "correct": True, "path": "north"}))
    assert (one.readings[0].position, one.readings[0].far_end) == ((10.0, 70.0), (110.0, 70.0))


def test_a_named_path_needs_no_altitude():
    """Also where another one has the same ends at another height."""
    twin = PATHS + 'height = 4\n[[paths]]\nname = "high"\nends = [[10, 70], [110, 70]]\nheight = 9\n'
    one = advisor(SMALL + twin + "[sensor]\nground = 100\n")
    for name in ("high", "north"):
        send_named(one, name, 2.5)
    send_named(one, "north", 2.5, altitude=107.0)
    assert [reading.altitude for reading in one.readings] == [9.0, 4.0, 7.0]


def test_a_path_is_refused_where_the_site_lists_none():
    body = send(advisor(SMALL), LISTED["south"], 2.0)
    assert "This site is read at points" in body["error"]
    outside = send(advisor(), [[10, 10], [10, 500]], 2.0)
    assert "The far end" in outside["error"]


def test_a_corrected_value_keeps_the_path():
    one = advisor()
    send(one, LISTED["east"], 2.5, id="a")
    answer(one, json.dumps({"id": "a", "correct": True, "value": 3.5}))
    assert (one.readings[0].value, one.readings[0].far_end) == (3.5, (100.0, 75.0))
    withdrawn = answer(one, json.dumps({"id": "a", "withdraw": True}))
    assert withdrawn["next_path"] == "south"
    assert "begin with the path south" in withdrawn["why"]


def test_a_listed_path_has_its_own_height():
    one = advisor(SMALL + PATHS + "height = 4\n")
    for ends in (LISTED["north"], LISTED["north"][::-1], LISTED["south"]):
        send(one, ends, 2.5)
    assert [reading.altitude for reading in one.readings][:2] == [4.0, 4.0]
    assert one.readings[2].altitude == one.plan.stations.altitude
