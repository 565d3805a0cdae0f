"""The tables of the docs have the numbers that the suites have written."""

import shutil

import pytest

from benchmarks import paper_tables
from benchmarks.table_files import TABLES
from dowsax.evaluate.metrics import Estimate
from dowsax.experiments.run import CONTRACTION, CREDIBLE
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.printed import printed
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.searches import FIELDS
from dowsax.experiments.suites.tables import csv_of, text_of


def made(rate):
    """What the policy of the page might come to on the first field alone, with both filters and rules."""
    numbers = {
        "OCE": rate,
        "false stops": Estimate(0.04, 0.03, 0.06, 90),
        "ADE": Estimate(20.0, 19.0, 21.0, 90),
    }
    numbers |= {"drop": Estimate(0.02, -0.01, 0.05, 100), "kept": Estimate(0.8, 0.7, 0.9, 100)}
    kinds = (("paper", CONTRACTION), ("default", CONTRACTION), ("default", CREDIBLE))
    return [Line(paper_tables.OURS, FIELDS[0], filter_, str(rule), dict(numbers)) for filter_, rule in kinds]


@pytest.fixture
def source(tmp_path):
    """A folder of three suites of which the levels are made, and of a small one."""
    for name in ("id", "ood", "shift", "threshold-robustness"):
        suite, lines = all_suites()[name], made(Estimate(0.9, 0.85, 0.95, 100))
        folder = tmp_path / name
        folder.mkdir()
        (folder / "table.csv").write_text(csv_of(suite, lines, printed(name)), encoding="utf-8")
        (folder / "table.md").write_text("## Heading\n\nWords.\n\n" + text_of(suite, lines, printed(name)))
    (tmp_path / "id/summary.png").write_bytes(b"picture")
    return tmp_path


def test_numbers_come_back_as_they_were_written(source):
    found = paper_tables.read(source, "id")
    assert found.at(paper_tables.OURS, FIELDS[0], "default", CREDIBLE, "OCE") == Estimate(
        0.9, 0.85, 0.95, 100
    )
    assert found.said(paper_tables.OURS, FIELDS[0], "paper", CONTRACTION, "ADE") == "20.0 [19.0, 21.0]"


def test_what_was_not_measured_is_a_dash(source):
    found = paper_tables.read(source, "id")
    assert found.said(paper_tables.OURS, FIELDS[1], "default", CREDIBLE, "OCE") == "–"
    assert paper_tables.read(source, "mixing").numbers == {}
    line = paper_tables.comparison(found).splitlines()[3]
    assert line.startswith(f"| {FIELDS[1]}")
    assert line.count("–") == 6


def test_levels_are_judged_by_the_value(source):
    """The paper has 0.95 on the first field, so 0.9 misses it; false stops and drop are within."""
    line = paper_tables.levels(source).splitlines()[2]
    assert "0.900 [0.850, 0.950], ≥ 0.95 missed, within the interval" in line
    assert "0.040 [0.030, 0.060], ≤ 0.08 reached" in line
    assert "0.040 [0.030, 0.060], ≤ 0.05 reached" in line
    assert "0.020 [-0.010, 0.050], ≤ 0.05 reached" in line
    assert "0.800 [0.700, 0.900], ≥ 0.9 missed, within the interval" in line
    assert "not measured" in line


def test_a_small_table_is_taken_whole_without_its_heading(source):
    text = paper_tables.whole(source, "threshold-robustness")
    assert "Heading" not in text
    assert "Words" not in text
    assert f"| {paper_tables.OURS}" in text


def test_rewards_have_their_seeds_beside_them():
    rates = {"R1": 0.96, "R1, seed 0": 0.95, "R1, seed 2": 0.97}
    numbers = {
        (row, "temperature", "default", str(CREDIBLE), "OCE"): Estimate(rate, rate - 0.01, rate + 0.01, 1000)
        for row, rate in rates.items()
    }
    first, second = paper_tables.rewarded(paper_tables.Found("rewards", numbers)).splitlines()[2:4]
    assert [word.strip() for word in first.split("|")[1:6:2]] == ["R1", "–", "0.960 [0.950, 0.970]"]
    assert "| 0.950 0.970  " in first
    assert second.startswith("| R2")
    assert "0.9" not in second.replace(printed("rewards")["R2", "temperature", "OCE"].text, "")


def test_suites_that_are_not_there_have_no_table(source):
    assert set(paper_tables.tables(source)) == {"id", "ood", "shift", "threshold-robustness", "levels"}


def test_copies_what_was_written_and_nothing_else(source, tmp_path):
    for name in ("about.json", "notes.txt"):
        (source / "id" / name).write_text("{}")
    paper_tables.copied(source, tmp_path / "tables", tmp_path / "pictures")
    assert {path.name for path in (tmp_path / "tables/id").iterdir()} == {
        "table.md",
        "table.csv",
        "about.json",
    }
    assert [path.name for path in (tmp_path / "pictures").iterdir()] == ["summary.png"]


def test_a_table_without_a_picture_gets_one(source, tmp_path):
    pictures = tmp_path / "pictures"
    paper_tables.drawn(source, pictures)
    assert (pictures / "shift.png").read_bytes().startswith(b"\x89PNG")
    assert not (pictures / "id.png").exists()
    assert not (pictures / "mixing.png").exists()


def test_levels_know_suites_that_were_written_another_time(source, tmp_path, monkeypatch):
    folder, later, out = tmp_path / "tables", tmp_path / "later", tmp_path / "out"
    paper_tables.copied(source, folder, tmp_path / "pictures")
    shutil.copytree(source / "id", later / "id")
    words = ("--source", later, "--folder", folder, "--pictures", tmp_path / "pictures", "--out", out)
    monkeypatch.setattr("sys.argv", ["paper_tables", *map(str, words)])
    paper_tables.main()
    assert (out / "levels.md").read_text().strip() == paper_tables.levels(source).strip()


def test_the_files_are_those_of_the_numbers():
    found = paper_tables.tables(paper_tables.FOLDER)
    assert set(found) == {*all_suites(), "levels"}
    for name, text in found.items():
        path = TABLES / "paper" / f"{name}.md"
        assert path.read_text(encoding="utf-8").strip() == text.strip(), name
