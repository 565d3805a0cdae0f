"""Training of all policies: the order, what counts as done, and how it ends in time. Nothing is trained."""

import json
import math
import os
import signal
import sys
import threading
import time
from types import SimpleNamespace

import jax
import pytest

from benchmarks import train_all
from benchmarks.train_all import ELSEWHERE, ENTRIES, Entry
from dowsax.learn import METHODS
from dowsax.learn.methods import PROBLEM_METHOD
from dowsax.policies.networks import PaperNetwork, PaperSizes
from dowsax.policies.stored import Card, load, save

CURVES = {"steps": [1.0, 2.0], "seconds": [3.0, 4.0], "stop_rate": [0.1, 0.2]}
CURVES |= {"path_length": [50.0, 25.0], "false_stops": [0.0, 0.01]}
SLEEPER = """
import pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.default_int_handler)
place = pathlib.Path(sys.argv[1])
place.mkdir(parents=True)
try:
    (place / "begun").touch()
    time.sleep(60)
except KeyboardInterrupt:
    (place / "interrupted").touch()
    sys.exit(130)
"""


def made(folder, entry, steps, **changes):
    """The newest policy of a run that has made so many steps."""
    card = Card(
        encoder="moments",
        settings=entry.settings() | changes,
        device="abacus",
        steps=steps,
        curves=CURVES,
    )
    network = PaperNetwork.build(jax.random.key(steps), PaperSizes(5, 4, 8))
    save(folder / entry.label / f"{entry.name}.safetensors", network, card)


def test_every_method_is_trained_with_three_seeds_and_one_number_of_moves():
    entries = train_all.plan()
    # What is trained for a problem of its own is not shipped.
    assert {entry.method for entry in entries} == set(METHODS) - {PROBLEM_METHOD}
    assert len({entry.label for entry in entries}) == len(entries)
    assert {entry.steps for entry in entries} == {train_all.STEPS}
    names = {entry.name for entry in entries}
    assert len(entries) == 3 * len(names)
    for seed in (0, 1, 2):
        assert {entry.name for entry in entries if entry.seed == seed} == names
    assert [entry.label for entry in entries[:2]] == ["att-pfrl-paper", "pfrl"]


def test_states_follow_the_card(tmp_path):
    entry = ENTRIES[0]
    assert train_all.state_of(tmp_path, entry).word == "missing"
    (tmp_path / entry.label).mkdir()
    assert train_all.state_of(tmp_path, entry).word == "under way"
    for steps, word in ((entry.steps - 1, "under way"), (entry.steps, "done"), (entry.steps + 9, "done")):
        made(tmp_path, entry, steps)
        assert train_all.state_of(tmp_path, entry)[:2] == (word, steps)
    for changes in ({"seed": 5}, {"rollout_length": 3}, {"choices": {}}):
        made(tmp_path, entry, entry.steps, **changes)
        assert train_all.state_of(tmp_path, entry).word == "another"
    # The first cards had no settings: the command of the run writes them, or refuses the folder.
    card = tmp_path / entry.label / f"{entry.name}.json"
    about = json.loads(card.read_text())
    del about["settings"]
    card.write_text(json.dumps(about))
    assert train_all.state_of(tmp_path, entry).word == "under way"


def test_rehearsals_are_not_taken_for_runs(tmp_path):
    """And their command gives them the settings by which they are known."""
    entry = next(one for one in train_all.plan(tiny=True) if one.label == ENTRIES[0].label)
    made(tmp_path, entry, entry.steps)
    assert train_all.state_of(tmp_path, entry).word == "done"
    assert train_all.state_of(tmp_path, ENTRIES[0]).word == "another"
    words = train_all.command(entry, tmp_path)
    given = dict(zip(words[4::2], words[5::2], strict=True))
    for name, value in train_all.TINY_SIZES.items():
        assert given[f"--{name.removeprefix('num_').replace('_', '-')}"] == str(value)


def test_the_command_is_that_of_the_run(tmp_path):
    words = train_all.command(Entry("pfrl", 2, ELSEWHERE, "paper", steps=7), tmp_path)
    expected = "dowsax train --method pfrl --scenario ood-training --steps 7 --seed 2 --preset paper"
    assert " ".join(words[2:]) == f"{expected} --out {tmp_path}"


@pytest.fixture
def sleepers(monkeypatch):
    """Runs that only wait to be interrupted."""
    program = [sys.executable, "-c", SLEEPER]
    monkeypatch.setattr(train_all, "command", lambda entry, folder: [*program, str(folder)])


