"""`dowsax simulate` and `dowsax demo`: surveys that can be read back, and a demo that tells its error."""

import json
import math
from importlib import import_module

import numpy as np
import pytest

import dowsax
from dowsax.cli.survey_csv import read_survey


def test_writes_a_survey_and_its_truth(dowsax_command, tmp_path):
    out, truth = tmp_path / "survey.csv", tmp_path / "truth.json"
    words = ("simulate", "--field", "gas", "--kind", "wander", "--readings", "9", "--seed", "3")
    code, stdout, stderr = dowsax_command(*words, "--out", out, "--truth", truth)
    assert (code, stderr) == (0, "")
    assert stdout.splitlines() == [f"Wrote 9 readings to {out}", f"Wrote the true parameters to {truth}"]
    survey = read_survey(out)
    steps = np.abs(np.diff(np.asarray(survey.positions), axis=0)).sum(axis=1)
    assert len(survey.values) == 9
    assert (steps < 1 + 1e-5).all()
    assert all(value == 0 or value > 0.005 for value in survey.values)
    source = json.loads(truth.read_text())
    assert list(source) == [parameter.name for parameter in dowsax.world.PARAMETERS]
    assert 5 <= source["x"] <= 20
    first = out.read_bytes()
    dowsax_command(*words, "--out", out)
    assert out.read_bytes() == first


def test_bad_input(complaint, tmp_path):
    out = tmp_path / "survey.csv"
    assert "at least 1 reading" in complaint("simulate", "--readings", "0", "--out", out)
    assert "temperature" in complaint("simulate", "--field", "radio", "--out", out)
    assert "does not exist" in complaint("simulate", "--out", tmp_path / "missing" / "survey.csv")
    assert "kind" in complaint("simulate", "--kind", "fly", "--out", out)
    assert not out.exists()
    (tmp_path / "file").write_text("")
    assert "Cannot make the folder" in complaint("demo", "--out", tmp_path / "file")


def test_demo_finds_its_source_and_says_how_far_off(dowsax_command, tmp_path, monkeypatch):
    """Files, table, verdict, true position and error; on the program that the other tests have compiled."""
    located = dowsax.locate
    few = {"particles": 64}
    monkeypatch.setattr(dowsax, "locate", lambda *given, **settings: located(*given, **settings | few))
    module = import_module("dowsax.cli.demo")
    monkeypatch.setattr(module, "_FIELD", "temperature")
    monkeypatch.setattr(module, "_READINGS", 32)
    out = tmp_path / "demo"
    code, stdout, stderr = dowsax_command("demo", "--out", out)
    assert (code, stderr) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["map.png", "survey.csv", "truth.json"]
    source = json.loads((out / "truth.json").read_text())
    *_, truth_line, files_line = stdout.splitlines()
    assert f"({source['x']:.2f}, {source['y']:.2f})" in truth_line
    assert float(truth_line.split(" m off")[0].split()[-1]) == pytest.approx(0, abs=math.sqrt(2))
    assert str(out / "map.png") in files_line
