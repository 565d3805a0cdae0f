"""Train every policy that ships, with each of its seeds.

    python -m benchmarks.train_all --out runs/train                   # all of it, on a graphics card
    python -m benchmarks.train_all --out runs/train --budget 540      # so many seconds; call again to go on
    python -m benchmarks.train_all --out runs/train --at-once 3       # so many runs share the card
    python -m benchmarks.train_all --out runs/train --status          # what is done, under way and missing
    python -m benchmarks.train_all --collect runs/train               # finished runs into the package
    python -m benchmarks.train_all --out runs/tiny-train --tiny       # a rehearsal

Each run is a `dowsax train` in a process and a folder of its own, the most important first. When the time is
up the runs under way are interrupted; each has lost at most one chunk of updates, and the next call goes on
from its checkpoint. Runs that share a card take turns and hold each other up, unless NVIDIA's multi-process
service lets their kernels run side by side: `nvidia-cuda-mps-control -d` before `--at-once`.
"""

import argparse
import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import ROOT
from dowsax.evaluate.tables import markdown
from dowsax.learn import TrainConfig
from dowsax.policies.shipped import seed_name
from dowsax.policies.stored import card_of, card_path, digest_of, load, save

AGDC = ("agdc-kld", "agdc-ent", "agdc-ee")
STEPS = 3_000_000
"""Moves of every run, over all searches."""
SEEDS = (0, 1, 2)
ELSEWHERE = "ood-training"
LEAST = 120.0
"""[s]; a process that has less would spend it on starting, compiling and its first chunk."""
PATIENCE = 20.0
"""[s], for an interrupted run to end by itself: the chunk under way has to be over first."""
PRETRAINED = ROOT / "src/dowsax/policies/pretrained"
TINY_STEPS = 300
TINY_SIZES: dict[str, Any] = {"num_searches": 14, "rollout_length": 8, "particles": 32, "max_readings": 6}
TINY = (
    *("--searches", "14", "--rollout-length", "8", "--particles", "32"),
    *("--max-readings", "6", "--chunk", "1"),
)
"""The same in the words of the command line."""


@dataclass(frozen=True)
class Entry:
    """A run: a method on all fields."""

    method: str
    seed: int = 0
    scenario: str = "id"
    preset: str | None = None
    """The filter in training. Default: the method's."""
    steps: int = STEPS
    tiny: bool = False
    """A rehearsal."""

    @property
    def config(self) -> TrainConfig:
        """The settings of `dowsax train`."""
        return TrainConfig(
            self.method,
            scenario=self.scenario,
            steps=self.steps,
            seed=self.seed,
            preset=self.preset,
            **(TINY_SIZES if self.tiny else {}),
        )

    @property
    def name(self) -> str:
        """Of the policy in the folder of its run, as `dowsax train` gives it."""
        return self.config.name

    @property
    def label(self) -> str:
        """Its folder below that of all runs, and its name in the package."""
        return seed_name(self.name, self.seed)

    @property
    def options(self) -> dict[str, str]:
        """The options of its command line that differ from those of other runs."""
        filter_ = {} if self.preset is None else {"--preset": self.preset}
        return {
            "--method": self.method,
            "--scenario": self.scenario,
            "--steps": str(self.steps),
            "--seed": str(self.seed),
            **filter_,
        }

    def settings(self) -> dict[str, Any]:
        """All that determines the result, as its card should have it."""
        return json.loads(json.dumps(self.config.settings()))


RUNS = (
    *((method, "id", None) for method in ("att-pfrl-paper", "pfrl", "att-pfrl")),
    *((method, "id", None) for method in AGDC),
    *((method, ELSEWHERE, None) for method in ("pfrl", "att-pfrl-paper", *AGDC)),
    *((method, "id", None) for method in ("att-pfrl-r2", "att-pfrl-r3", "att-pfrl-right")),
)
"""Method, scenario and filter of the runs with each seed, the most important first."""
ENTRIES = tuple(Entry(method, seed, scenario, preset) for seed in SEEDS for method, scenario, preset in RUNS)


class State(NamedTuple):
    """How far a run is."""

    word: str
    """done, under way, missing, or another: a folder of a run with other settings."""
    steps: int = 0
    newest: dict[str, float] | None = None
    """The end of its curve."""


def plan(tiny: bool = False) -> list[Entry]:
    """Every run once: all methods with one seed before the next."""
    return [replace(one, steps=TINY_STEPS, tiny=True) for one in ENTRIES] if tiny else list(ENTRIES)


def command(entry: Entry, folder: Path) -> list[str]:
    """The command line of a run."""
    words = [word for option in entry.options.items() for word in option]
    sizes = TINY if entry.tiny else ()
    return [sys.executable, "-m", "dowsax", "train", *words, "--out", str(folder), *sizes]


def read_card(folder: Path, entry: Entry) -> dict[str, Any] | None:
    """What the newest policy of a run says of itself."""
    path = folder / entry.label / f"{entry.name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def judged(entry: Entry, steps: int, settings: Mapping[str, Any]) -> str:
    """What a policy with these steps and settings on its card is of an entry."""
    if settings and differing(entry, settings):
        return "another"
    # A card without settings is written anew by the command of the run, or refused.
    return "done" if settings and steps >= entry.steps else "under way"


def differing(entry: Entry, settings: Mapping[str, Any]) -> list[str]:
    """The names of settings that are not those of the entry."""
    here = entry.settings()
    return [name for name in {**here, **settings} if here.get(name) != settings.get(name)]


