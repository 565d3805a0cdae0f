"""`dowsax demo`: a search whose readings can be located again."""

import json
from importlib import import_module

import pytest

from dowsax.survey import read_survey


def test_demo_leaves_pictures_readings_and_truth(dowsax_command, tmp_path, monkeypatch):
    """On the programs that the tests of searches have compiled."""
    module = import_module("dowsax.cli.demo")
    small = {"_FIELD": "temperature", "BEST_POLICY": "greedy", "_PARTICLES": 64, "_MAX_READINGS": 6}
    for name, value in small.items():
        monkeypatch.setattr(module, name, value)
    out = tmp_path / "demo"
    code, stdout, stderr = dowsax_command("demo", "--out", out)
    assert (code, stderr) == (0, "")
    written = {"search.gif", "end.png", "search.json", "survey.csv", "truth.json"}
    assert {path.name for path in out.iterdir()} == written
    assert all(str(out / name) in stdout for name in written)
    document = json.loads((out / "search.json").read_text())
    survey = read_survey(out / "survey.csv")
    assert survey.values == pytest.approx([step["reading"] for step in document["steps"]])
    source = json.loads((out / "truth.json").read_text())
    assert source == document["truth"]
    assert f"({source['x']:.2f}, {source['y']:.2f})" in stdout


def test_the_folder_is_checked_first(complaint, tmp_path):
    (tmp_path / "file").write_text("")
    assert "Cannot make the folder" in complaint("demo", "--out", tmp_path / "file")
