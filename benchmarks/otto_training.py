"""Train the value network of a case of the olfactory search: `python -m benchmarks.otto_training`

The weights are written to the output folder from the first minute on, and so is a checkpoint: the same
command goes on from there, with new searches. The length of the training is a time, so that the same seed
gives other weights on another machine.
"""

import argparse
import json
import shlex
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp

from benchmarks import machine
from benchmarks.otto_learner import LearnerConfig, LearnerState, build, learn
from dowsax.evaluate.statistics import bootstrap_interval
from dowsax.files import replace_file, write_through
from dowsax.leaderboards.otto import CASES, Case
from dowsax.leaderboards.otto_network import ValuePolicy, save_network
from dowsax.leaderboards.otto_search import search

SAVE_SECONDS = 20.0
EVALUATION_SEED = 1_000_003
"""Added to the seed for the searches after training: the table uses small seeds."""


@dataclass(frozen=True)
class Training:
    """What is trained, how long, and where the results go."""

    case: Case
    minutes: float
    seed: int
    out: Path
    config: LearnerConfig
    command: str
    """For the card of the weights."""

    @property
    def weights(self) -> Path:
        return self.out / f"otto-{self.case.slug}.safetensors"

    @property
    def checkpoint(self) -> Path:
        return self.out / f"otto-{self.case.slug}.checkpoint"


def train(training: Training) -> LearnerState:
    """Learn for the given time, the compilation not counted; go on from a checkpoint where there is one."""
    init_key, key = jax.random.split(jax.random.key(training.seed))
    state, spent, chunk = build(init_key, training.case, training.config), 0.0, 0
    if training.checkpoint.exists():
        state, spent, chunk = _read_checkpoint(training, state)
    seconds, saved, begun = 60 * training.minutes, spent, None
    before = spent
    while spent < seconds:
        progress = jnp.asarray(spent / seconds, jnp.float32)
        state, info = learn(jax.random.fold_in(key, chunk), state, training.case, training.config, progress)
        jax.block_until_ready(info)
        chunk += 1
        # The first chunk compiles.
        begun = time.monotonic() if begun is None else begun
        spent = before + time.monotonic() - begun
        if spent - saved > SAVE_SECONDS or spent >= seconds:
            saved = spent
            _save(training, state, spent, chunk)
            numbers = " ".join(
                f"{name} {float(value):.4g}" for name, value in zip(info._fields, info, strict=True)
            )
            print(
                f"{training.case.slug}: {spent:.0f} of {seconds:.0f} s, chunk {chunk}, {numbers}", flush=True
            )
    return state


def evaluate(training: Training, state: LearnerState, searches: int) -> None:
    """Print the mean time to find of the averaged network, on searches that the table does not use."""
    key = jax.random.key(EVALUATION_SEED + training.seed)
    found = search(key, training.case, ValuePolicy(state.averaged), searches)
    low, high = bootstrap_interval(found.means)
    print(
        f"{training.case.slug}: {found.means.mean():.3f} [{low:.3f}, {high:.3f}] steps "
        f"in {searches} searches, {found.failed.mean():.4f} failed",
        flush=True,
    )


def _save(training: Training, state: LearnerState, spent: float, chunk: int) -> None:
    card = {
        "command": training.command,
        "case": training.case.slug,
        "seed": training.seed,
        "seconds": round(spent, 1),
        "updates": int(state.updates),
        "visits": chunk * training.config.searches * training.config.length,
        "config": asdict(training.config),
        "commit": machine.commit(),
        "jax": jax.__version__,
        "device": jax.devices()[0].device_kind,
    }
    save_network(training.weights, state.averaged, card)
    header = json.dumps({"spent": spent, "chunk": chunk}).encode() + b"\n"
    with replace_file(training.checkpoint) as partial:
        write_through(partial, header)
        with partial.open("ab") as file:
            eqx.tree_serialise_leaves(file, _carried(state))


def _read_checkpoint(training: Training, fresh: LearnerState) -> tuple[LearnerState, float, int]:
    """Return a fresh state with the networks of the checkpoint, the seconds spent, and the chunks."""
    with training.checkpoint.open("rb") as file:
        header = json.loads(file.readline())
        carried = eqx.tree_deserialise_leaves(file, _carried(fresh))
    state = eqx.tree_at(_carried, fresh, carried)
    return state, header["spent"], header["chunk"]


def _carried(state: LearnerState) -> tuple:
    """Return what a checkpoint holds: all but the searches under way."""
    return state.network, state.averaged, state.optimiser, state.updates


def main(arguments: list[str] | None = None) -> None:
    """Train one case or all in turn."""
    cases, standard = {case.slug: case for case in CASES}, LearnerConfig()
    parser = argparse.ArgumentParser(description="Train the value network of a case of the olfactory search.")
    parser.add_argument("--case", nargs="+", choices=[*cases, "all"], required=True)
    parser.add_argument("--minutes", type=float, default=2.0, help="of training for each case (default 2)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="folder of weights and checkpoints")
    parser.add_argument("--searches", type=int, default=standard.searches, help="side by side")
    parser.add_argument("--minibatch", type=int, default=standard.minibatch)
    parser.add_argument("--widths", type=int, nargs="+", default=list(standard.widths))
    parser.add_argument("--learning-rate", type=float, default=standard.learning_rate)
    parser.add_argument("--one-orientation", action="store_true", help="faster backups, for a CPU")
    parser.add_argument("--evaluate", type=int, default=0, help="searches after the training (default none)")
    given = parser.parse_args(arguments)
    config = replace(
        standard,
        searches=given.searches,
        minibatch=given.minibatch,
        widths=tuple(given.widths),
        learning_rate=given.learning_rate,
        all_orientations=not given.one_orientation,
    )
    command = shlex.join(["python", "-m", "benchmarks.otto_training", *(arguments or sys.argv[1:])])
    for slug in cases if "all" in given.case else given.case:
        training = Training(cases[slug], given.minutes, given.seed, given.out, config, command)
        state = train(training)
        if given.evaluate:
            evaluate(training, state, given.evaluate)


if __name__ == "__main__":
    main()