def state_of(folder: Path, entry: Entry) -> State:
    """How far a run is, by its card."""
    card = read_card(folder, entry)
    if card is None:
        return State("under way" if (folder / entry.label).exists() else "missing")
    newest = {name: column[-1] for name, column in card["curves"].items()}
    return State(judged(entry, card["steps"], card.get("settings", {})), card["steps"], newest)


def train(words: Sequence[str], deadline: float, running: set[subprocess.Popen]) -> str:
    """Run a training command until it ends or the time is up; what went wrong, or nothing."""
    child = subprocess.Popen(words, cwd=ROOT)
    running.add(child)
    try:
        child.wait(timeout=_left(deadline, PATIENCE))
    except subprocess.TimeoutExpired:
        end(child)
        return ""
    finally:
        running.discard(child)
    return f"exit code {child.returncode}" if child.returncode else ""


def end(child: subprocess.Popen) -> None:
    """Ask a run to end; a checkpoint is whole at any moment, so one that does not listen may be killed."""
    child.terminate()
    try:
        child.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _left(deadline: float, keep: float) -> float | None:
    """[s], until so long before the deadline; none without one."""
    return None if math.isinf(deadline) else max(deadline - keep - time.monotonic(), 0.0)


def train_all(entries: Sequence[Entry], folder: Path, deadline: float, at_once: int = 1) -> dict[Entry, str]:
    """Train what is not done, so many at once, while there is time; what went wrong with which."""
    running: set[subprocess.Popen] = set()
    pool = ThreadPoolExecutor(at_once)
    try:
        faults = pool.map(lambda entry: _train_one(entry, folder, deadline, running), entries)
        return {entry: fault for entry, fault in zip(entries, faults, strict=True) if fault}
    except KeyboardInterrupt:
        # Each waits for its child in a thread of its own, which an interruption does not reach.
        pool.shutdown(wait=False, cancel_futures=True)
        for child in list(running):
            end(child)
        raise
    finally:
        pool.shutdown()


def _train_one(entry: Entry, folder: Path, deadline: float, running: set[subprocess.Popen]) -> str:
    """Train a run that is not done, if there is time for it; what went wrong, or nothing."""
    word = state_of(folder, entry).word
    if word == "another":
        there = read_card(folder, entry)
        names = ", ".join(differing(entry, there["settings"])) if there else ""
        return f"{folder / entry.label} holds a run with other settings: {names}"
    if word == "done" or deadline - time.monotonic() < LEAST:
        return ""
    print(f"{entry.label}: {entry.steps:,} steps", file=sys.stderr, flush=True)
    return train(command(entry, folder / entry.label), deadline, running)


def table(entries: Sequence[Entry], folder: Path, faults: dict[Entry, str]) -> str:
    """Where every run stands. The measures are those of training, with the filter of training."""
    rows = []
    for entry in entries:
        word, steps, newest = state_of(folder, entry)
        measured = ["–"] * 4 if newest is None else _measures(newest)
        said = f"{word}; {faults[entry]}" if entry in faults else word
        rows.append((entry.label, said, f"{steps:,} of {entry.steps:,}", *measured))
    headings = ("run", "state", "steps", "time [s]", "stopped", "path to the stop [m]", "false stops")
    return "\n".join(markdown(headings, rows))


def _measures(newest: dict[str, float]) -> list[str]:
    digits = {"seconds": 0, "stop_rate": 3, "path_length": 1, "false_stops": 3}
    return [f"{newest[name]:.{places}f}" for name, places in digits.items()]


def collect(folder: Path, package: Path = PRETRAINED) -> list[str]:
    """Copy finished policies into the package; return what was done."""
    said = []
    for entry in ENTRIES:
        word = state_of(folder, entry).word
        if word == "done":
            copy(folder / entry.label / f"{entry.name}.safetensors", package / f"{entry.label}.safetensors")
        said.append(f"{entry.label}: {'copied' if word == 'done' else f'{word}, not copied'}")
    return said


def copy(path: Path, place: Path) -> None:
    """Copy a policy and its card. Results on the card of the same weights are kept."""
    network, card = load(path)
    if place.exists() and card_path(place).exists() and digest_of(place) == digest_of(path):
        card = replace(card, results=card_of(place).results)
    save(place, network, card)


def chosen(entries: Sequence[Entry], only: Sequence[str] | None) -> list[Entry]:
    """The entries of these labels; all without any."""
    if only is None:
        return list(entries)
    known = {entry.label for entry in entries}
    strange = [name for name in only if name not in known]
    if strange:
        raise ValueError(f"Unknown run {strange[0]!r}; known are {', '.join(sorted(known))}.")
    return [one for one in entries if one.label in only]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("runs/train"), help="a folder for each run below it")
    parser.add_argument("--only", nargs="+", metavar="RUN", help="by label")
    parser.add_argument("--budget", type=float, default=math.inf, metavar="SECONDS")
    parser.add_argument("--at-once", type=int, default=1, metavar="RUNS", help="that share the device")
    parser.add_argument("--tiny", action="store_true", help="few moves, few particles")
    parser.add_argument("--status", action="store_true", help="only say how far it is")
    parser.add_argument("--collect", type=Path, metavar="FOLDER", help="copy what is finished in the folder")
    options = parser.parse_args()
    deadline = time.monotonic() + options.budget
    if options.collect is not None:
        print("\n".join(collect(options.collect)))
        return 0
    try:
        entries = chosen(plan(options.tiny), options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.at_once < 1:
        parser.error(f"--at-once is at least 1; got {options.at_once}")
    # Asked to end, it ends the run under way like one that is interrupted at a terminal.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    out = options.out.resolve()
    faults = {} if options.status else train_all(entries, out, deadline, options.at_once)
    print(table(entries, out, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