def test_a_run_under_way_is_interrupted_in_time(sleepers, tmp_path, monkeypatch):
    """By a clock that jumps once the run is there, so that it does not matter how fast the machine is."""
    clock = SimpleNamespace(now=0.0)
    deadline = 10 * train_all.LEAST

    def left(deadline, keep):
        while not (tmp_path / ENTRIES[1].label / "begun").exists():
            time.sleep(0.02)
        clock.now = deadline - keep
        return 0.0

    monkeypatch.setattr(train_all, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(train_all, "_left", left)
    made(tmp_path, ENTRIES[0], ENTRIES[0].steps)
    assert train_all.train_all(ENTRIES[:3], tmp_path, deadline) == {}
    # The first is done, the second had its time, and for the third there was none left.
    assert (tmp_path / ENTRIES[1].label / "interrupted").exists()
    assert not (tmp_path / ENTRIES[2].label).exists()
    told = train_all.table(ENTRIES[:3], tmp_path, {})
    assert [line.split("|")[2].strip() for line in told.splitlines()[2:]] == ["done", "under way", "missing"]


MEETING = """
import pathlib, sys, time
place = pathlib.Path(sys.argv[1])
place.mkdir(parents=True)
others = [place.parent / name for name in sys.argv[2:]]
until = time.monotonic() + 60
while not all(other.exists() for other in others):
    time.sleep(0.02)
    if time.monotonic() > until:
        sys.exit(3)
"""


def test_runs_go_on_at_once(tmp_path, monkeypatch):
    """Each ends well only if the other is there before it has ended."""
    entries = ENTRIES[:2]
    names = [entry.label for entry in entries]
    program = [sys.executable, "-c", MEETING]
    monkeypatch.setattr(train_all, "command", lambda entry, folder: [*program, str(folder), *names])
    assert train_all.train_all(entries, tmp_path, math.inf, at_once=2) == {}


@pytest.fixture
def _interruptible():
    """Interruptions are heard, also where the tests were started in the background and would ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interruption_reaches_all_runs(sleepers, tmp_path):
    entries = ENTRIES[:3]

    def interrupt():
        while not all((tmp_path / entry.label / "begun").exists() for entry in entries[:2]):
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        train_all.train_all(entries, tmp_path, math.inf, at_once=2)
    watcher.join()
    assert all((tmp_path / entry.label / "interrupted").exists() for entry in entries[:2])
    assert not (tmp_path / entries[2].label).exists()


def test_time_is_kept_for_the_end_of_a_run(monkeypatch):
    """It is waited for until so long before the deadline, and without a deadline for ever."""
    monkeypatch.setattr(train_all, "time", SimpleNamespace(monotonic=lambda: 100.0))
    assert train_all._left(150.0, 20.0) == 30.0
    assert train_all._left(110.0, 20.0) == 0.0
    assert train_all._left(math.inf, 20.0) is None


def test_without_time_nothing_is_begun(sleepers, tmp_path):
    train_all.train_all(ENTRIES, tmp_path, time.monotonic() + train_all.LEAST - 1)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_told_and_takes_nothing_with_it(tmp_path, monkeypatch):
    program = "import pathlib, sys; pathlib.Path(sys.argv[1]).mkdir(); sys.exit(2)"
    monkeypatch.setattr(
        train_all, "command", lambda entry, folder: [sys.executable, "-c", program, str(folder)]
    )
    made(tmp_path, ENTRIES[2], 9, seed=4)
    faults = train_all.train_all(ENTRIES[:3], tmp_path, math.inf)
    assert [faults[entry] for entry in ENTRIES[:2]] == ["exit code 2"] * 2
    assert "other settings: seed" in faults[ENTRIES[2]]
    assert "under way; exit code 2" in train_all.table(ENTRIES[:3], tmp_path, faults)


def test_only_finished_policies_are_collected(tmp_path):
    runs, package = tmp_path / "runs", tmp_path / "package"
    again = next(entry for entry in ENTRIES if entry.label == "pfrl-seed-1")
    for entry, steps in (
        (ENTRIES[0], ENTRIES[0].steps),
        (ENTRIES[1], ENTRIES[1].steps - 1),
        (again, again.steps),
    ):
        made(runs, entry, steps)
    said = train_all.collect(runs, package)
    assert said[:2] == ["att-pfrl-paper: copied", "pfrl: under way, not copied"]
    names = {
        f"{name}{ending}"
        for name in ("att-pfrl-paper", "pfrl-seed-1")
        for ending in (".safetensors", ".json")
    }
    assert {path.name for path in package.iterdir()} == names
    assert load(package / "pfrl-seed-1.safetensors")[1].steps == again.steps


def test_results_stay_on_the_card_of_the_same_weights(tmp_path):
    runs, package = tmp_path / "runs", tmp_path / "package"
    card = package / "att-pfrl-paper.json"
    for steps, results in ((ENTRIES[0].steps, {"id": 1}), (ENTRIES[0].steps + 9, {})):
        made(runs, ENTRIES[0], steps)
        train_all.collect(runs, package)
        card.write_text(json.dumps(json.loads(card.read_text()) | {"results": results}))
        train_all.collect(runs, package)
        assert json.loads(card.read_text())["results"] == results
        assert load(card.with_suffix(".safetensors"))[1].steps == steps


def test_a_damaged_policy_is_not_collected(tmp_path):
    made(tmp_path, ENTRIES[0], ENTRIES[0].steps)
    weights = tmp_path / "att-pfrl-paper/att-pfrl-paper.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(ValueError, match="cut short or damaged"):
        train_all.collect(tmp_path, tmp_path / "package")


def test_runs_are_chosen_by_name():
    entries = train_all.plan()
    assert train_all.chosen(entries, None) == entries
    some = train_all.chosen(entries, ["pfrl", "pfrl-ood-seed-1"])
    assert [entry.label for entry in some] == ["pfrl", "pfrl-ood-seed-1"]
    with pytest.raises(ValueError, match="Unknown run 'dreaming'; known are "):
        train_all.chosen(entries, ["dreaming"])
