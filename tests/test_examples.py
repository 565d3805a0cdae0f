"""The examples run as they are and find what they are looking for."""

import json
import re
import runpy
import tempfile
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
AREAS = {"leak_survey": 120 * 80, "radiation_survey": 60 * 40}
"""[m²], of the surveys: in which a source that nobody has looked for may be anywhere."""


def radius(weights, distances, probability):
    """Within which of the distances lies this share of the weight."""
    order = np.argsort(distances)
    return distances[order][np.searchsorted(np.cumsum(weights[order]) / weights.sum(), probability)]


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_prints_what_it_found(path, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search("Posterior given|stopped: |the source is at|Likely near", printed)
    assert "nan" not in printed
    if path.stem in AREAS:
        (folder,) = tmp_path.glob("*/result")
        assert (folder / "report.html").exists()
        error = float(re.findall(r"It is ([\d.]+) m off", printed)[0])
        belief = np.genfromtxt(folder / "posterior.csv", delimiter=",", names=True)
        estimate = json.loads((folder / "summary.json").read_text())["position"]
        distances = np.hypot(belief["x"] - estimate["x"], belief["y"] - estimate["y"])
        # No farther off than the belief says of 999 sources in 1000, nor than 1 in 100 blind guesses.
        assert error <= radius(belief["weight"], distances, 0.999)
        assert np.pi * error**2 <= AREAS[path.stem] / 100
