"""Open paths in the console: in snapshots, requests, uploads and the facts of a site."""

from dowsax.console.bodies import ReadingBody
from dowsax.console.schemas import SnapshotAnswer
from dowsax.console.sites import check_site
from dowsax.console.snapshots import build_snapshot
from dowsax.console.surveys import read_upload
from dowsax.mission.advice import SEARCHING, Advice, Disc, Estimate
from dowsax.mission.log import Step
from dowsax.survey.reading import Reading

SITE = """
area = {low = [0, 0], high = [100, 100]}
field = {kind = "gas-plume"}
wind = {velocity = [1, 2]}
[[paths]]
name = "south"
ends = [[10, 10], [90, 10]]
"""
ESTIMATE = Estimate(("x", "y"), ("m", "m"), (1.0, 2.0), (0.0, 0.0), (3.0, 3.0))


def snapshot_of(reading, **following):
    advice = Advice(
        1, SEARCHING, (10.0, 10.0), None, None, ESTIMATE, Disc((1.0, 2.0), 3.0), "why", **following
    )
    step = Step(1, "2026-05-04T12:30:00.000+00:00", "", reading.to_json(), advice.to_json())
    return build_snapshot(step, None)


def test_a_snapshot_has_the_ends_of_its_path_and_of_the_next():
    reading = Reading((10.0, 10.0), 2.5, far_end=(90.0, 10.0))
    body = snapshot_of(reading, next_far_end=(90.0, 10.0), next_path="south")
    assert list(body["reading"]["far_end"]) == [90.0, 10.0]
    assert (list(body["next_far_end"]), body["next_path"]) == ([90.0, 10.0], "south")
    SnapshotAnswer.model_validate(body)


def test_a_snapshot_without_paths_is_as_before():
    body = snapshot_of(Reading((10.0, 10.0), 2.5))
    assert "far_end" not in body["reading"]
    assert not {"next_far_end", "next_path"} & set(body)
    SnapshotAnswer.model_validate(body)


def test_a_request_sends_both_ends():
    keys = ReadingBody(position=(10, 10), far_end=(90, 10), value=2.5).to_keys()
    assert keys == {"x": 10.0, "y": 10.0, "x2": 90.0, "y2": 10.0, "value": 2.5}
    assert ReadingBody(path="south", value=2.5).to_keys() == {"path": "south", "value": 2.5}


def test_an_uploaded_survey_has_paths_and_points():
    data = b"x1,y1,x2,y2,value\n10,10,90,10,2.5\n50,50,,,2.1\n"
    rows = read_upload(data, "survey.csv", SITE).rows
    assert [row.reading.far_end for row in rows] == [(90.0, 10.0), None]


def test_the_facts_of_a_site_have_its_paths():
    assert check_site(SITE)["paths"] == [{"name": "south", "ends": [[10.0, 10.0], [90.0, 10.0]]}]
