"""The examples run as they are and find what they are looking for."""

import re
import runpy
import tempfile
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NEAR_ENOUGH = {"leak_survey": 6.0, "radiation_survey": 1.0}
"""[m], set by hand: a small part of each area."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_prints_what_it_found(path, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert "Posterior given" in printed or "stopped: " in printed or "The source is at" in printed
    assert "nan" not in printed
    if path.stem in NEAR_ENOUGH:
        assert float(re.findall(r"It is ([\d.]+) m off", printed)[0]) < NEAR_ENOUGH[path.stem]
        assert list(tmp_path.glob("*/result/report.html"))
