"""`dowsax evaluate`: what it prints and writes, what it refuses, and how it goes on after an interruption."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from dowsax.experiments import evaluation, run, runner

# The same sizes as in the tests of the library: one compilation serves both.
TINY = ("--episodes", "6", "--particles", "64", "--max-readings", "6", "--shard-size", "2")
CELL = ("--policy", "greedy", "--field", "temperature")
OWN = str(Path(__file__).parents[1] / "experiments/own_problem.py") + ":leak"
MEASURES = {
    "stop_rate",
    "path_length_stopped",
    "path_length_all",
    "error_stopped",
    "error_all",
    "success_given_stop",
    "false_stop_given_stop",
    "false_stop_all",
    "seconds_per_episode",
}


@pytest.fixture
def nothing_computed(monkeypatch):
    """Fail if any episode is computed."""

    def started(*_, **__):
        raise AssertionError("something was computed")

    return lambda: monkeypatch.setattr(run, "run_episodes", started)


def test_json_is_one_object_with_intervals(dowsax_command, tmp_path):
    code, stdout, stderr = dowsax_command("evaluate", *CELL, *TINY, "--out", tmp_path / "run", "--json")
    assert (code, stderr) == (0, "")
    answer = json.loads(stdout)
    expected = {"policy": "greedy", "field": "temperature", "scenario": "id", "episodes": 6}
    assert expected.items() <= answer.items()
    assert set(answer) >= MEASURES
    for name in MEASURES:
        assert set(answer[name]) == {"value", "low", "high", "n"}
    rate = answer["stop_rate"]
    assert rate["n"] == 6
    assert 0 <= rate["low"] <= rate["value"] <= rate["high"] <= 1


def test_writes_a_run_that_is_printed_at_once_the_second_time(dowsax_command, tmp_path, nothing_computed):
    folder = tmp_path / "run"
    words = ("evaluate", "--policy", "greedy,random", "--field", "temperature", *TINY, "--out", folder)
    code, stdout, stderr = dowsax_command(*words)
    assert (code, stderr) == (0, "")
    assert "| greedy" in stdout
    assert "| random" in stdout
    assert {path.name for path in folder.iterdir()} == {
        "run.json",
        "runs",
        "episodes.parquet",
        "summary.md",
        "summary.csv",
        "summary.json",
    }
    assert pq.read_metadata(folder / "episodes.parquet").num_rows == 12
    nothing_computed()
    assert dowsax_command(*words).stdout == stdout
    cells = json.loads(dowsax_command(*words, "--json").stdout)["cells"]
    assert [cell["policy"] for cell in cells] == ["greedy", "random"]
    assert cells == json.loads((folder / "summary.json").read_text())["cells"]
    # Another rule of the ladder costs nothing either.
    other = dowsax_command(*words, "--stop", "contraction", "--threshold", "2")
    assert other.code == 0
    assert "contraction-2" in other.stdout
    assert "Stop: the contraction rule, max(σx, σy) < 2 m. It is false 1 m or more from" in other.stdout


def test_goes_on_after_an_interruption(dowsax_command, tmp_path, monkeypatch):
    folder, computed = tmp_path / "run", []
    words = ("evaluate", *CELL, *TINY, "--out", folder)
    compute = runner.compute

    def counted(shard, *options):
        if len(computed) == 2:
            raise KeyboardInterrupt
        computed.append(shard.start)
        return compute(shard, *options)

    monkeypatch.setattr(runner, "compute", counted)
    code, stdout, stderr = dowsax_command(*words)
    assert (code, stdout) == (130, "")
    assert stderr.count("\n") == 1
    assert "the same command goes on" in stderr
    assert computed == [0, 2]
    computed.clear()
    assert dowsax_command(*words).code == 0
    assert computed == [4]


def test_a_damaged_file_is_named_and_computed_again(dowsax_command, tmp_path):
    folder = tmp_path / "run"
    words = ("evaluate", *CELL, *TINY, "--out", folder, "--json")
    before = json.loads(dowsax_command(*words).stdout)
    (broken,) = folder.glob("runs/default/id/temperature/greedy-*.npz")
    broken.write_bytes(broken.read_bytes()[:1000])
    (folder / "episodes.parquet").unlink()
    code, stdout, stderr = dowsax_command(*words)
    assert code == 0
    assert stderr.count("\n") == 1
    assert broken.name in stderr
    after = json.loads(stdout)
    assert after["error_all"] == before["error_all"]


def test_a_machine_without_pyarrow_only_computes(dowsax_command, tmp_path, monkeypatch, nothing_computed):
    """The table of episodes is made when the same command is run where pyarrow is."""
    folder = tmp_path / "run"
    words = ("evaluate", *CELL, *TINY, "--out", folder)
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "has_extra", lambda extra: False)
        code, stdout, _ = dowsax_command(*words)
    assert code == 0
    assert "pip install 'dowsax[results]'" in stdout
    assert not (folder / "episodes.parquet").exists()
    nothing_computed()
    assert dowsax_command(*words).code == 0
    assert pq.read_metadata(folder / "episodes.parquet").num_rows == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--policy guess --field gas", "Unknown policy 'guess'; known are random, oracle-straight"),
        ("--policy random --field heat", "Unknown field 'heat'; known are temperature"),
        ("--policy random --field gas --scenario easy", "Unknown scenario 'easy'; known are id, ood"),
        ("--policy random --field gas --stop never", "Unknown stop rule 'never'; known are contraction"),
        ("--policy random --field gas --preset best", "Unknown preset 'best'; known are default, paper"),
        ("--policy random --field gas --episodes 0", "at least 1 episode; got 0"),
        ("--policy random --field gas --threshold 2", "probability below 1"),
        ("--policy random --field gas --seed -1", "seed"),
        ("--policy random --field gas --particles 3", "at least 16"),
        ("--policy random --field gas --max-readings 1", "at least 2 readings"),
        ("--policy random --field gas --shard-size 0", "at least 1 episode"),
        ("--policy random --field gas --workers 0", "at least 1 worker; got 0"),
        ("--policy random --field gas --workers 2 --ray 10.0.0.1:6379", "leave --workers out"),
        ("--policy random", "--field"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(complaint, tmp_path, words, message):
    assert message in complaint("evaluate", *words.split(), "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_configuration_is_refused(complaint, dowsax_command, tmp_path):
    words = ("evaluate", *CELL, *TINY, "--out", tmp_path / "run")
    assert dowsax_command(*words).code == 0
    assert "seed is 0 there and 5 here" in complaint(*words, "--seed", "5")
    other_cut = (*TINY[:-1], "3")
    said = complaint("evaluate", *CELL, *other_cut, "--out", tmp_path / "run")
    assert "shards of 2 episodes" in said


def test_a_folder_that_cannot_be_made_is_refused(complaint, tmp_path):
    (tmp_path / "file").write_text("")
    assert "file" in complaint("evaluate", *CELL, *TINY, "--out", tmp_path / "file" / "run")
    assert "no run folder" in complaint("evaluate", *CELL, *TINY, "--out", tmp_path)


def test_without_ray_it_says_how_to_get_it(complaint, tmp_path, monkeypatch):
    monkeypatch.setattr("dowsax.extras.has_extra", lambda extra: extra != "ray")
    said = complaint("evaluate", *CELL, *TINY, "--out", tmp_path / "run", "--ray", "local")
    assert "pip install 'dowsax[ray]'" in said


def test_all_stands_for_every_name():
    from dowsax.cli.evaluate import _names

    assert _names(["all"], {"one": 1, "two": 2}) == ("one", "two")
    assert _names(["two,one", "two"], {}) == ("two", "one")


def test_a_problem_of_your_own_is_a_run_like_others(dowsax_command, tmp_path, nothing_computed):
    words = ("evaluate", "--policy", "random,greedy", "--problem", OWN, "--episodes", "4", "--seed", "2")
    words = (*words, "--out", tmp_path / "run", "--json")
    code, stdout, stderr = dowsax_command(*words)
    assert (code, stderr) == (0, "")
    cells = json.loads(stdout)["cells"]
    assert [cell["policy"] for cell in cells] == ["random", "greedy"]
    about = {"field": "own_problem-leak", "problem": OWN, "stop": "credible-0.9", "radius": 5.0}
    about |= {"max_readings": 8}
    assert about.items() <= cells[0].items()
    assert set(cells[0]) >= MEASURES
    nothing_computed()
    assert dowsax_command(*words).stdout == stdout
    table = dowsax_command(*words[:-1]).stdout
    assert "stop credible-0.9, radius [m] 5, preset own" in table
    assert "P(source within 5 m of the mean) ≥ 0.9. It is false 5 m or more from the source.\n" in table
    assert dowsax_command("compare", tmp_path / "run", "--baseline", "random").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"--problem {OWN} --field gas", "only one of fields, --problem file.py:name and --site"),
        ("", "one of --field, --problem"),
        (f"--problem {OWN} --preset paper", "--preset is part of the problem"),
        (f"--problem {OWN} --scenario id", "--scenario is part of the problem"),
        (f"--problem {OWN} --threshold 0.5", "--threshold needs --stop"),
        ("--problem nowhere.py:leak", "Cannot read nowhere.py"),
        ("--site nowhere.toml", "Cannot read nowhere.toml"),
        ("--site nowhere.yaml", "A site file ends in .toml"),
    ],
)
def test_bad_problems_are_one_line_and_leave_nothing(complaint, tmp_path, words, message):
    assert message in complaint("evaluate", "--policy", "random", *words.split(), "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_policies_that_do_not_fit_a_problem_are_named(complaint, tmp_path):
    words = ("--policy", "random,surge-cast,zigzag,infotaxis-2", "--problem", OWN, "--out", tmp_path / "run")
    said = complaint("evaluate", *words)
    assert said.startswith("The policy 'surge-cast' needs the parameters of the benchmark; got x, y, q,")
    assert ". The policy 'zigzag' needs the parameters of the benchmark; got x, y, q," in said
    assert ". The policy 'infotaxis-2' needs moves of fixed lengths" in said
    assert "random" not in said
    assert not (tmp_path / "run").exists()


def test_what_is_wrong_with_names_and_problems_is_not_blamed_on_policies(complaint, tmp_path):
    words = ("--problem", OWN, "--out", tmp_path / "run")
    assert complaint("evaluate", "--policy", "zigzag,luck", *words).startswith("Unknown policy 'luck'")
    site = tmp_path / "site.toml"
    dense = "[step]\nreading_interval = 0.25\n"
    site.write_text(f"area = {{low = [0, 0], high = [200, 150]}}\nfield = {{kind = 'level'}}\n{dense}")
    said = complaint("evaluate", "--policy", "random,zigzag", "--site", site, "--out", tmp_path / "run")
    assert said.startswith("A mission may take")
    assert "policy" not in said
