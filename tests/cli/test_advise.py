"""`dowsax advise` and `dowsax export`: a stream of readings in, advice out, and files for other programs."""

import io
import json
import math
import socket

import pytest
from mcap.reader import make_reader

from dowsax.site import parse_site
from dowsax.survey import read_survey

SITE = """
name = "yard"
[area]
low = [0, 0]
high = [60, 40]
origin = [52.1, 5.1]
[[geofence]]
corners = [[0, 0], [60, 0], [60, 40], [0, 40]]
[[no_go]]
corners = [[25, 15], [35, 15], [35, 25], [25, 25]]
[field]
kind = "level"
unit = "dB"
[step]
length = 6
directions = 12
[budget]
readings = 30
[search]
particles = 64
radius = 3
"""
LINES = [
    '{"id": "a", "x": 5, "y": 5, "value": 41.0, "time": 0}',
    "",
    '{"id": "b", "x": 11, "y": 5, "value": "loud"}',
    '{"id": "b", "x": 11, "y": 5, "value": 44.0, "time": 10}',
    '{"id": "a", "x": 5, "y": 5, "value": 41.0, "time": 0}',
    '{"id": "c", "x": 500, "y": 5, "value": 41.0}',
    '{"id": "d", "latitude": 52.10009, "longitude": 5.10016, "value": 47.0, "time": 20}',
]


