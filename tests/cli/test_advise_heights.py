"""From a site file with heights to the log of `dowsax advise`, and from there to plans and maps."""

import io
import json
from xml.etree import ElementTree

import pytest

from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog

SITE = """
name = "roof"
area = {low = [0, 0], high = [60, 40], origin = [52.1, 5.1]}
field = {kind = "level", unit = "dB"}
prior = {height = [0, 20]}
start = {position = [5, 5]}
step = {length = 6, heights = [2, 8, 14]}
budget = {readings = 30}
search = {particles = 64, radius = 3}
"""
LINES = [
    '{"id": "1", "x": 5, "y": 5, "value": 41.0}',
    '{"id": "2", "x": 20, "y": 5, "value": 44.0}',
    '{"id": "3", "x": 30, "y": 9, "value": 46.0, "altitude": 14}',
]


@pytest.fixture
def log(dowsax_command, monkeypatch, tmp_path):
    """The log of a mission with these lines, and the answers to them."""
    (tmp_path / "site.toml").write_text(SITE)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(LINES).encode())))
    path = tmp_path / "mission.log"
    code, stdout, stderr = dowsax_command("advise", "--site", tmp_path / "site.toml", "--log", path)
    assert code == 0, stderr
    assert "2 m above ground" in stderr
    return path, [json.loads(line) for line in stdout.splitlines()]


def test_the_belief_uses_the_height_that_was_advised(log, dowsax_command, tmp_path):
    path, answers = log
    assert all(answer["next_height"] in (2, 8, 14) for answer in answers)
    readings = [step.reading for step in MissionLog.open(path).steps()]
    assert [reading["altitude"] for reading in readings] == [2.0, answers[0]["next_height"], 14.0]
    told = Advisor(tmp_path / "site.toml", seed=0)
    for line, height in zip(LINES, (2.0, answers[0]["next_height"], 14.0), strict=True):
        body = json.loads(line)
        advice = told.observe((body["x"], body["y"]), body["value"], id=body["id"], altitude=height)
    assert json.loads(json.dumps(advice.message(told.plan.coordinates))) == answers[-1]


def test_plans_and_maps_have_the_height(log, dowsax_command, tmp_path):
    """One flies at the higher of the two heights, and goes down at the place itself."""
    path, answers = log
    there, flown = answers[-1]["next_height"], max(14.0, answers[-1]["next_height"])
    for kind in ("qgc", "kml", "geojson"):
        code, _, stderr = dowsax_command("export", path, "--to", kind, "--out", tmp_path / f"out.{kind}")
        assert code == 0, stderr
    items = json.loads((tmp_path / "out.qgc").read_text())["mission"]["items"]
    assert items[0]["Altitude"] == flown
    assert items[-1]["Altitude"] == there
    assert {item["Altitude"] for item in items[:-1]} == {flown}
    features = json.loads((tmp_path / "out.geojson").read_text())["features"]
    (waypoint,) = (one for one in features if one["properties"]["what"] == "next waypoint")
    assert waypoint["properties"]["height_m"] == there
    tree = ElementTree.parse(tmp_path / "out.kml")
    (mode,) = tree.iter("{http://www.opengis.net/kml/2.2}altitudeMode")
    assert mode.text == "relativeToGround"
