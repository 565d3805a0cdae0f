"""Many searches of RAD-Search: how often solved, how much longer than the shortest way, with intervals."""

import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from dowsax.evaluate.statistics import wilson_interval
from dowsax.evaluate.tables import markdown
from dowsax.leaderboards.rad_search import (
    MAX_WALLS,
    REACH,
    SIGNAL_TO_NOISE,
    Search,
    World,
    least_readings,
    read_worlds,
)
from dowsax.leaderboards.rad_search_belief import Belief
from dowsax.leaderboards.rad_search_map import WallMap
from dowsax.leaderboards.rad_search_planner import Planner

FILES = tuple(
    (walls, ratio, f"walls{walls}_{ratio}.json")
    for walls in range(MAX_WALLS + 1)
    for ratio in SIGNAL_TO_NOISE
)
"""Number of walls, signal to noise, and the file of such worlds."""
STOP_PROBABILITY = 0.95
"""The search would stop when the source is within 110 cm of the estimate with this probability."""
PUBLISHED = {
    (0, "high"): (0.995, 2.9),
    (1, "high"): (0.965, 2.9),
    (3, "high"): (0.935, 3.2),
    (5, "high"): (0.880, 3.1),
    (7, "high"): (0.900, 4.0),
    (0, "low"): (0.96, None),
    (7, "low"): (0.85, None),
}
"""Share solved and median of readings over the shortest way of RAD-A2C, for walls and signal to noise.

Its published weights on 50 other worlds of the same benchmark, 4 runs each, walls unknown.
"""
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC")
"""What BLAS and XLA read their number of threads from."""
_HEADINGS = (
    "walls",
    "signal to noise",
    "worlds",
    "solved",
    "RAD-A2C",
    "over the shortest way",
    "RAD-A2C",
    "stop said",
    "stop right",
    "ms",
)


class Outcome(NamedTuple):
    """One search."""

    is_solved: bool
    ratio: float
    """Readings over the least number; infinite where not solved."""
    is_stop_right: bool | None
    """Whether the first stop that would have been said is right; `None` without any."""
    milliseconds: float
    """CPU time of a decision."""


@dataclass(frozen=True)
class Row:
    """All searches with one number of walls, one signal-to-noise ratio and walls known or not."""

    walls: int
    signal_to_noise: str
    is_known: bool
    worlds: int
    runs: int
    solved: float
    solved_interval: tuple[float, float]
    """95 %; runs count as independent."""
    ratio: float
    """Median of readings over the least possible number, unsolved ones infinite."""
    ratio_interval: tuple[float, float]
    stopped: float
    """How often the stop rule would have stopped before the end."""
    right: float
    """Of those, how often the source was within 110 cm of the estimate."""
    right_interval: tuple[float, float]
    milliseconds: float
    """CPU time of a decision, median over runs."""

    def to_json(self) -> dict[str, Any]:
        values = asdict(self)
        published = PUBLISHED.get((self.walls, self.signal_to_noise), (None, None))
        values |= {"published_solved": published[0], "published_ratio": published[1]}
        return {key: _finite(value) for key, value in values.items()}


