"""Numbers of two samples: alike as often as their intervals promise."""

import math

import numpy as np
import pytest

from benchmarks import another_seed
from benchmarks.another_seed import Twice
from benchmarks.table_files import TABLES
from dowsax.evaluate.metrics import Estimate
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.tables import csv_of

PLACE = ("fixed", "PF", "temperature", "paper-bare", "20 readings", "RMSE@20")


def around(value: float, half: float = 1.0) -> Estimate:
    return Estimate(value, value - half, value + half, 100)


def test_samples_of_one_law_are_alike_as_often_as_promised():
    """With intervals of 1.96 known standard errors: Φ(1.96/√2) both sides are 0.834, and 0.95."""
    draws = np.random.default_rng(0).normal(size=(4000, 2))
    twice = [Twice(PLACE, around(first, 1.96), around(second, 1.96)) for first, second in draws]
    for marks, promised in (
        ([one.inside for one in twice], math.erf(1.96 / 2)),
        ([one.alike for one in twice], math.erf(1.96 / math.sqrt(2))),
    ):
        # Four standard errors of a share.
        assert np.mean(marks) == pytest.approx(promised, abs=4 * math.sqrt(promised * (1 - promised) / 4000))


def test_intervals_count_on_the_side_where_the_other_is():
    lopsided = Estimate(0.0, -9.0, 1.0, 100)
    assert not Twice(PLACE, lopsided, around(2.0)).alike
    assert Twice(PLACE, lopsided, around(-2.0)).alike


def _written(folder, **numbers: Estimate):
    line = Line(*PLACE[1:5], {name.replace("_", " "): estimate for name, estimate in numbers.items()})
    (folder / "fixed").mkdir(parents=True)
    text = csv_of(all_suites()["fixed"], [line], printed("fixed"))
    (folder / "fixed/table.csv").write_text(text, encoding="utf-8")
    return folder


def test_times_and_what_cannot_differ_are_left_out(tmp_path, monkeypatch, capsys):
    sure = {"wall_time": around(1.0), "likelihood_evaluations": around(5.0, 0.0)}
    first = _written(tmp_path / "first", coverage=around(0.9, 0.02), **sure)
    second = _written(tmp_path / "second", coverage=around(0.8, 0.02), **sure)
    (one,) = another_seed.pairs("fixed", first, second)
    assert one.place[-1] == "coverage"
    monkeypatch.setattr("sys.argv", ["another_seed", "--source", str(second), "--published", str(first)])
    another_seed.main()
    said = capsys.readouterr().out
    assert "| fixed | 1 | 0.00 | 0.00 |" in " ".join(said.split("\n")[2].split())
    assert "0.900 [0.880, 0.920] published, 0.800 [0.780, 0.820] again" in said


def test_a_folder_without_tables_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["another_seed", "--source", str(tmp_path)])
    with pytest.raises(SystemExit, match="has no table"):
        another_seed.main()


def test_the_page_shows_what_was_measured():
    folder = another_seed.FOLDER.with_name("paper-again")
    found = [one for suite in all_suites() for one in another_seed.pairs(suite, another_seed.FOLDER, folder)]
    table = (TABLES / "paper/another-seed.md").read_text(encoding="utf-8")
    assert another_seed.table(found).strip() == table.strip()
    assert another_seed.unlike(found) == []
