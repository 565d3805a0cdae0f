"""`dowsax simulate`: surveys that can be read back."""

import json

import numpy as np

import dowsax
from dowsax.survey import read_survey


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