def _finite(value: Any) -> Any:
    """Return the value with `None` for what JSON cannot hold."""
    if isinstance(value, tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def search(world: World, seed: tuple[int, ...], is_known: bool) -> Outcome:
    """Search one world, with or without knowledge of its walls."""
    noise, draws = (np.random.default_rng([*seed, part]) for part in (0, 1))
    state = Search(world, noise)
    belief, planner = Belief(WallMap(draws, world.walls if is_known else None)), Planner()
    observation, is_right, seconds = state.observe(), None, 0.0
    while not state.is_over:
        begun = time.process_time()
        belief.update(observation)
        cells = belief.cells()
        move = planner.choose(belief.walls, cells, observation)
        seconds += time.process_time() - begun
        estimate = cells.weights @ cells.places
        within = np.linalg.norm(cells.places - estimate, axis=1) < REACH
        if is_right is None and cells.weights[within].sum() >= STOP_PROBABILITY:
            is_right = bool(np.linalg.norm(estimate - world.source) < REACH)
        observation = state.step(move)
    ratio = state.readings / least_readings(world) if state.is_solved else math.inf
    return Outcome(state.is_solved, ratio, is_right, 1e3 * seconds / max(state.readings, 1))


class File(NamedTuple):
    """The worlds of one file."""

    walls: int
    signal_to_noise: str
    worlds: list[World]


def read_files(folder: Path, first: int | None = None) -> list[File]:
    """Return the worlds of all files that are there, or the first ones of each."""
    return [
        File(walls, ratio, read_worlds(folder / name)[:first])
        for walls, ratio, name in FILES
        if (folder / name).is_file()
    ]


def measure(
    files: list[File], runs: int, seed: int, jobs: int | None = None, step: Callable[[], None] = lambda: None
) -> Iterator[Row]:
    """Yield a row for each file, first with unknown walls, then with known ones.

    `step` is called after each search. Searches run in `jobs` processes of one thread each, by default as
    many as there are processors. All of them wait in one queue, so that no process idles until the end.
    """
    with _single_threads(), ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn")) as pool:
        rows = [
            (file, is_known, _search_all(pool, file, is_known, runs, seed))
            for is_known, file in product((False, True), files)
        ]
        for file, is_known, searches in rows:
            outcomes = []
            for outcome in searches:
                outcomes.append(outcome)
                step()
            yield summarise(file, is_known, outcomes)


@contextmanager
def _single_threads() -> Iterator[None]:
    """Let processes that start within compute in one thread each, which also rounds the same everywhere."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _search_all(
    pool: ProcessPoolExecutor, file: File, is_known: bool, runs: int, seed: int
) -> Iterator[Outcome]:
    """Queue all searches of a file; return their outcomes in order.

    Their noise does not depend on what else is run.
    """
    order = list(SIGNAL_TO_NOISE).index(file.signal_to_noise)
    each = list(product(range(len(file.worlds)), range(runs)))
    seeds = [(seed, file.walls, order, *one) for one in each]
    worlds = [file.worlds[number] for number, _ in each]
    return pool.map(search, worlds, seeds, [is_known] * len(worlds))


def summarise(file: File, is_known: bool, outcomes: list[Outcome]) -> Row:
    """Return the row of all searches of a file."""
    solved = sum(outcome.is_solved for outcome in outcomes)
    stops = [outcome.is_stop_right for outcome in outcomes if outcome.is_stop_right is not None]
    ratios = np.array([outcome.ratio for outcome in outcomes])
    return Row(
        walls=file.walls,
        signal_to_noise=file.signal_to_noise,
        is_known=is_known,
        worlds=len(file.worlds),
        runs=len(outcomes),
        solved=solved / len(outcomes),
        solved_interval=wilson_interval(solved, len(outcomes)),
        ratio=median(ratios),
        ratio_interval=median_interval(ratios),
        stopped=len(stops) / len(outcomes),
        right=sum(stops) / len(stops) if stops else math.nan,
        right_interval=wilson_interval(sum(stops), len(stops)),
        milliseconds=float(np.median([outcome.milliseconds for outcome in outcomes])),
    )


def median(values: np.ndarray) -> float:
    """Return the median of values that may be infinite."""
    ordered = np.sort(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return float(low if low == high else (low + high) / 2)


def median_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 95 % interval of the median: the order statistics between which it lies, by the binomial."""
    ordered, number = np.sort(values), len(values)
    low = max(int(binom.ppf(0.025, number, 0.5)) - 1, 0)
    return float(ordered[low]), float(ordered[number - 1 - low])


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown: a table with unknown walls and one with known ones."""
    parts = []
    for is_known in (False, True):
        cells = [_cells(row) for row in rows if row.is_known == is_known]
        title = "Walls known" if is_known else "Walls unknown but for ranges"
        parts.append("\n".join([f"{title}:", "", *markdown(_HEADINGS, cells)]))
    return "\n\n".join(parts)


def _cells(row: Row) -> tuple[str, ...]:
    solved, ratio = PUBLISHED.get((row.walls, row.signal_to_noise), (None, None))
    right = "none" if math.isnan(row.right) else _with_interval(row.right, row.right_interval, 3)
    return (
        str(row.walls),
        row.signal_to_noise,
        str(row.worlds),
        _with_interval(row.solved, row.solved_interval, 3),
        "" if solved is None else f"{solved:g}",
        _with_interval(row.ratio, row.ratio_interval, 2),
        "" if ratio is None else f"{ratio:g}",
        f"{row.stopped:.2f}",
        right,
        f"{row.milliseconds:.1f}",
    )


def _with_interval(value: float, interval: tuple[float, float], digits: int) -> str:
    return f"{value:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"