@pytest.fixture
def site_file(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text(SITE)
    return path


@pytest.fixture
def advise(dowsax_command, monkeypatch, site_file, tmp_path):
    """(lines) -> the answers to them, and what was said on stderr."""

    def run(lines, *words):
        stdin = io.TextIOWrapper(io.BytesIO("\n".join(lines).encode()), encoding="utf-8")
        monkeypatch.setattr("sys.stdin", stdin)
        code, stdout, stderr = dowsax_command(
            "advise", "--site", site_file, "--log", tmp_path / "mission.log", *words
        )
        assert code == 0, stderr
        return [json.loads(line) for line in stdout.splitlines()], stderr

    return run


def test_a_mission_and_what_comes_of_it(advise, dowsax_command, complaint, site_file, tmp_path):
    """One answer a line, also to nonsense; the mission goes on from its log; every format is what it says."""
    said, stderr = advise(LINES[:5])
    assert stderr.index("yard: begin at (") < stderr.index("yard: ready")
    assert [body.get("number") for body in said] == [1, None, 2, 1]
    assert said[1]["line"] == 3
    assert "`value` is not a number: 'loud'" in said[1]["error"]
    assert said[3] == said[0]

    said, stderr = advise(LINES[5:])
    assert "continuing after 2 readings" in stderr
    assert "outside the area" in said[0]["error"]
    newest = said[1]
    assert newest["number"] == 3
    assert newest["estimate"]["names"][:3] == ["x", "y", "level"]
    assert math.isfinite(newest["region"]["radius"])
    there = newest["degrees"]["next"]

    assert "another seed" in complaint(
        "advise", "--site", site_file, "--log", tmp_path / "mission.log", "--seed", "5"
    )
    for to, ending in (
        ("geojson", "geojson"),
        ("kml", "kml"),
        ("qgc", "plan"),
        ("csv", "csv"),
        ("html", "html"),
    ):
        assert dowsax_command("export", tmp_path / "mission.log", "--to", to).code == 0
        assert (tmp_path / f"mission.{ending}").stat().st_size > 100
    plan = json.loads((tmp_path / "mission.plan").read_text())
    places = [item["params"][4:6] for item in plan["mission"]["items"] if item.get("command") == 16]
    assert places[-1] == pytest.approx([there["latitude"], there["longitude"]], abs=1e-6)
    flown = dowsax_command("export", tmp_path / "mission.log", "--to", "qgc", "--altitude", 35, "--hold", 4)
    assert "takes off where the last reading was taken, flies 35 m above that and stays 4 s" in " ".join(
        flown.stdout.split()
    )
    plan = json.loads((tmp_path / "mission.plan").read_text())
    assert [(item["params"][6], item["params"][0]) for item in plan["mission"]["items"]] == [(35, 0), (35, 4)]
    assert "--altitude is for plans" in complaint(
        "export", tmp_path / "mission.log", "--to", "kml", "--altitude", "35"
    )
    header, *rows = (tmp_path / "mission.csv").read_text().splitlines()
    assert header == "id,x,y,value,time,altitude,dwell,latitude,longitude"
    assert [row.split(",")[0] for row in rows] == ["a", "b", "d"]
    survey = read_survey(tmp_path / "mission.csv", parse_site(SITE))
    assert survey.values.tolist() == [41.0, 44.0, 47.0]
    on_screen = dowsax_command("export", tmp_path / "mission.log", "--to", "csv", "--out", "-")
    assert (on_screen.code, on_screen.stdout) == (0, (tmp_path / "mission.csv").read_text())
    features = json.loads((tmp_path / "mission.geojson").read_text())["features"]
    assert {"reading", "credible region", "estimate"} <= {item["properties"]["what"] for item in features}
    assert "yard" in (tmp_path / "mission.html").read_text()
    log = tmp_path / "mission.log"
    assert "--quantity takes name=number, of background" in complaint(
        "correct", log, "--number", "1", "--quantity", "gain=3"
    )
    assert "Reading 1 counts: give `as_of`" in complaint("restore", log, "--number", "1")
    assert "Not used at this site: heading" in complaint(
        "correct", log, "--number", "1", "--quantity", "heading=3"
    )


def recorded(path):
    """The bodies of a recording, by topic."""
    found = {}
    with path.open("rb") as stream:
        for _, channel, message in make_reader(stream).iter_messages():
            found.setdefault(channel.topic, []).append(json.loads(message.data))
    return found


def test_several_places_ahead_and_a_recording(advise, dowsax_command, complaint, site_file, tmp_path):
    """The answers, the log, the plan and both recordings have the same places."""
    log, live, whole = (tmp_path / name for name in ("mission.log", "live.mcap", "whole.mcap"))
    said, _ = advise(LINES, "--ahead", "3", "--mcap", live)
    ahead = said[-1]["ahead"]
    assert [ahead[0]["position"], len(ahead)] == [said[-1]["next_position"], 3]
    assert dowsax_command("export", log, "--to", "qgc", "--mcap", whole).code == 0
    items = json.loads((tmp_path / "mission.plan").read_text())["mission"]["items"]
    stops = [[item["params"][4], item["params"][5]] for item in items if item["command"] == 16]
    degrees = [[each["latitude"], each["longitude"]] for each in said[-1]["degrees"]["ahead"]]
    assert all(any(stop == pytest.approx(each, abs=1e-6) for stop in stops) for each in degrees)
    one, other = recorded(live), recorded(whole)
    assert {topic: one[topic] for topic in one if topic != "/dowsax/log"} == {
        topic: other[topic] for topic in other if topic != "/dowsax/log"
    }
    assert [body["value"] for body in one["/dowsax/reading"]] == [41.0, 44.0, 47.0]
    found = [[leg["position"]["x"], leg["position"]["y"]] for leg in one["/dowsax/advice"][-1]["ahead"]]
    assert found == [pytest.approx(leg["position"], abs=1e-3) for leg in ahead]
    refused = [body["message"] for body in one["/dowsax/log"] if body["message"].startswith("Refused")]
    assert len(refused) == 2
    words = "advise", "--site", site_file, "--log", log
    assert "must be from 1 to 10 places; got 11" in complaint(*words, "--ahead", "11")
    (tmp_path / "notes.txt").write_text("my notes")
    assert "no recording of this mission" in complaint(*words, "--mcap", tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "my notes"


def test_says_what_is_wrong_before_anything_else(complaint, dowsax_command, site_file, tmp_path):
    log = tmp_path / "mission.log"
    assert "missing.toml does not exist" in complaint(
        "advise", "--site", tmp_path / "missing.toml", "--log", log
    )
    assert "Not an address of a broker" in complaint(
        "advise", "--site", site_file, "--log", log, "--mqtt", "http://x"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"mqtt://127.0.0.1:{probe.getsockname()[1]}"
    code, _, stderr = dowsax_command("advise", "--site", site_file, "--log", log, "--mqtt", address)
    assert code == 1
    assert stderr.startswith("dowsax: error: No broker answers at 127.0.0.1:")
    assert "whole number from 0" in complaint("advise", "--site", site_file, "--log", log, "--seed", "-1")
    assert "Unknown policy 'luck'" in complaint(
        "advise", "--site", site_file, "--log", log, "--policy", "luck"
    )
    assert not log.exists()
    assert "does not exist" in complaint("export", log, "--to", "kml")
    assert "Unknown format 'pdf'" in complaint("export", log, "--to", "pdf")
    log.write_text("x,y,value\n")
    assert "holds no mission: give the file that" in complaint("export", log, "--to", "kml")
