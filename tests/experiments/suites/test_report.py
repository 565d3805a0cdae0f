"""Every suite, small: it is rendered, it is computed once, and its numbers are those of its seed."""

import csv
import io
import json
from dataclasses import replace

import pytest
from made_suites import FIELDS

from dowsax.experiments import run, walks
from dowsax.experiments.runner import execute
from dowsax.experiments.store import Store
from dowsax.experiments.suites.measures import MEASURES
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import write
from dowsax.experiments.suites.suite import Suite, runs_of

PICTURES = {
    "id": {"summary.png"},
    "ood": {"ood.png"},
    "threshold": {"threshold.png"},
    "attention": {"attention.png", "weights.png"},
}
"""Of the suites that have their own; the others have one of their table."""
TIMES = ("REV", "wall time")
"""They are never the same twice."""
suites = pytest.mark.parametrize("name", list(all_suites()))


def numbers_in(folder):
    """The table as written, but for its times."""
    text = (folder / "table.csv").read_text(encoding="utf-8")
    return [line for line in csv.DictReader(io.StringIO(text)) if line["measure"] not in TIMES]


@pytest.mark.slow
@suites
def test_is_rendered(filled, written, name):
    folder, paper, suite = written(name), filled(), all_suites()[name]
    pictures = PICTURES.get(name, {f"{name}.png"})
    assert {path.name for path in folder.iterdir()} == {"table.md", "table.csv", "about.json"} | pictures
    for picture in pictures:
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")
    about = json.loads((folder / "about.json").read_text())
    assert about["command"] == f"dowsax reproduce {name}"
    assert (about["seeds"], about["episodes"]) == ([0], 3)
    assert {"versions", "device", "commit"} <= set(about["written"])
    assert len(about["runs"]) == len(suite.runs(paper)) > 0
    assert all(one["complete"] and one["device"] for one in about["runs"])
    table = (folder / "table.md").read_text(encoding="utf-8")
    assert f"dowsax reproduce {name}" in table
    assert "| ours, " in table
    for line in table.splitlines():
        if line.startswith(("|", "#")) and "OCE" in line:
            assert "false stops" in line


@pytest.mark.slow
def test_a_suite_that_cannot_draw_its_own_picture_has_none(filled):
    suite = replace(all_suites()["threshold"], name="undrawn", figures=lambda paper, lines: {})
    folder = write(suite, filled(), "")
    assert {path.name for path in folder.iterdir()} == {"table.md", "table.csv", "about.json"}


@pytest.mark.slow
@suites
def test_has_the_paper_beside_ours(written, name):
    """Every number the paper prints for these fields is next to one of ours, with its interval."""
    lines = numbers_in(written(name))
    beside = {(line["row"], line["column"], line["measure"]): line for line in lines}
    here = {(row, column) for row, column, _ in beside}
    for place, number in printed(name).items():
        if place[2] not in TIMES and (place[0], place[1]) in here:
            assert float(beside[place]["paper"]) == number.value
            assert set(beside[place]) >= {"value", "low", "high", "n"}
    fields = {line["column"] for line in lines} | {line["row"] for line in lines}
    assert fields & {"ID", "OOD", *FIELDS}


@pytest.mark.slow
@suites
def test_both_filters_are_in_every_suite(written, name):
    expected = {"default"} if name == "rewards" else {"paper", "default"}
    assert expected <= {line["filter"] for line in numbers_in(written(name))}


@pytest.mark.slow
def test_seeds_stand_side_by_side(filled, written, tmp_path):
    """The lines of two seeds in one table are those of the two tables."""
    suite, papers = all_suites()["priors"], [filled(seed) for seed in (0, 1)]
    both = replace(papers[0], store=Store(tmp_path), seeds=(0, 1))
    for paper in papers:
        for run_ in suite.runs(paper):
            both.store.path(run_).parent.mkdir(parents=True, exist_ok=True)
            both.store.path(run_).write_bytes(paper.store.path(run_).read_bytes())
    folder = write(suite, both, "")
    assert numbers_in(folder) == [*numbers_in(written("priors")), *numbers_in(written("priors", seed=1))]
    table = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[2].strip() for line in table if "ours" in line]
    kinds = ("paper, contraction-0.5", "default, contraction-0.5")
    assert rows[:4] == [f"ours, {kind}, seed {seed}" for kind in kinds for seed in (0, 1)]


@pytest.mark.slow
@suites
def test_is_computed_once_and_its_numbers_stay(filled, written, name, monkeypatch):
    paper, suite = filled(), all_suites()[name]
    before = numbers_in(written(name))

    def computed(*_, **__):
        raise AssertionError("something was computed")

    monkeypatch.setattr(run, "run_episodes", computed)
    monkeypatch.setattr(walks, "locate", computed)
    execute(paper.store, suite.runs(paper))
    assert numbers_in(write(suite, paper, f"dowsax reproduce {name}")) == before


