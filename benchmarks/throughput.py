"""How many moves a second searches make with the filters of training, on whatever device JAX has.

    python -m benchmarks.throughput --methods att-pfrl pfrl --data results
    python -m benchmarks.throughput --methods att-pfrl --searches 32768     # more at once

All seven fields at once, the moves chosen by the shipped policy of the method, or by an untrained network
where none ships. Filter, sight and network are included, learning is not. Searches go on for a while before
the clock starts, so that they are at all stages, and compilation is not counted.
"""

import argparse
import csv
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from benchmarks.machine import ROOT, commit, cores
from benchmarks.table_files import Line, read_lines
from dowsax.experiments.provenance import device
from dowsax.learn import METHODS, TrainConfig, rollout
from dowsax.policies.shipped import weights_path
from dowsax.policies.stored import load

FILE = "throughput.csv"
USUAL = ("att-pfrl", "pfrl", "agdc-kld", "att-pfrl-paper")
"""One method for each filter of training."""
WARM, TIMED = 400, 4
"""Ticks before the clock runs, at least, and rollouts while it does. A search has at most 200 readings, and a
reading may take several ticks: by then the first searches have ended, and those under way are at all stages.
"""
SIZES = {"accelerator": (8192, 16), "cpu": (64, 32), "tiny": (7, 2)}
"""Searches under way and ticks of a rollout."""


def build(config: TrainConfig) -> tuple[rollout.Rollout, Any, str]:
    """The searches of a method, a network for them, and whether it has been trained."""
    weights = weights_path(config.method)
    if weights is not None:
        return config.rollout(), load(weights)[0], "trained"
    return config.rollout(), config.build_network(jax.random.key(0)), "untrained"


def moves_in(
    runs: rollout.Rollout, network: Any, warm: int, timed: int, clock: Callable[[], float] = time.perf_counter
) -> tuple[int, float]:
    """Moves and seconds [s] of so many rollouts, after some that are not counted."""
    init, run = eqx.filter_jit(runs.init), eqx.filter_jit(_counted)
    slots, moves, begun = init(jax.random.key(1)), [], 0.0
    for number, key in enumerate(jax.random.split(jax.random.key(2), warm + timed)):
        if number == warm:
            jax.block_until_ready(slots)
            begun = clock()
        slots, count = run(runs, key, network, slots)
        moves.append(count)
    total = int(np.sum(jax.device_get(moves[warm:])))
    return total, clock() - begun


def _counted(runs: rollout.Rollout, key: jax.Array, network: Any, slots: Any) -> tuple[Any, jax.Array]:
    slots, transitions, _ = runs.run(key, network, slots)
    return slots, transitions.valid.sum()


def measure(name: str, searches: int | None = None, *, tiny: bool = False) -> Line:
    """A line of the table; the usual number of searches unless given."""
    backend = "cpu" if jax.default_backend() == "cpu" else "accelerator"
    usual, ticks = SIZES["tiny" if tiny else backend]
    searches = usual if searches is None else searches
    small: dict[str, Any] = {"particles": 32, "max_readings": 6} if tiny else {}
    config = TrainConfig(name, num_searches=searches, rollout_length=ticks, **small)
    runs, network, kind = build(config)
    moves, seconds = moves_in(runs, network, *((1, 1) if tiny else (math.ceil(WARM / ticks), TIMED)))
    filtered = config.searches()[0].preset.config
    about = {
        "method": name,
        "network": kind,
        "preset": METHODS[name].preset,
        "particles": filtered.num_particles,
        "searches": searches,
        "ticks": ticks,
        "device": device() if backend != "cpu" else f"{cores()} cores",
        "jax": jax.__version__,
        "commit": commit(),
    }
    measured = {"moves": moves, "seconds": f"{seconds:.4g}", "moves_per_second": f"{moves / seconds:.4g}"}
    return {key: str(value) for key, value in (about | measured).items()}


def write(
    data: Path, methods: Sequence[str] = USUAL, searches: int | None = None, *, tiny: bool = False
) -> None:
    """Measure and note, in place of what was noted of the same method, device and number of searches."""
    for name in methods:
        line = measure(name, searches, tiny=tiny)
        kept = [one for one in read_lines(data / FILE) if not _alike(one, line)]
        data.mkdir(parents=True, exist_ok=True)
        with (data / FILE).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(line), lineterminator="\n")
            writer.writeheader()
            writer.writerows([*kept, line])
        print(f"{name} on {line['device']}: {line['moves_per_second']} moves a second", flush=True)


def _alike(one: Line, other: Line) -> bool:
    return all(one[name] == other[name] for name in ("method", "device", "searches"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--methods", nargs="+", default=USUAL, choices=METHODS)
    parser.add_argument("--data", type=Path, default=ROOT / "results")
    parser.add_argument("--searches", type=int)
    parser.add_argument("--tiny", action="store_true")
    options = parser.parse_args()
    write(options.data, options.methods, options.searches, tiny=options.tiny)


if __name__ == "__main__":
    main()
