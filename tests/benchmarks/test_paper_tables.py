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
        "OCE by training seed": Estimate(0.9, 0.82, 0.97, 3),
    }
    numbers |= {"drop": Estimate(0.02, -0.01, 0.05, 100), "kept": Estimate(0.8, 0.7, 0.9, 100)}
    kinds = (("default", CONTRACTION), ("default", CREDIBLE))
    lines = [Line(paper_tables.OURS, FIELDS[0], filter_, str(rule), dict(numbers)) for filter_, rule in kinds]
    lines.append(Line(paper_tables.PAPER, FIELDS[0], "paper", str(CONTRACTION), dict(numbers)))
    return [line._replace(seed=seed) for seed in (0, 1) for line in lines]


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
    assert found.said(paper_tables.PAPER, FIELDS[0], "paper", CONTRACTION, "ADE") == "20.0 [19.0, 21.0]"


def test_what_was_not_measured_is_a_dash(source):
    found = paper_tables.read(source, "id")
    assert found.said(paper_tables.OURS, FIELDS[1], "default", CREDIBLE, "OCE") == "–"
    assert paper_tables.read(source, "mixing").numbers == {}
    first, *_ = [line for line in paper_tables.comparison(found).splitlines() if FIELDS[0] in line]
    assert first.count("–") == 9
    assert first.count("0.900 [0.850, 0.950]") == 1


def test_stop_rates_have_those_of_the_training_seeds_beside_them(source):
    """Every suite with two test seeds; a policy without training has a dash."""
    for suite in paper_tables.COMPARED:
        text = paper_tables.tables(source)[suite].splitlines()
        assert "by training seed" in text[0]
        assert text[2].count("0.820 to 0.970") == (2 if suite == "shift" else 1)
    found = paper_tables.read(source, "id")
    assert found.span("infotaxis", FIELDS[0], "default", CREDIBLE) == "–"


def test_the_papers_own_system_has_a_line_for_each_field_and_test_seed(source):
    lines = paper_tables.as_printed(paper_tables.read(source, "id")).splitlines()[2:]
    assert len(lines) == 2 * len(FIELDS)
    words = [word.strip() for word in lines[1].strip("|").split("|")]
    assert words[:4] == [FIELDS[0], "1", "0.95 ± 0.05", "0.900 [0.850, 0.950]"]


def test_seeds_agree_within_the_interval_of_their_difference(source):
    """Half-widths of 3 and 4 make one of 5."""
    one = Estimate(10.0, 7.0, 13.0, 9)
    assert paper_tables.agrees(one, Estimate(15.0, 11.0, 19.0, 9))
    assert not paper_tables.agrees(one, Estimate(15.1, 11.1, 19.1, 9))
    assert not paper_tables.agrees(Estimate(15.1, 11.1, 19.1, 9), one)
    rows = paper_tables.agreement(source).splitlines()[2:]
    assert [word.strip() for word in rows[0].strip("|").split("|")] == ["id", "9", "9", "1.000"]


def test_levels_are_judged_by_the_value(source):
    """The paper has 0.95 on the first field, so 0.9 misses it; false stops and drop are within."""
    line = paper_tables.levels(source).splitlines()[2]
    assert "0.900 [0.850, 0.950], ≥ 0.95 missed, within the interval" in line
    assert "0.040 [0.030, 0.060], ≤ 0.08 reached" in line
    assert "0.040 [0.030, 0.060], ≤ 0.05 reached" in line
    assert "0.020 [-0.010, 0.050], ≤ 0.05 reached" in line
    assert "0.800 [0.700, 0.900], ≥ 0.9 missed, within the interval" in line


def test_a_small_table_is_taken_whole_without_its_heading(source):
    text = paper_tables.whole(source, "threshold-robustness")
    assert "Heading" not in text
    assert "Words" not in text
    assert f"| {paper_tables.OURS}" in text


def test_suites_that_are_not_there_have_no_table(source):
    made_of_id = {"as-printed", "other-filters", "levels", "test-seeds"}
    assert set(paper_tables.tables(source)) == {"id", "ood", "shift", "threshold-robustness", *made_of_id}


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
    assert (pictures / "threshold-robustness.png").read_bytes().startswith(b"\x89PNG")
    assert not (pictures / "id.png").exists()
    assert not (pictures / "shift.png").exists()
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
    assert {"as-printed", "other-filters", "levels", *all_suites()} <= set(found)
    for name, text in found.items():
        path = TABLES / "paper" / f"{name}.md"
        assert path.read_text(encoding="utf-8").strip() == text.strip(), name
