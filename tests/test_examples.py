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


def test_a_plain_training_loop_beats_random_moves():
    """The last searches learn more than the first ones, whose moves are random, by five standard errors."""
    example = runpy.run_path(str(EXAMPLES[0].with_name("train_in_jax.py")))
    returns = np.asarray(example["train"](example["Sizes"](searches=48, moves=12, updates=25, particles=32)))
    assert returns.shape == (25, 48)
    random, trained = returns[0], returns[-3:].ravel()
    error = np.sqrt(random.var() / random.size + trained.var() / trained.size)
    assert trained.mean() > random.mean() + 5 * error


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_runs_and_prints_what_it_found(path, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search("Posterior given|stopped: |the source is at|Likely near|trained ones", printed)
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
