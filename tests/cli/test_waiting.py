"""Who has to wait is told so, on stderr, and who has not, is not."""

import json
import time

import pytest

from dowsax.cli import console, run
from dowsax.cli.console import FIRST_TIME, preparing


def test_a_long_preparation_is_reported_in_a_line_that_stays(capsys):
    """Once, while it is under way; stdout is for answers."""
    with preparing("Preparing", patience=0.01):
        for _ in range(500):
            if (told := capsys.readouterr()) != ("", ""):
                break
            time.sleep(0.01)
    assert told == ("", f"dowsax: Preparing: {FIRST_TIME}.\n")
    assert capsys.readouterr() == ("", "")


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
    monkeypatch.setattr(console, "_PATIENCE_S", 0.0)
    words = ["--policy", "greedy", "--field", "temperature", "--particles", "64", "--max-readings", "6"]
    assert run(["evaluate", *words, "--episodes", "2", "--out", str(tmp_path / "run"), "--json"]) == 0
    assert capsys.readouterr().err == f"dowsax: Preparing the searches: {FIRST_TIME}.\n"
