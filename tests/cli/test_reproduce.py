"""`dowsax reproduce`: what it says and writes, and what it refuses in one line."""

import csv
import json

import jax
import pytest
from made_suites import made_small

from dowsax import cli
from dowsax.cli import reproduce as reproduction
from dowsax.experiments import walks
from dowsax.experiments.suites.rewards import episodes_to_reach

TINY = ("--episodes", "3", "--particles", "64", "--max-readings", "6")


@pytest.fixture
def small():
    """Small suites in one test."""
    with made_small():
        yield


@pytest.fixture
def command(capsys, monkeypatch):
    """(words) -> exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words):
        return cli.run(["reproduce", *map(str, words)]), *capsys.readouterr()

    return run


@pytest.fixture
def complaint(command):
    """(words) -> the one line in which the command says why it does nothing."""

    def run(*words):
        code, stdout, stderr = command(*words)
        assert (code, stdout, stderr.count("\n")) == (2, "", 1)
        return stderr

    return run


def test_lists_every_table(command):
    code, stdout, stderr = command("--list")
    assert (code, stderr) == (0, "")
    assert [line.split()[0] for line in stdout.splitlines()[:3]] == ["id", "ood", "threshold"]
    assert "(tab:calibration_metrics_; 14 runs)" in stdout


@pytest.mark.slow
def test_computes_says_how_far_it_is_and_goes_on(small, command, tmp_path, monkeypatch):
    words = ("fixed", *TINY, "--out", tmp_path / "out")
    assert command(*words, "--status")[1].splitlines()[0].split() == ["fixed", "0", "of", "7", "runs"]
    assert not (tmp_path / "out").exists()
    assert command(*words, "--runs-only") == (0, "", "")
    assert not (tmp_path / "out/fixed").exists()
    code, stdout, stderr = command(*words)
    assert (code, stderr) == (0, "")
    assert stdout == f"fixed: {tmp_path / 'out' / 'fixed' / 'table.md'}\n"
    table = (tmp_path / "out/fixed/table.csv").read_text()
    about = json.loads((tmp_path / "out/fixed/about.json").read_text())
    assert about["command"].startswith("dowsax reproduce fixed --episodes 3 --seed 0 --particles 64")
    assert command(*words, "--status")[1].splitlines()[0].split() == ["fixed", "7", "of", "7", "runs"]

    def computed(*_, **__):
        raise AssertionError("something was computed")

    monkeypatch.setattr(walks, "locate", computed)
    assert command(*words)[0] == 0
    assert (tmp_path / "out/fixed/table.csv").read_text() == table


def test_a_budget_that_is_too_short_computes_nothing_and_says_so(small, command, tmp_path):
    code, stdout, stderr = command("fixed", *TINY, "--out", tmp_path, "--budget", "1")
    assert code == 0
    assert "7 of 7 runs are still missing" in stderr
    assert stdout == "fixed: nothing yet\n"


def test_only_the_runs_of_a_field_are_computed(small, command, tmp_path):
    """Walks are on temperature, so of another field there is nothing to compute."""
    code, stdout, stderr = command("fixed", *TINY, "--out", tmp_path, "--only-field", "gas")
    assert (code, stdout, stderr) == (0, "fixed: nothing yet\n", "")


def test_only_the_runs_of_a_policy_are_computed(small, command, tmp_path):
    code, _, stderr = command("id", *TINY, "--out", tmp_path, "--only-policy", "random", "--budget", "1")
    assert (code, "4 of 4 runs are still missing" in stderr) == (0, True)


def test_bad_input_is_refused_in_one_line(complaint, tmp_path):
    assert "Unknown table 'tabel'; known are id, ood" in complaint("tabel")
    assert "Unknown field 'gaz'" in complaint("id", "--only-field", "gaz", "--out", tmp_path)
    assert "has the policy 'nobody': att-pfrl-paper" in complaint(
        "id", "--only-policy", "nobody", "--out", tmp_path
    )
    assert "Unknown device 'tpu'; known are cpu, gpu" in complaint("id", "--device", "tpu")
    assert "at least 1 worker" in complaint("id", "--workers", "0")
    assert "above 0" in complaint("id", "--budget", "-5")
    assert "at least 1 episode" in complaint("id", "--episodes", "0")
    assert "There is no folder" in complaint("id", "--earlier", tmp_path / "none", "--out", tmp_path)
    (tmp_path / "file").write_text("")
    assert "Cannot make the folder" in complaint("id", "--out", tmp_path / "file")
    assert "Cannot make the folder" in complaint("id", "--out", tmp_path / "file" / "below")


@pytest.mark.parametrize("failure", [RuntimeError, AssertionError, None])
def test_a_device_that_is_not_there_is_refused(complaint, monkeypatch, failure):
    """JAX fails in one way or another, or computes on something else."""

    def default_backend():
        if failure is not None:
            raise failure
        return "cpu"

    monkeypatch.setenv("JAX_PLATFORMS", "")
    monkeypatch.setattr(jax, "default_backend", default_backend)
    monkeypatch.setattr(jax.config, "update", lambda name, value: None)
    assert "There is no gpu that JAX can compute on here" in complaint("id", "--device", "gpu")


def test_an_interruption_is_reported(small, command, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(walks, "locate", interrupted)
    code, stdout, stderr = command("fixed", *TINY, "--out", tmp_path)
    assert (code, stdout) == (130, "")
    assert "the same command goes on" in stderr


def test_searches_until_the_stop_rate_stays():
    """The first searches to end are those that stop: a rate counts from the first one on that has not."""

    def needed(searches, rates):
        curves = {"searches": searches, "stop_rate": rates}
        return episodes_to_reach({name: list(map(float, column)) for name, column in curves.items()})

    assert needed([5, 105, 205, 305, 405], [1, 0.5, 0, 0.91, 0.95]) == 305
    assert needed([5, 105], [1, 0.5]) is None
    assert needed([15, 65, 115], [1, 0.97, 0.97]) == 65
    assert needed([15], [1]) is None
    assert needed([], []) is None


@pytest.mark.slow
def test_published_cells_are_checked_against_other_searches(small, command, tmp_path):
    """Tables of the same code agree; a table whose stop rates are turned around does not."""
    words = ("--particles", "64", "--max-readings", "6", "--out", tmp_path / "out")
    assert command("priors", "--episodes", "40", *words)[0] == 0
    check = (*words, "--check", "--earlier", tmp_path / "out", "--episodes", "40", "--seed", "1000")
    code, stdout, _ = command(*check)
    assert code == 0
    assert stdout.count("agrees  priors: ") == 6
    assert "All 6 cells agree (p ≥ 0.0028" in stdout
    assert stdout.count("ADE ") == 6
    table = tmp_path / "out/priors/table.csv"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    for row in rows:
        if row["measure"] == "OCE":
            row["value"] = str(1 - float(row["value"]))
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    code, stdout, stderr = command(*check)
    assert (code, stdout.count("DIFFERS")) == (2, 6)
    assert "6 of 6 cells differ" in stderr
    assert "--seed 1000" in stderr


def test_a_check_draws_other_cells_each_time_unless_a_seed_is_given(command, tmp_path, monkeypatch):
    """The seed is printed, so that a draw can be repeated."""
    drawn = []

    def choose_cells(published, paper, number, seed):
        drawn.append(seed)
        return []

    monkeypatch.setattr(reproduction, "choose_cells", choose_cells)
    for words in ((), (), ("--seed", 7), ("--seed", 7)):
        code, stdout, _ = command("--check", "--earlier", tmp_path, "--out", tmp_path / "out", *words)
        assert (code, f"--seed {drawn[-1]} repeats them" in stdout) == (0, True)
    first, second, *given = drawn
    assert first != second
    assert min(first, second) >= 1000
    assert given == [7, 7]


def test_a_check_needs_published_tables(complaint, tmp_path):
    check = ("--check", "--earlier", tmp_path, "--out", tmp_path / "out")
    assert "has no tables: give --earlier" in complaint(*check)
    assert "give --seed once" in complaint(*check, "--seed", "1", "--seed", "2")
