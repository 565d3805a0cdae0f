"""What the console tells of stops: rehearsals of the site, what was measured for the field, or a command."""

import shlex

import pytest
from made_rehearsals import rehearsal_of

WALKED = ([5.0, 5.0], 0.4)


def rehearse(command, rehearsal):
    """What the command leaves behind: the file next to the site file that it names."""
    from pathlib import Path

    from dowsax.mission.rehearsal import rehearsal_path, rehearsal_text

    words = shlex.split(command)
    assert words[:2] == ["dowsax", "rehearse"]
    file = Path(words[2])
    rehearsal_path(file).write_text(rehearsal_text(rehearsal))
    return file, words[3:]


def stops_of(client, mission):
    return client.get(f"/api/missions/{mission}").json()["false_stops"]


@pytest.fixture
def site(site_text):
    return site_text().replace("Simulated temperature", "A site of its own for rehearsals")


def test_a_site_that_was_not_rehearsed_names_the_command_that_does(begin, client, site):
    """The command names a file that holds the very site; once it has run, its numbers are told instead."""
    mission = begin(site=site)
    told = mission["false_stops"]
    assert (told["rate"], told["measured_for"]) == (None, "nothing")
    assert "not measured" in told["sentence"]
    file, options = rehearse(told["command"], rehearsal_of(site, mission))
    assert options == ["--policy", mission["policy"]]
    assert file.read_text() == site
    told = stops_of(client, mission["id"])
    assert told["rate"] == pytest.approx(4 / 130)
    assert (told["low"], told["high"], told["stops"], told["measured_for"]) == (0.012, 0.076, 130, "site")
    assert told["sentence"].startswith("in 160 rehearsals of this site, 4 of 130 stops were wrong")
    assert told["command"] is None
    # An equal site and policy is the same site; another policy is not.
    assert begin(site=site)["false_stops"]["measured_for"] == "site"
    assert begin(site=site, policy="random")["false_stops"]["measured_for"] == "nothing"


def test_a_rehearsal_of_another_filter_is_not_quoted(begin, client, site_text):
    from dataclasses import replace

    site = site_text().replace("Simulated temperature", "Another one")
    mission = begin(site=site)
    other = replace(rehearsal_of(site, mission), preset="default, 65 particles")
    rehearse(mission["false_stops"]["command"], other)
    told = stops_of(client, mission["id"])
    assert told["measured_for"] == "nothing"
    assert "is of another filter" in told["sentence"]


def test_a_stop_quotes_a_rehearsal_made_after_the_start(begin, client, site_text):
    """The advisor of a mission says the same as its page."""
    site = site_text().replace("Simulated temperature", "A third")
    mission = begin(site=site)
    host = client.app.state.console.missions[mission["id"]]
    assert mission["false_stops"]["command"] in host._advisor.false_stops
    rehearse(mission["false_stops"]["command"], rehearsal_of(site, mission))
    body = {"position": WALKED[0], "value": WALKED[1]}
    assert client.post(f"/api/missions/{mission['id']}/readings", json=body).status_code == 200
    assert host._advisor.false_stops == stops_of(client, mission["id"])["sentence"]


def test_a_site_file_that_was_named_is_looked_beside_first(tmp_path, site_text):
    """As long as it says what it said; else its copy in the folder of missions is the one to rehearse."""
    from dowsax.console.records import MissionRecord
    from dowsax.console.stop_statistics import find_site_file, stop_statistics

    text = site_text()
    named, copy = tmp_path / "yard.toml", tmp_path / "copy.toml"
    named.write_text(text)
    facts = {"false_stops": None, "filter": "default, 64 particles", "particles": 64}
    record = MissionRecord("0" * 12, "yard", "real", "now", text, "greedy", 3, facts, file=str(named))
    told = stop_statistics(record, copy)
    assert told["command"] == f"dowsax rehearse {named} --policy greedy"
    rehearse(told["command"], rehearsal_of(text, {"policy": "greedy", "particles": 64}))
    assert stop_statistics(record, copy)["measured_for"] == "site"
    named.with_suffix(".rehearsal.json").unlink()
    named.write_text(text + "# changed\n")
    assert find_site_file(record, copy) == copy


def test_simulations_quote_what_was_measured_for_them_and_no_other(tmp_path):
    """Of the field where sources are expected; another filter or scenario is measured by its own command."""
    from dowsax.console.advisor_cache import AdvisorCache
    from dowsax.console.bodies import MissionBody
    from dowsax.console.create_mission import create_record
    from dowsax.console.stop_statistics import stop_statistics

    def told(**body):
        asked = MissionBody(type="simulated", field="temperature", policy="greedy", seed=3, **body)
        return stop_statistics(create_record(asked, AdvisorCache())[0], tmp_path / "none.toml")

    usual = told()
    assert usual["measured_for"] == "field"
    assert 0 <= usual["low"] <= usual["rate"] <= usual["high"] <= 1
    small = told(particles=64)
    words = "dowsax evaluate --policy greedy --field temperature --scenario id --particles 64"
    assert (small["measured_for"], small["command"]) == ("nothing", words)
    outside = told(scenario="ood")
    assert outside["measured_for"] == "nothing"
    assert "--scenario ood --particles 2048" in outside["command"]


def test_the_command_for_a_simulation_is_understood():
    """By the program itself; nothing is run."""
    from dowsax.cli import app

    words = "evaluate --policy greedy --field temperature --scenario ood --particles 64"
    _, bound, _ = app.parse_args(shlex.split(words))
    assert bound.arguments["scenario"] == "ood"
    assert bound.arguments["particles"] == 64
