"""`dowsax advise` and `dowsax export` for several searchers, by JSON lines and plans."""

import io
import json

import pytest

from dowsax.site import parse_site
from dowsax.survey import read_survey

SITE = """
name = "yard"
area = {low = [0, 0], high = [60, 40], origin = [52.1, 5.1]}
field = {kind = "level", unit = "dB"}
step = {length = 6, directions = 12}
budget = {readings = 30}
search = {particles = 64, radius = 3}
[[searcher]]
name = "anna"
start = [5, 5]
[[searcher]]
name = "ben / two"
start = [50, 5]
"""
LINES = [
    '{"id": "1", "x": 5, "y": 5, "value": 41.0, "searcher": "anna"}',
    '{"id": "1", "x": 50, "y": 5, "value": 44.0, "searcher": "ben / two"}',
    '{"id": "2", "x": 11, "y": 5, "value": 44.0}',
    '{"id": "2", "x": 11, "y": 5, "value": 44.0, "searcher": "carl"}',
    '{"id": "2", "x": 11, "y": 5, "value": 44.0, "searcher": "anna"}',
    '{"withdraw": true, "id": "1"}',
]


@pytest.fixture
def log(dowsax_command, monkeypatch, tmp_path):
    """The log of a mission with these lines, and the answers to them."""
    (tmp_path / "site.toml").write_text(SITE)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(LINES).encode())))
    path = tmp_path / "mission.log"
    code, stdout, stderr = dowsax_command("advise", "--site", tmp_path / "site.toml", "--log", path)
    assert code == 0, stderr
    assert "begin at" in stderr
    assert "(anna)" in stderr
    return path, [json.loads(line) for line in stdout.splitlines()]


def test_a_mission_and_a_plan_for_each(log, dowsax_command, tmp_path):
    path, answers = log
    assert [body.get("searcher") for body in answers] == ["anna", "ben / two", None, None, "anna", None]
    assert "say whose reading it is, anna, ben / two." in answers[2]["error"]
    assert "Unknown searcher 'carl'" in answers[3]["error"]
    assert "give the `searcher`" in answers[5]["error"]
    code, stdout, stderr = dowsax_command("export", path, "--to", "qgc")
    assert code == 0, stderr
    assert sorted(one.name for one in tmp_path.glob("*.plan")) == [
        "mission-anna.plan",
        "mission-ben-two.plan",
    ]
    assert "The plan of anna is in" in stdout
    code, _, stderr = dowsax_command("export", path, "--to", "qgc", "--out", "-")
    assert code != 0
    assert "cannot hold several plans" in stderr


def test_the_table_of_a_team_reads_back_with_its_searchers(log, dowsax_command, tmp_path):
    code, _, stderr = dowsax_command("export", log[0], "--to", "csv", "--out", tmp_path / "readings.csv")
    assert code == 0, stderr
    survey = read_survey(tmp_path / "readings.csv", parse_site(SITE))
    assert survey.searcher.tolist() == [0, 1, 0]
    assert "searcher" not in survey.unused
