"""`dowsax reproduce`: what it says and writes, and what it refuses in one line."""

import json

import jax
import pytest
from made_suites import made_small

from dowsax import cli
from dowsax.experiments import walks
from dowsax.experiments.suites.rewards import REWARDED, episodes_to_reach, weights_in

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
    assert "has the policy 'nobody': att-pfrl" in complaint(
        "id", "--only-policy", "nobody", "--out", tmp_path
    )
    assert "Unknown device 'tpu'; known are cpu, gpu" in complaint("id", "--device", "tpu")
    assert "at least 1 worker" in complaint("id", "--workers", "0")
    assert "above 0" in complaint("id", "--budget", "-5")
    assert "at least 1 episode" in complaint("id", "--episodes", "0")
    assert "--weights" in complaint("rewards", "--out", tmp_path)
    assert "There is no folder" in complaint("rewards", "--weights", tmp_path / "none")
    assert "No policies of the ablation below" in complaint("rewards", "--weights", tmp_path)
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


def test_the_policies_of_the_ablation_are_found(tmp_path):
    for method in REWARDED.values():
        folder = tmp_path / "ablation" / f"{method}-seed-2"
        folder.mkdir(parents=True)
        (folder / f"{method}.safetensors").write_bytes(b"")
    found = weights_in(tmp_path)
    assert list(found) == [f"{method}-seed-2" for method in REWARDED.values()]
    assert found["att-pfrl-r3-seed-2"].endswith("ablation/att-pfrl-r3-seed-2/att-pfrl-r3.safetensors")


def curve(tmp_path, *rows):
    path = tmp_path / "curves.csv"
    lines = [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(["ended,stopped,recent_stop_rate", *lines, ""]))
    return path


def test_searches_until_the_stop_rate_stays(tmp_path):
    """The first searches to end are those that stop: a rate counts from the first one on that has not."""
    reached = curve(tmp_path, (5, 5, 1), (100, 50, 0.5), (100, 9, "nan"), (100, 91, 0.91), (100, 95, 0.95))
    assert episodes_to_reach(reached) == 305
    assert episodes_to_reach(curve(tmp_path, (5, 5, 1.0), (100, 50, 0.5))) is None
    assert episodes_to_reach(curve(tmp_path, (15, 15, 1.0), (50, 48, 0.97), (50, 49, 0.97))) == 65
    assert episodes_to_reach(curve(tmp_path, (15, 15, 1.0))) is None
    assert episodes_to_reach(tmp_path / "none.csv") is None
