"""Who has to wait is told so, on stderr, and who has not, is not."""

import json
import time
from contextlib import contextmanager
from importlib import import_module

import pytest
from made_rehearsals import rehearsal_of

from dowsax.cli import console, run
from dowsax.cli.console import COMPILING, FIRST_TIME, preparing
from dowsax.evaluate.missions import RehearsalConfig, Simulated
from dowsax.experiments.run import Run
from dowsax.inference.locate import _PADDED_LENGTHS
from dowsax.mission.plan import Plan
from dowsax.site import parse_site


def test_a_long_preparation_is_reported_in_a_line_that_stays(capsys):
    """Once, while it is under way; stdout is for answers."""
    with preparing("Preparing", patience=0.01):
        for _ in range(500):
            if (told := capsys.readouterr()) != ("", ""):
                break
            time.sleep(0.01)
    assert told == ("", f"dowsax: Preparing: {FIRST_TIME}.\n")
    assert capsys.readouterr() == ("", "")


def test_the_hint_names_every_size_that_compiles_again():
    """The padded lengths of surveys; and the times of sites, not of benchmark fields alone."""
    sizes = ", ".join(str(length) for length in _PADDED_LENGTHS[:3])
    assert f"up to {sizes}, … readings" in FIRST_TIME
    assert "1 to 2 minutes for a site, up to 6 with" in FIRST_TIME


def test_a_short_one_is_not_reported(capsys):
    with preparing("Preparing", patience=0.2):
        pass
    time.sleep(0.4)
    assert capsys.readouterr() == ("", "")


def test_what_fails_at_once_says_only_what_is_wrong(capsys):
    with pytest.raises(ValueError, match="no such site"), preparing("Preparing", patience=0.2):
        raise ValueError("no such site")
    time.sleep(0.4)
    assert capsys.readouterr() == ("", "")


def test_locating_is_such_a_preparation(capsys, monkeypatch, survey_file):
    monkeypatch.setattr(console, "_PATIENCE_S", 0.0)
    assert run(["locate", str(survey_file()), "--field", "temperature", "--particles", "64", "--json"]) == 0
    stdout, stderr = capsys.readouterr()
    assert json.loads(stdout)["readings"] == 6
    assert stderr == f"dowsax: Locating the source from 6 readings: {FIRST_TIME}.\n"


def test_evaluating_says_that_it_compiles(capsys, monkeypatch, tmp_path):
    """Also where that takes long after a shard was begun."""
    compute = Run.compute

    def slow(*arguments):
        time.sleep(0.5)
        return compute(*arguments)

    monkeypatch.setattr(console, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(Run, "compute", slow)
    words = ["--policy", "greedy", "--field", "temperature", "--particles", "64", "--max-readings", "6"]
    assert run(["evaluate", *words, "--episodes", "2", "--out", str(tmp_path / "run"), "--json"]) == 0
    assert capsys.readouterr().err == f"dowsax: Preparing the searches: {FIRST_TIME}.\n"


def test_a_rehearsal_says_that_it_compiles(capsys, monkeypatch):
    """In a line, and in the bar until the programs of a policy are compiled."""
    shown = []

    @contextmanager
    def bar(total):
        shown.append(total)
        yield shown.append, shown.append

    def simulate(plan, config, policy, on_progress):
        time.sleep(0.5)
        on_progress(0)
        on_progress(config.missions)
        return Simulated(rehearsal_of("", {"policy": policy.name, "particles": 64}), ())

    rehearse = import_module("dowsax.cli.rehearse")
    monkeypatch.setattr(console, "_PATIENCE_S", 0.1)
    monkeypatch.setattr(rehearse, "counting", bar)
    monkeypatch.setattr(rehearse, "simulate", simulate)
    plan = Plan.of(parse_site('[area]\nlow = [0, 0]\nhigh = [9, 9]\n[field]\nkind = "level"\n'))
    rehearse._simulate([plan], [plan.site_policy("random")], RehearsalConfig(10, 0.2))
    first, best = "missions of random", "missions of oracle"
    assert shown[:6] == [18, f"{first}: {COMPILING}", first, 0, first, 10]
    assert shown[6:] == [f"{best}: {COMPILING}", best, 0, best, 8]
    assert capsys.readouterr() == ("", f"dowsax: Preparing the missions: {FIRST_TIME}.\n")
