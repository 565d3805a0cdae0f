"""`dowsax train`: what it refuses, what it writes, and how it goes on. The learner is a made-up one."""

import csv
import json
import signal
import sys
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.learn import methods
from dowsax.learn.base import Learner, LearnerState, UpdateInfo, begin
from dowsax.learn.rollout import Tally
from dowsax.policies.networks import PaperNetwork, PaperSizes
from dowsax.policies.stored import load, save

STEPS = 100
"""Of an update."""
TINY = ("--method", "att-pfrl-paper", "--steps", "450", "--fields", "gas,energy", "--chunk", "2")


def made_up(sick_at=None):
    """A learner whose weights all grow by 0.01 an update, and whose searches mostly stop."""

    def init(key):
        return begin(
            PaperNetwork.build(key, PaperSizes(5, 4, 8)), (), {"places": jax.random.uniform(key, (9,))}
        )

    def update(key, state):
        network = jax.tree.map(lambda leaf: leaf + 0.01, state.network)
        updates, zero = state.updates + 1, jnp.zeros(())
        after = LearnerState(network, (), state.slots, updates, state.steps + STEPS)
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
        ("--method pfrl --ticks 0", "at least 1 tick; got 0"),
        ("--method pfrl --searches 6", "at least 1 search a field, here 7; got 6"),
        ("--method pfrl --fields heat", "Unknown field 'heat'; known are temperature"),
        ("--method pfrl --fields ,", "at least one, each once; got none"),
        ("--method pfrl --scenario mars", "Unknown scenario 'mars'; known are id"),
        ("--method pfrl --particles 3", "at least 16; got 3"),
        ("--method pfrl --max-readings 1", "at least 2 readings; got 1"),
        ("--method pfrl --seed -1", "A seed is a whole number"),
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
    assert "OCE 0.800, success 0.600, path 25.0 m, false stops 0.250 after 600 steps" in stdout
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
    assert card.settings["choices"]["sight"] == "moments"
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

    def interrupted(config, folder, progress):
        write(config, folder, progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "_write", interrupted)
    code, _, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert code == 130
    assert "the same command goes on from there" in stderr
    monkeypatch.setattr(train, "_write", write)
    code, stdout, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert (code, stderr) == (0, f"dowsax: goes on from 200 steps in {tmp_path}.\n")
    assert "after 600 steps" in stdout
    network, _ = load(tmp_path / "att-pfrl-paper.safetensors")
    np.testing.assert_allclose(network.actor.layers[0].bias, 0.06, rtol=1e-5)


def test_ends_politely_when_asked_to(dowsax_command, learner, tmp_path, monkeypatch):
    """As by `kill`, or by whoever shares out the machine: as if interrupted."""
    train = sys.modules["dowsax.cli.train"]
    write = train._write

    def asked(config, folder, progress):
        write(config, folder, progress)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(train, "_write", asked)
    code, _, stderr = dowsax_command("train", *TINY, "--out", tmp_path)
    assert code == 130
    assert "the same command goes on from there" in stderr


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
    assert f"cannot be read, it is cut short: {before.name} takes its place" in stderr
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
