"""`dowsax rehearse`: simulated missions of a site, a file next to it, and who quotes it."""

import io
import json

import pytest

from dowsax.evaluate.missions import Simulated, summarise_missions
from dowsax.mission.advice import FOUND
from dowsax.mission.rehearsal import SimulatedMission

SITE = """
name = "yard"
[area]
low = [0, 0]
high = [60, 40]
[[no_go]]
corners = [[25, 15], [35, 15], [35, 25], [25, 25]]
[field]
kind = "level"
unit = "dB"
[step]
length = 6
directions = 12
[budget]
readings = 8
[search]
preset = "default"
particles = 64
radius = 3
"""


@pytest.fixture
def site_file(tmp_path):
    path = tmp_path / "yard.toml"
    path.write_text(SITE)
    return path


@pytest.mark.slow
def test_missions_are_counted_kept_drawn_and_quoted(dowsax_command, monkeypatch, site_file, tmp_path):
    """The file next to the site, the picture, the words; then the advisor tells of it."""
    words = ("rehearse", site_file, "--missions", "5", "--without-source", "0.4", "--seed", "3")
    code, stdout, stderr = dowsax_command(*words, "--plot", tmp_path / "yard.png")
    assert code == 0, stderr
    kept = json.loads((tmp_path / "yard.rehearsal.json").read_text())
    assert (kept["name"], kept["policy"], kept["preset"]) == (
        "yard",
        "location-gain",
        "default, 64 particles",
    )
    assert [mission["source"] is None for mission in kept["missions"]] == [False] * 3 + [True] * 2
    assert all(mission["readings"] <= 8 for mission in kept["missions"])
    assert (kept["stopped"]["of"], kept["found_nothing"]["of"]) == (3, 2)
    assert f"found{' ' * 27}{kept['stopped']['count']} of 3: " in stdout
    assert "yard: 3 rehearsals with a source, 2 without, by location-gain" in stdout
    assert (tmp_path / "yard.png").read_bytes().startswith(b"\x89PNG")

    assert "yard: 3 rehearsals with a source, 0 without, by oracle" in stdout
    assert "oracle against location-gain: found " in stdout

    compared = ("--policy", "location-gain", "--policy", "random")
    again = dowsax_command(*words, *compared, "--json", "--out", tmp_path / "again.json")
    assert json.loads((tmp_path / "again.json").read_text()) == kept
    first, other, oracle = json.loads(again.stdout)
    assert [one["policy"] for one in (first, other, oracle)] == ["location-gain", "random", "oracle"]
    assert [one["missions"] for one in (first, other, oracle)] == [3, 3, 3]
    assert first["found"] == kept["stopped"]["count"] / 3
    assert first["found_interval"] == [kept["stopped"]["low"], kept["stopped"]["high"]]
    assert first["found_minus_first"] == 0
    assert {"wrong_given_found", "covered95", "inconclusive", "readings_median"} < oracle.keys()

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    advise = ("advise", "--site", site_file, "--log")
    quoted = (
        f"In 3 rehearsals of this site, {kept['false_stops']['count']} of {kept['false_stops']['of']} stops"
    )
    assert quoted in dowsax_command(*advise, tmp_path / "mission.log").stderr

    site_file.write_text(SITE.replace("radius = 3", "radius = 4"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    told = dowsax_command(*advise, tmp_path / "other.log").stderr
    assert "was not measured for this field and rule" in told
    assert "is of another site file): `dowsax rehearse" in told


@pytest.mark.slow
def test_the_same_missions_by_more_searchers(dowsax_command, site_file, tmp_path):
    """One row for each number, of which that of the site is saved."""
    words = ("rehearse", site_file, "--missions", "2", "--without-source", "0", "--searchers", "2,1")
    code, stdout, stderr = dowsax_command(*words, "--json")
    assert code == 0, stderr
    two, one, oracle = json.loads(stdout)
    assert [row["searchers"] for row in (two, one, oracle)] == [2, 1, 2]
    assert two["time_of_first"] in (1.0, None)
    assert json.loads((tmp_path / "yard.rehearsal.json").read_text())["searchers"] == 1


def test_each_number_of_searchers_is_compared_with_the_first(
    dowsax_command, monkeypatch, site_file, tmp_path
):
    """Two need half the time of one: their row says so, and that of one is saved."""

    def simulate(plan, config, policy, on_progress):
        seconds = 60.0 / max(len(plan.searchers), 1)
        ended = SimulatedMission(FOUND, (9.0, 9.0), (9.0, 9.5), 0.5, 2.0, 5, 20.0, seconds)
        on_progress(config.missions)
        return Simulated(summarise_missions(plan, policy, config, [ended] * config.missions), ())

    monkeypatch.setattr("dowsax.cli.rehearse.simulate", simulate)
    words = ("rehearse", site_file, "--missions", "3", "--without-source", "0", "--searchers", "1,2")
    code, stdout, stderr = dowsax_command(*words, "--json")
    assert code == 0, stderr
    one, two, oracle = json.loads(stdout)
    assert [row["searchers"] for row in (one, two, oracle)] == [1, 2, 1]
    assert [row["time_of_first"] for row in (one, two, oracle)] == [1.0, 0.5, 1.0]
    assert [row["policy"] for row in (one, two, oracle)] == ["location-gain", "location-gain", "oracle"]
    assert json.loads((tmp_path / "yard.rehearsal.json").read_text())["searchers"] == 1


def test_says_what_is_wrong_before_any_work(complaint, site_file, tmp_path):
    """In one line, with nothing written."""
    missing = tmp_path / "missing.toml"
    assert "missing.toml does not exist" in complaint("rehearse", missing)
    for wrong in ("0", "2,2", "two", "99"):
        said = complaint("rehearse", site_file, "--searchers", wrong)
        assert said.startswith("--searchers must be different numbers from 1 to 20, such as 1,2,4; got")
    damaged = tmp_path / "damaged.toml"
    damaged.write_text("[area\n")
    assert complaint("rehearse", damaged).startswith(str(damaged))
    assert "`missions` must be at least 1" in complaint("rehearse", site_file, "--missions", "0")
    assert "from 0 to 1" in complaint("rehearse", site_file, "--without-source", "20")
    assert "must be > 0 m/s" in complaint("rehearse", site_file, "--speed", "-1")
    assert "whole number from 0" in complaint("rehearse", site_file, "--seed", "-1")
    assert "Unknown policy 'luck'" in complaint("rehearse", site_file, "--policy", "luck")
    said = complaint("rehearse", site_file, "--policy", "random", "--policy", "zigzag")
    assert "The policy 'zigzag' needs the parameters of the benchmark" in said
    nowhere = tmp_path / "nowhere" / "out.json"
    assert "does not exist" in complaint("rehearse", site_file, "--out", nowhere)
    assert "it is a folder" in complaint("rehearse", site_file, "--out", tmp_path)
    assert "Unknown picture format" in complaint("rehearse", site_file, "--plot", tmp_path / "map.gif")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged.toml", "yard.toml"]
