"""`dowsax train`: what it refuses, what it writes, and how it goes on. The learner is a made-up one."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.learn import methods
from dowsax.learn.base import Learner, LearnerState, UpdateInfo, init_state
from dowsax.learn.rollout import Tally
from dowsax.policies.networks import PaperNetwork, PaperSizes
from dowsax.policies.stored import load, save

SOURCE = Path(__file__).parents[2] / "src"
DOWSAX = """
import signal
# Also where the tests were started in the background and would ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from dowsax.__main__ import main
main()
"""
OWN = str(Path(__file__).parents[1] / "experiments/own_problem.py") + ":leak"
STEPS = 100
"""Of an update."""
WITHOUT_STEPS = ("--method", "att-pfrl-paper", "--fields", "gas,energy", "--chunk", "2")
TINY = (*WITHOUT_STEPS, "--steps", "450")


def made_up(sick_at=None, half=None):
    """A learner whose weights all grow by 0.01 an update, and whose searches mostly stop.

    After `half` so many steps they grow by 0.03.
    """

    def init(key):
        return init_state(
            PaperNetwork.build(key, PaperSizes(5, 4, 8)), (), {"places": jax.random.uniform(key, (9,))}
        )

    def update(key, state):
        growth = 0.01 if half is None else jnp.where(state.steps >= half, 0.03, 0.01)
        network = jax.tree.map(lambda leaf: leaf + growth, state.network)
        updates, zero = state.updates + 1, jnp.zeros(())
        after = LearnerState(network, (), state.environments, updates, state.steps + STEPS)
        info = UpdateInfo(tally(), jnp.array(STEPS), *[zero] * 7, healthy=updates != sick_at)
        return after, info

    return Learner(init, update)


def tally():
    numbers = {"ended": 20.0, "stopped": 16.0, "false_stops": 4.0, "path_length": 400.0}
    return Tally(**{name: jnp.array(numbers.get(name, 0.0)) for name in Tally._fields})


@pytest.fixture
def learner(monkeypatch):
    """(learner) -> what every training run uses from now on."""

    def use(learner):
        monkeypatch.setattr(methods.TrainConfig, "learner", lambda config: learner)

    use(made_up())
    return use


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--method dreaming", "Unknown method 'dreaming'; known are att-pfrl, pfrl, agdc-kld"),
        ("--method pfrl --steps 0", "at least 1 step; got 0"),
        ("--method pfrl --rollout-length 0", "at least 1 step of a rollout; got 0"),
        ("--method pfrl --searches 6", "at least 1 search per field, here 7; got 6"),
        ("--method pfrl --fields heat", "Unknown field 'heat'; known are temperature"),
        ("--method pfrl --fields ,", "at least one field, each only once; got none"),
        ("--method pfrl --scenario mars", "Unknown scenario 'mars'; known are id"),
        ("--method pfrl --particles 3", "at least 16; got 3"),
        ("--method pfrl --max-readings 1", "`max_readings` must be at least 2; got 1"),
        ("--method pfrl --seed -1", "`seed` must be from 0"),
        ("--method pfrl --chunk 0", "at least 1 update; got 0"),
        ("--steps 9", "--method"),
    ],
)
def test_bad_input_is_one_line(complaint, words, message, tmp_path):
    assert message in complaint("train", *words.split(), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_writes_policy_curve_and_checkpoint(dowsax_command, learner, tmp_path):
    code, stdout, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert (code, stderr) == (0, "")
    assert re.search(
        r"After 600 steps in \d+ s: 80\.0 % of the latest searches stopped, 25\.0 % of the stops were false, "
        r"the mean path to a stop was 25\.0 m\.\n",
        stdout,
    )
    name = "att-pfrl-paper"
    made = {"curves.csv", "curves.png", "checkpoint.safetensors", "checkpoint.previous.safetensors"}
    assert {path.name for path in tmp_path.iterdir()} == {*made, f"{name}.safetensors", f"{name}.json"}
    rows = list(csv.DictReader((tmp_path / "curves.csv").read_text().splitlines()))
    assert [float(row["steps"]) for row in rows] == [100.0 * number for number in range(1, 7)]
    assert float(rows[-1]["recent_stop_rate"]) == 0.8
    network, card = load(tmp_path / f"{name}.safetensors")
    np.testing.assert_allclose(network.actor.layers[0].bias, 0.06, rtol=1e-5)
    assert (card.method, card.fields, card.steps, card.seeds) == (name, ("gas", "energy"), 600, (0,))
    assert card.command.startswith("dowsax train --method att-pfrl-paper --fields gas,energy --scenario id")
    assert card.curves["stop_rate"][-1] == 0.8


def test_a_finished_run_is_told_at_once(dowsax_command, learner, tmp_path):
    first = dowsax_command("train", *TINY, "--out", tmp_path)
    learner(None)
    assert dowsax_command("train", *TINY, "--out", tmp_path) == first


def test_a_card_that_was_not_written_is_written_later(dowsax_command, learner, tmp_path):
    """As after a kill between the last checkpoint and the card."""
    dowsax_command("train", *TINY, "--out", str(tmp_path / "run"))
    card = tmp_path / "run" / "att-pfrl-paper.json"
    card.unlink()
    dowsax_command("train", *TINY, "--out", str(tmp_path / "run"))
    network, read = load(card.with_suffix(".safetensors"))
    assert read.steps == 600
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(network))


def test_a_policy_that_is_behind_or_torn_is_written_again(dowsax_command, learner, tmp_path):
    """As after a kill between the last checkpoint and the policy, or between the policy and its card."""
    name = tmp_path / "att-pfrl-paper.safetensors"
    first = dowsax_command("train", *TINY, "--out", tmp_path)
    whole, card = load(name)
    assert card.settings["choices"]["encoder"] == "moments"
    for behind in (replace(card, steps=400), replace(card, settings={})):
        save(name, jax.tree.map(lambda leaf: leaf + 1, whole), behind)
        assert dowsax_command("train", *TINY, "--out", tmp_path)[:2] == first[:2]
        assert eqx.tree_equal(load(name)[0], whole)
    text = name.with_suffix(".json").read_text()
    save(name, jax.tree.map(lambda leaf: leaf + 1, whole), card)
    name.with_suffix(".json").write_text(text)
    with pytest.raises(ValueError, match="repeat the command that trained it"):
        load(name)
    assert dowsax_command("train", *TINY, "--out", tmp_path)[:2] == first[:2]
    assert eqx.tree_equal(load(name)[0], whole)


def test_what_a_killed_run_had_begun_to_write_is_no_hindrance(dowsax_command, learner, tmp_path):
    leftover = tmp_path / ".checkpoint.safetensors.77.partial"
    leftover.write_bytes(b"half")
    assert dowsax_command("train", *TINY, "--out", tmp_path)[0] == 0
    assert not leftover.exists()


def test_goes_on_after_an_interruption(dowsax_command, learner, tmp_path, monkeypatch):
    # By its name, as the package has the command in its place.
    train = sys.modules["dowsax.cli.train"]
    write = train._write

    def interrupted(*words):
        write(*words)
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "_write", interrupted)
    code, _, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert code == 130
    assert "200 steps are kept" in stderr
    monkeypatch.setattr(train, "_write", write)
    code, stdout, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert (code, stderr) == (0, f"dowsax: resumes from 200 steps in {tmp_path}.\n")
    assert "After 600 steps" in stdout
    network, _ = load(tmp_path / "att-pfrl-paper.safetensors")
    np.testing.assert_allclose(network.actor.layers[0].bias, 0.06, rtol=1e-5)


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_heeded_after_the_checkpoint(
    dowsax_command, learner, tmp_path, monkeypatch, signum, code
):
    """The files are written to the end, the line says how far they are, and the run can go on."""
    train = sys.modules["dowsax.cli.train"]
    write = train._write

    def asked(*words):
        signal.raise_signal(signum)
        write(*words)

    monkeypatch.setattr(train, "_write", asked)
    before = signal.signal(signal.SIGINT, signal.default_int_handler), signal.getsignal(signal.SIGTERM)
    outcome = dowsax_command("train", *TINY, "--out", tmp_path)
    after = signal.signal(signal.SIGINT, before[0]), signal.getsignal(signal.SIGTERM)
    assert after == (signal.default_int_handler, before[1])
    said = f"dowsax: interrupted. 200 steps are kept in {tmp_path}: the same command goes on from there.\n"
    assert outcome == (code, "", said)
    assert load(tmp_path / "att-pfrl-paper.safetensors")[1].steps == 200
    monkeypatch.setattr(train, "_write", write)
    assert "After 600 steps" in dowsax_command("train", *TINY, "--out", tmp_path).stdout


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_a_signal_while_compiling_ends_it_at_once(tmp_path, signum, code, seconds):
    """A real run, with nothing compiled before: no crash, no traceback, no waiting for the compiler."""
    folder = tmp_path / "out"
    sizes = ("--searches", "14", "--rollout-length", "8", "--particles", "32", "--max-readings", "6")
    process = subprocess.Popen(
        [sys.executable, "-c", DOWSAX, "train", "--method", "att-pfrl", *sizes, "--out", str(folder)],
        env=os.environ | {"PYTHONPATH": str(SOURCE), "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while not folder.exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        time.sleep(seconds)
        process.send_signal(signum)
        stdout, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
    said = "dowsax: interrupted. No update was finished: repeat the same command.\n"
    assert (process.returncode, stdout, stderr) == (code, "", said)


@pytest.mark.slow
@pytest.mark.parametrize("scheduled", [False, True])
def test_a_finished_run_is_extended(dowsax_command, monkeypatch, tmp_path, scheduled):
    """It becomes the run that was asked for as many steps at once, but for the schedule of its first part."""
    monkeypatch.setattr(
        methods.TrainConfig, "learner", lambda config: made_up(half=config.steps / 2 if scheduled else None)
    )
    one, other = tmp_path / "one", tmp_path / "other"
    assert dowsax_command("train", *TINY, "--out", one).code == 0
    longer = ("train", *WITHOUT_STEPS, "--steps", "1600")
    outcome = dowsax_command(*longer, "--out", one)
    assert (outcome.code, outcome.stderr) == (0, f"dowsax: resumes from 600 steps in {one}.\n")
    assert "After 1,600 steps" in outcome.stdout
    dowsax_command(*longer, "--out", other)
    (network, card), (expected, expected_card) = (
        load(folder / "att-pfrl-paper.safetensors") for folder in (one, other)
    )
    # In the second half of 450 steps, and not of 1,600, are the updates after 300, 400 and 500.
    ahead = 3 * 0.02 if scheduled else 0.0
    for leaf, other_leaf in zip(jax.tree.leaves(network), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(leaf, other_leaf + ahead, atol=1e-6)
    steps, other_steps = (
        [row["steps"] for row in csv.DictReader((folder / "curves.csv").read_text().splitlines())]
        for folder in (one, other)
    )
    assert steps == other_steps
    assert card.settings.pop("extended") == [450]
    assert card.settings == expected_card.settings
    assert card.command == f"{expected_card.command.replace('1600', '450')} && {expected_card.command}"
    assert dowsax_command(*longer, "--out", one).stdout == outcome.stdout


@pytest.mark.slow
def test_what_cannot_be_extended_is_refused(complaint, dowsax_command, learner, tmp_path):
    """Fewer steps than were made, a run that is not finished, and anything else that differs."""
    words = ("train", *WITHOUT_STEPS, "--out", tmp_path)
    dowsax_command(*words, "--steps", "450")
    for steps in (449, 500, 600):
        said = complaint(*words, "--steps", steps)
        assert f"600 steps have been made already, and {steps} are asked for" in said
    said = complaint(*words, "--steps", 900, "--seed", 1, "--max-readings", 100)
    assert "seed is 0 there and 1 here; max_readings is 200 there and 100 here" in said
    learner(made_up(sick_at=10))
    assert "not finite at update 10" in dowsax_command(*words, "--steps", 1500).stderr
    said = complaint(*words, "--steps", 2000)
    assert "800 of 1,500 steps have been made: it can be extended to 2,000 when it is finished" in said


def test_lost_numbers_are_one_line(complaint, learner, tmp_path):
    learner(made_up(sick_at=4))
    said = complaint("train", *TINY, "--out", tmp_path)
    assert "not finite at update 4, after 300 steps" in said
    assert f"The last good checkpoint, of update 2, is {tmp_path / 'checkpoint.safetensors'}" in said


def test_folders_of_others_are_refused(complaint, dowsax_command, learner, tmp_path):
    dowsax_command("train", *TINY, "--out", tmp_path)
    said = complaint("train", *TINY, "--seed", "3", "--out", tmp_path)
    assert "another configuration: seed is 0 there and 3 here" in said
    newest, before = (tmp_path / f"checkpoint{name}.safetensors" for name in ("", ".previous"))
    newest.write_bytes(newest.read_bytes()[:-9])
    code, _, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert code == 0
    assert f"is truncated and cannot be read: {before.name} is used" in stderr
    newest.write_bytes(newest.read_bytes()[:-9])
    before.unlink()
    assert "cannot be read, it is cut short" in complaint("train", *TINY, "--out", tmp_path)
    other = tmp_path / "letters"
    other.mkdir()
    (other / "letter.txt").write_text("Dear")
    assert "is not empty and no training run" in complaint("train", *TINY, "--out", other)
    assert "Cannot make the folder" in complaint("train", *TINY, "--out", other / "letter.txt")


def test_scenario_and_seed_have_their_own_places(dowsax_command, learner, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, stdout, _ = dowsax_command("train", *TINY, "--scenario", "ood-training", "--seed", "1")
    assert code == 0
    folder = tmp_path / "runs/train/att-pfrl-paper-ood-seed-1"
    assert json.loads((folder / "att-pfrl-paper-ood.json").read_text())["seeds"] == [1]
    assert "to runs/train/att-pfrl-paper-ood-seed-1." in stdout


def test_a_problem_of_your_own_is_in_the_card(dowsax_command, learner, tmp_path):
    code, stdout, stderr = dowsax_command(
        "train", "--problem", OWN, "--steps", "200", "--chunk", "2", "--out", tmp_path / "run"
    )
    assert (code, stderr) == (0, "")
    assert "pfrl-candidates-on-own_problem-leak.safetensors" in stdout
    _, card = load(tmp_path / "run" / "pfrl-candidates-on-own_problem-leak.safetensors")
    assert card.fields == ("own_problem-leak",)
    assert len(card.problem) == 16
    assert card.command.startswith(f"dowsax train --method pfrl-candidates --problem {OWN} --steps 200")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--steps 5", "Give --method"),
        (f"--problem {OWN} --fields gas", "only one of fields"),
        (f"--problem {OWN} --scenario id", "--scenario is part of the problem"),
        ("--site nowhere.toml", "Cannot read nowhere.toml"),
        (f"--problem {OWN[:-4]}nothing", "has no 'nothing'"),
        (f"--problem {OWN} --method pfrl", "The method 'pfrl' needs moves of fixed lengths"),
    ],
)
def test_bad_problems_are_one_line(complaint, tmp_path, words, message):
    assert message in complaint("train", *words.split(), "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()