@pytest.mark.slow
@suites
def test_another_seed_gives_other_numbers(written, name):
    first, second = written(name), written(name, seed=1)
    assert numbers_in(first) != numbers_in(second)


@pytest.mark.slow
def test_the_same_seed_elsewhere_gives_the_same_numbers(filled, written, tmp_path):
    suite = all_suites()["threshold"]
    again = replace(filled(), store=Store(tmp_path))
    execute(again.store, suite.runs(again))
    assert numbers_in(write(suite, again, "")) == numbers_in(written("threshold"))


@pytest.mark.slow
def test_suites_that_read_again_compute_nothing_of_their_own(filled):
    paper, known = filled(), all_suites()
    searched = set(runs_of([known[name] for name in ("id", "ood", "shift")], paper))
    for name in ("threshold", "calibration", "criteria", "threshold-robustness", "trajectories"):
        assert set(known[name].runs(paper)) <= searched


@pytest.mark.slow
def test_only_the_papers_own_system_stands_beside_the_papers_numbers(written):
    lines = numbers_in(written("ood"))
    parts = ("", ", west", ", east", ", as in training")
    rows = list(dict.fromkeys(line["row"] for line in lines))
    assert rows[:12] == [
        f"{row}{part}" for row in ("att-pfrl-paper", "pfrl", "pfrl-guarded") for part in parts
    ]
    assert "drop" in {line["measure"] for line in lines if line["row"] == "pfrl-guarded"}
    assert any(line["paper"] for line in lines if line["row"] == "att-pfrl-paper")
    assert not any(line["paper"] for line in lines if line["row"] in ("pfrl", "pfrl-guarded", "infotaxis"))


def two_runs_of(paper, suite, folder):
    """A folder with the second and third run of a suite only."""
    partial = replace(paper, store=Store(folder))
    for one in suite.runs(paper)[1:3]:
        partial.store.path(one).parent.mkdir(parents=True)
        partial.store.path(one).write_bytes(paper.store.path(one).read_bytes())
    return partial


@pytest.mark.slow
def test_what_is_missing_is_left_out(filled, tmp_path):
    """Half of the runs give half of the table, which says so."""
    paper, suite = filled(), all_suites()["priors"]
    partial = two_runs_of(paper, suite, tmp_path)
    folder = write(suite, partial, "")
    assert f"- runs: 2 of {len(suite.runs(paper))}" in (folder / "table.md").read_text(encoding="utf-8")
    assert write(all_suites()["id"], partial, "") is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["priors", "ood"])
def test_what_is_missing_is_taken_from_an_earlier_table(filled, written, tmp_path, name):
    """Some runs and the lines of the whole table are the whole table, in its order."""
    paper, suite = filled(), all_suites()[name]
    whole = written(name)
    folder = write(suite, two_runs_of(paper, suite, tmp_path), "", earlier=whole.parent)
    assert numbers_in(folder) == numbers_in(whole)
    assert "- lines of an earlier table: " in (folder / "table.md").read_text(encoding="utf-8")
    assert "lines of an earlier table" not in (whole / "table.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_an_earlier_table_that_is_none_is_refused(filled, tmp_path):
    paper, suite = filled(), all_suites()["priors"]
    folder = tmp_path / "earlier" / "priors"
    folder.mkdir(parents=True)
    partial = two_runs_of(paper, suite, tmp_path / "new")
    (folder / "table.csv").write_text("row,value\n1,2\n", encoding="utf-8")
    with pytest.raises(ValueError, match="is no table of `dowsax reproduce`: its columns"):
        write(suite, partial, "", earlier=tmp_path / "earlier")
    heading = "suite,row,column,filter,stop,seed,measure,value,low,high,n,paper,paper_spread,paper_bound"
    (folder / "table.csv").write_text(f"{heading}\npriors,a,b,c,d,0,OCE,much,,,3,,,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="could not convert"):
        write(suite, partial, "", earlier=tmp_path / "earlier")


def test_no_suite_shows_stops_without_false_stops():
    with pytest.raises(ValueError, match="without its false stops"):
        Suite("one", "", "", lambda paper: [], ("OCE", "ADE"))
    with pytest.raises(ValueError, match="Unknown measure"):
        Suite("one", "", "", lambda paper: [], ("OCD",))


def test_every_measure_says_what_it_is():
    assert all(measure.meaning for measure in MEASURES.values())
