"""Where the searches of runs ended under two stop rules, for the tables of the benchmarks.

The searches are those of `dowsax evaluate` with the same seed.
"""

import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dowsax.cli.run_progress import show_progress
from dowsax.evaluate.metrics import Ends, Summary, ends, summary_of
from dowsax.evaluate.stops import TraceRule
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run, require_known
from dowsax.experiments.runner import default_shard_size, execute
from dowsax.experiments.store import Store

RULES = (CREDIBLE, CONTRACTION)
TOLERANCE = 1e-3
"""[m], and in the units of Θ: sources drawn on another kind of machine differ by rounding."""
TINY: dict[str, Any] = {"episodes": 6, "particles": 64, "max_readings": 6}


class Measured(NamedTuple):
    """Where the searches of a run ended."""

    about: dict[str, Any]
    """Its settings, and what it was computed with."""
    theta: np.ndarray
    """(searches, d): the sources."""
    seconds: np.ndarray
    ends: dict[TraceRule, Ends]

    def summary(self, rule: TraceRule) -> Summary:
        return summary_of(self.ends[rule], self.seconds)


def open_store(folder: Path, trusted: Collection[str] = ()) -> Store:
    """The store in a folder, with shards of a size that suits the device."""
    return Store(folder, default_shard_size(), frozenset(trusted))


def compute(store: Store, runs: Sequence[Run], budget: float) -> None:
    """Compute what is missing of the runs in their order for at most `budget` seconds."""
    require_known(runs)
    with show_progress(runs, store.missing(runs)) as progress:
        execute(store, runs, deadline=time.time() + budget, progress=progress)
    left = len(store.incomplete(runs))
    if left:
        print(f"The time is up: {left} of {len(runs)} runs are incomplete.", file=sys.stderr, flush=True)


def read_measured(store: Store, runs: Sequence[Run]) -> dict[Run, Measured]:
    """The runs that are complete."""
    found = {}
    for run in runs:
        about, episodes = store.about(run), store.episodes(run)
        if about is not None and episodes is not None:
            theta = np.stack([episode.theta for episode in episodes])
            seconds = np.array([episode.seconds for episode in episodes], np.float64)
            found[run] = Measured(about, theta, seconds, {rule: _ends(episodes, rule) for rule in RULES})
    return found


def _ends(episodes: Sequence, rule: TraceRule) -> Ends:
    """In the precision in which they were recorded."""
    parts = ends(episodes, rule)
    return Ends(*(part.astype(np.float32) if part.dtype == float else part for part in parts))


def require_paired(first: Measured, second: Measured) -> None:
    """Raise a ValueError unless both had the same sources."""
    one, other = first.theta, second.theta
    if one.shape != other.shape or not np.allclose(one, other, rtol=TOLERANCE, atol=TOLERANCE):
        names = " and ".join(str(one.about["policy"]) for one in (first, second))
        raise ValueError(f"{names} did not search for the same sources: they cannot be paired.")


def resize(run: Run, episodes: int, tiny: bool) -> Run:
    """The run with a number of searches, or with the sizes of a rehearsal."""
    return replace(run, **TINY) if tiny else replace(run, episodes=episodes)
