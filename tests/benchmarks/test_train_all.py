"""Training of all policies: the order, what counts as done, and how it ends in time. Nothing is trained."""

import csv
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
from benchmarks.train_all import ELSEWHERE, SEEDED, SHIPPED, Entry
from dowsax.learn import METHODS, TrainConfig
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


def test_every_method_is_trained_and_named_alike():
    entries = train_all.plan()
    assert {entry.method for entry in entries} == set(METHODS)
    assert len({entry.label for entry in entries}) == len(entries)
    for entry in entries:
        config = TrainConfig(entry.method, scenario=entry.scenario, steps=entry.steps, seed=entry.seed)
        assert entry.name == config.name
    assert [entry.label for entry in entries[:2]] == ["att-pfrl", "pfrl"]
    assert [entry.ships for entry in entries] == [True] * len(SHIPPED) + [False] * len(SEEDED)


def test_the_same_run_is_trained_once(monkeypatch):
    twin = SEEDED[0]
    ships = Entry(twin.method, twin.steps, twin.scenario, twin.seed)
    monkeypatch.setattr(train_all, "SHIPPED", (ships,))
    assert train_all.same_run(twin) == ships
    assert train_all.plan() == [ships, *SEEDED[1:]]


def test_states_follow_the_card(tmp_path):
    entry = SHIPPED[0]
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
    entry = next(one for one in train_all.plan(tiny=True) if one.label == SHIPPED[0].label)
    made(tmp_path, entry, entry.steps)
    assert train_all.state_of(tmp_path, entry).word == "done"
    assert train_all.state_of(tmp_path, SHIPPED[0]).word == "another"
    words = train_all.command(entry, tmp_path)
    given = dict(zip(words[4::2], words[5::2], strict=True))
    for name, value in train_all.TINY_SIZES.items():
        assert given[f"--{name.removeprefix('num_').replace('_', '-')}"] == str(value)


def test_the_command_is_that_of_the_run(tmp_path):
    words = train_all.command(Entry("pfrl", 7, ELSEWHERE, seed=2), tmp_path)
    expected = f"dowsax train --method pfrl --scenario ood-training --steps 7 --seed 2 --out {tmp_path}"
    assert " ".join(words[2:]) == expected


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
        while not (tmp_path / SHIPPED[1].label / "begun").exists():
            time.sleep(0.02)
        clock.now = deadline - keep
        return 0.0

    monkeypatch.setattr(train_all, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(train_all, "_left", left)
    made(tmp_path, SHIPPED[0], SHIPPED[0].steps)
    assert train_all.train_all(SHIPPED[:3], tmp_path, deadline) == {}
    # The first is done, the second had its time, and for the third there was none left.
    assert (tmp_path / SHIPPED[1].label / "interrupted").exists()
    assert not (tmp_path / SHIPPED[2].label).exists()
    told = train_all.table(SHIPPED[:3], tmp_path, {})
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
    entries = SHIPPED[:2]
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
    entries = SHIPPED[:3]

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
    train_all.train_all(SHIPPED, tmp_path, time.monotonic() + train_all.LEAST - 1)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_told_and_takes_nothing_with_it(tmp_path, monkeypatch):
    program = "import pathlib, sys; pathlib.Path(sys.argv[1]).mkdir(); sys.exit(2)"
    monkeypatch.setattr(
        train_all, "command", lambda entry, folder: [sys.executable, "-c", program, str(folder)]
    )
    made(tmp_path, SHIPPED[2], 9, seed=4)
    faults = train_all.train_all(SHIPPED[:3], tmp_path, math.inf)
    assert [faults[entry] for entry in SHIPPED[:2]] == ["exit code 2"] * 2
    assert "other settings: seed" in faults[SHIPPED[2]]
    assert "under way; exit code 2" in train_all.table(SHIPPED[:3], tmp_path, faults)


def test_only_finished_policies_are_collected(tmp_path):
    runs, package, data = (tmp_path / name for name in ("runs", "package", "data"))
    package.mkdir()
    made(runs, SHIPPED[0], SHIPPED[0].steps)
    made(runs, SHIPPED[1], SHIPPED[1].steps - 1)
    for entry in SEEDED[:2]:
        made(runs, entry, entry.steps)
    said = train_all.collect(runs, package, data)
    assert said[:2] == ["att-pfrl: copied", "pfrl: under way, not copied"]
    assert said[-1] == f"ablations: 2 of {len(SEEDED)} runs"
    assert {path.name for path in package.iterdir()} == {"att-pfrl.safetensors", "att-pfrl.json"}
    assert json.loads((package / "att-pfrl.json").read_text())["steps"] == SHIPPED[0].steps
    lines = list(csv.DictReader((data / "ablation-curves.csv").read_text().splitlines()))
    assert [(line["method"], line["seed"], line["stop_rate"]) for line in lines] == [
        (method, "0", rate) for method in ("att-pfrl", "att-pfrl-r2") for rate in ("0.1", "0.2")
    ]


def test_results_stay_on_the_card_of_the_same_weights(tmp_path):
    runs, package = tmp_path / "runs", tmp_path / "package"
    package.mkdir()
    card = package / "att-pfrl.json"
    for steps, results in ((SHIPPED[0].steps, {"id": 1}), (SHIPPED[0].steps + 9, {})):
        made(runs, SHIPPED[0], steps)
        train_all.collect(runs, package, tmp_path / "data")
        card.write_text(json.dumps(json.loads(card.read_text()) | {"results": results}))
        train_all.collect(runs, package, tmp_path / "data")
        assert json.loads(card.read_text())["results"] == results
        assert load(card.with_suffix(".safetensors"))[1].steps == steps


def test_a_damaged_policy_is_not_collected(tmp_path):
    made(tmp_path, SHIPPED[0], SHIPPED[0].steps)
    weights = tmp_path / "att-pfrl/att-pfrl.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(ValueError, match="cut short or damaged"):
        train_all.collect(tmp_path, tmp_path / "package", tmp_path / "data")


def test_runs_are_chosen_by_name():
    entries = train_all.plan()
    assert train_all.chosen(entries, None) == entries
    some = train_all.chosen(entries, ["pfrl", "att-pfrl-ood"])
    assert [entry.label for entry in some] == ["pfrl", "att-pfrl-ood"]
    assert train_all.chosen(entries, ["ablation"]) == list(SEEDED)
    with pytest.raises(ValueError, match="Unknown run 'dreaming'; known are ablation, "):
        train_all.chosen(entries, ["dreaming"])
