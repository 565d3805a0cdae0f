"""`dowsax compare`: what it refuses, what it pairs, and what it writes."""

import csv

import numpy as np
import pytest

from dowsax.evaluate.trace import Episode, Row
from dowsax.experiments.evaluation import grid, open_evaluation
from dowsax.experiments.records import pack

READINGS = 30
SOURCES = np.random.default_rng(0).uniform(5, 20, size=(12, 7)).astype(np.float32)


def episode(number: int, speed: float, num_readings: int) -> Episode:
    """A search whose spread and error fall with its speed."""
    numbers = np.arange(1, num_readings + 1, dtype=np.float32)
    spread = (8 + number) * np.exp(-speed * numbers / 10)
    points, nothing = np.zeros((num_readings, 2), np.float32), np.zeros(num_readings, np.float32)
    mass = -np.expm1(-0.5 / spread**2)
    error = spread * (0.5 + number % 4)
    rows = Row(points, nothing, numbers - 1, points, error, spread, mass, nothing, nothing, nothing)
    return Episode(SOURCES[number], SOURCES[number], rows, 0.5, READINGS)


@pytest.fixture
def make_run(tmp_path):
    """(name, speed by policy, settings) -> a run folder, its first shards filled with made searches."""

    def make(name, speeds, num_shards=3, num_readings=READINGS, **settings):
        sizes = {"episodes": 12, "max_readings": READINGS, "particles": 64}
        evaluation = open_evaluation(tmp_path / name, grid(tuple(speeds), ("gas",), **sizes, **settings), 4)
        store = evaluation.store
        for shard in [shard for run in evaluation.runs for shard in store.shards(run)[:num_shards]]:
            numbers = range(shard.start, shard.stop)
            made = [episode(number, speeds[shard.run.policy], num_readings) for number in numbers]
            store.write(shard, pack(made), {"device": "none", "took": 0.0})
        return evaluation.folder

    return make


def sections(markdown: str) -> dict[str, list[list[str]]]:
    """The lines of the first table under each heading, as cells."""
    parts = {}
    for part in markdown.split("## ")[1:]:
        heading, *lines = part.splitlines()
        table = [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
        parts[heading] = [[cell.strip() for cell in line] for line in table[2:]]
    return parts


def test_one_run_of_two_policies(dowsax_command, make_run):
    code, stdout, stderr = dowsax_command("compare", make_run("both", {"greedy": 2.0, "infotaxis": 1.5}))
    assert (code, stderr) == (0, "")
    tables = sections(stdout)
    assert [line[0] for line in tables["Searches"]] == ["greedy", "infotaxis"]
    ((label, episodes, stop_rate, *_),) = tables["Differences on the same searches"]
    assert (label, episodes) == ("greedy − infotaxis", "12")
    assert stop_rate.startswith("+")


def test_several_rules_and_a_sweep(dowsax_command, make_run):
    rules = ["--stop", "credible", "--threshold", 0.9, "--stop", "contraction", "--threshold", 0.4]
    run = make_run("one", {"greedy": 2.0})
    tables = sections(dowsax_command("compare", run, *rules, "--sweep").stdout)
    assert [line[1] for line in tables["Searches"]] == ["credible-0.9", "contraction-0.4"]
    assert "Differences on the same searches" not in tables
    assert len(tables["Thresholds of the stop rules"]) == 13


def test_runs_are_paired_with_the_baseline(dowsax_command, make_run):
    """The same policy in two runs is told apart by its run."""
    first = make_run("first", {"greedy": 2.0, "random": 1.0})
    second = make_run("second", {"greedy": 1.8}, preset="paper")
    tables = sections(dowsax_command("compare", first, second, "--baseline", "greedy").stdout)
    assert [line[0] for line in tables["Differences on the same searches"]] == [
        "random − greedy (first)",
        "greedy (first) − greedy (second)",
        "random − greedy (second)",
    ]


def test_runs_of_the_same_name_are_told_apart(dowsax_command, make_run):
    runs = make_run("a/run", {"greedy": 2.0}), make_run("b/run", {"greedy": 2.0})
    ((label, *_),) = sections(dowsax_command("compare", *runs).stdout)["Differences on the same searches"]
    assert label == f"greedy ({runs[0]}) − greedy ({runs[1]})"


def test_an_incomplete_run_is_paired_as_far_as_it_is(dowsax_command, make_run):
    whole, begun = make_run("whole", {"greedy": 2.0}), make_run("begun", {"random": 1.0}, num_shards=2)
    code, stdout, stderr = dowsax_command("compare", whole, begun)
    assert code == 0
    assert "random on gas has 8 of 12 episodes" in stderr
    assert sections(stdout)["Differences on the same searches"][0][1] == "8"


def test_everything_in_a_folder(dowsax_command, make_run, tmp_path):
    run = make_run("both", {"greedy": 2.0, "infotaxis": 1.5})
    out, table, picture = tmp_path / "out", tmp_path / "table.csv", tmp_path / "stops.svg"
    code, stdout, _ = dowsax_command("compare", run, "--out", out, "--csv", table, "--figure", picture)
    assert code == 0
    assert {path.name for path in out.iterdir()} == {
        "tables.md",
        "summary.csv",
        "differences.csv",
        "sweep.csv",
        "stops.csv",
        "stops.png",
    }
    assert list(sections((out / "tables.md").read_text(encoding="utf-8"))) == [
        "Searches",
        "Differences on the same searches",
        "Thresholds of the stop rules",
        "Calibration of stops",
    ]
    assert "Thresholds of the stop rules" not in stdout
    assert "Calibration of stops" in stdout
    assert (out / "stops.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in picture.read_text(encoding="utf-8")
    with table.open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["policy"] for line in lines] == ["greedy", "infotaxis"]
    assert all(float(line["stop_rate_n"]) == 12 for line in lines)


def test_runs_without_common_searches(complaint, make_run):
    runs = make_run("one", {"greedy": 2.0}), make_run("other", {"greedy": 2.0}, seed=1)
    message = complaint("compare", *runs)
    assert message.startswith("These runs share no searches")
    assert "seed 0" in message
    assert "seed 1" in message


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--baseline best", "No run has the policy 'best'; they have greedy."),
        ("--stop never", "Unknown stop rule 'never'; known are contraction"),
        ("--stop credible --threshold 0.9 --threshold 0.8", "as often as --stop"),
        ("--threshold 2", "probability below 1"),
        ("--figure stops.gif", "Unknown picture format"),
        ("--csv missing/table.csv", "does not exist"),
    ],
)
def test_bad_input_is_one_line(complaint, make_run, tmp_path, words, message):
    folder = tmp_path / "out"
    assert message in complaint("compare", make_run("one", {"greedy": 2.0}), "--out", folder, *words.split())
    assert not folder.exists()


def test_what_is_no_run(complaint, make_run, tmp_path):
    assert "no run folder" in complaint("compare", tmp_path)
    assert "No search has ended" in complaint("compare", make_run("begun", {"greedy": 2.0}, num_shards=0))
    assert "RUNS" in complaint("compare")


def test_records_that_end_too_early_for_a_rule(complaint, make_run):
    """Cut off after ten readings, no search has come down to a centimetre."""
    run = make_run("one", {"greedy": 2.0}, num_readings=10)
    message = complaint("compare", run, "--stop", "contraction", "--threshold", 0.01)
    assert "cannot tell where contraction-0.01 would have stopped 12 of 12 searches of greedy" in message
