"""The peers and dowsax on the same surveys, against the reference posteriors, as a markdown table.

    python -m benchmarks.peers_table                   all cases of temperature, gas and energy
    python -m benchmarks.peers_table --fields all      of all seven fields
    python -m benchmarks.peers_table --cases 1 --only dowsax

dowsax comes with several numbers of particles, so that accuracy can be read off against time. Times are CPU
time of this process, all its threads together, compilation left out.
"""

import argparse
import csv
import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import Progress

from benchmarks import surveys
from benchmarks.peers.model import FIELDS
from benchmarks.peers.result import PeerResult, Stopwatch

Run = Callable[[str, np.ndarray, np.ndarray, int], PeerResult]


class Engine(NamedTuple):
    """One row of the table: where the function is, the package it needs, and the variant."""

    name: str
    module: str
    package: str
    settings: dict[str, object]


ENGINES = (
    Engine("plain particle filter", "plain", "numpy", {"num_particles": 500}),
    Engine("plain particle filter", "plain", "numpy", {"num_particles": 20_000}),
    Engine("Stone Soup, exact likelihood", "stone_soup", "stonesoup", {}),
    Engine("particles IBIS, waste-free default", "ibis", "particles", {"waste_free": True}),
    Engine("particles IBIS, 9 moves", "ibis", "particles", {}),
    Engine("particles IBIS, scale 0.5", "ibis", "particles", {"num_particles": 5000, "scale": 0.5}),
    Engine("blackjax adaptive tempering (batch)", "blackjax_tempered", "blackjax", {}),
)


DOWSAX = "dowsax"
DOWSAX_PARTICLES = (512, 1024, 2048, 4096)
ALL = "all"


class Trial(NamedTuple):
    """One engine on one case with one seed, a line of the CSV."""

    engine: str
    num_particles: int
    group: str
    field: str
    case: int
    seed: int
    gap: float
    std_ratio_x: float
    std_ratio_y: float
    localised: bool
    cpu_ms_a_reading: float


class Row(NamedTuple):
    """What one engine did on all cases."""

    name: str
    num_particles: int
    summaries: dict[str, surveys.Summary]
    """A field, or `overall`, to its summary."""
    ms_a_reading: float
    trials: list[Trial]

    @property
    def median_ms(self) -> float:
        """Of the runs: far below the mean when a few were slow, be it their work or the machine."""
        return float(np.median([trial.cpu_ms_a_reading for trial in self.trials]))


def load_engine(engine: Engine) -> Run | None:
    """The engine's function, or `None` when its package is not installed."""
    if importlib.util.find_spec(engine.package) is None:
        return None
    run = importlib.import_module(f"benchmarks.peers.{engine.module}").run
    return lambda *survey: run(*survey, **engine.settings)


def load_dowsax(particles: int | None = None) -> Run | None:
    """dowsax's own `locate` in the shape of a peer, or `None` when it cannot be imported."""
    try:
        from dowsax import locate
    except ImportError:
        return None
    warm: set[tuple[str, int]] = set()

    def run(field: str, positions: np.ndarray, readings: np.ndarray, seed: int) -> PeerResult:
        def result():
            found = locate(positions, readings, field=field, particles=particles, seed=seed)
            return np.asarray(found.samples, float), np.asarray(found.weights, float)

        # A survey of a new field or length may compile; that is paid once and not counted.
        if (field, len(readings)) not in warm:
            result()
            warm.add((field, len(readings)))
        with Stopwatch() as stopwatch:
            samples, weights = result()
        return PeerResult(samples, weights, stopwatch.seconds)

    return run


def candidates(words: Sequence[str] | None) -> list[tuple[str, Run | None]]:
    """All rows of the table in order, or those whose name contains one of the words."""

    def wanted(name: str) -> bool:
        return words is None or any(word in name for word in words)

    rows = [(engine.name, load_engine(engine)) for engine in ENGINES if wanted(engine.name)]
    if wanted(DOWSAX):
        rows.append((f"{DOWSAX}, default", load_dowsax()))
        rows += [(DOWSAX, load_dowsax(number)) for number in DOWSAX_PARTICLES if number != _default_number()]
    return rows


def _default_number() -> int | None:
    """The default preset's own number of particles, which has a row already."""
    try:
        from dowsax.inference import DEFAULT
    except ImportError:
        return None
    return DEFAULT.config.num_particles


def measure(
    name: str, run: Run, cases: Sequence[surveys.Case], seeds: Sequence[int], tick: Callable[[], None]
) -> Row:
    """Run one engine on every case with every seed."""
    # Whatever a package does but once, such as compiling its helpers, is no cost of a reading.
    run(cases[0].field, cases[0].positions, cases[0].readings, seeds[0])
    done, scores, trials, seconds, num_readings = [], [], [], 0.0, 0
    for seed in seeds:
        for case in cases:
            result = run(case.field, case.positions, case.readings, seed)
            one = surveys.score(case, result.samples, result.weights)
            scores.append(one)
            done.append(case)
            seconds += result.cpu_seconds
            num_readings += len(case.readings)
            time = 1000 * result.cpu_seconds / len(case.readings)
            place = len(result.samples), case.group, case.field, case.number, seed
            trials.append(Trial(name, *place, one.gap, *map(float, one.std_ratio), one.localised, time))
            tick()
    by_field = surveys.summarise_by_field(done, scores)
    return Row(name, trials[0].num_particles, by_field, 1000 * seconds / num_readings, trials)


def overall_table(rows: Sequence[Row]) -> str:
    """One line an engine, over all cases."""
    lines = [
        "| engine | particles | gap median, p90 | localised median, p90 | σ ratio median, p10 "
        "| 90 % coverage | CPU ms a reading mean, median |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        one = row.summaries["overall"]
        lines.append(
            f"| {row.name} | {row.num_particles:,} | {one.gap_median:.2f}, {one.gap_p90:.2f} "
            f"| {one.localised_gap_median:.2f}, {one.localised_gap_p90:.2f} "
            f"| {one.std_ratio_median:.2f}, {one.std_ratio_p10:.2f} | {one.coverage:.2f} "
            f"| {row.ms_a_reading:.1f}, {row.median_ms:.1f} |"
        )
    return "\n".join(lines)


def field_table(rows: Sequence[Row]) -> str:
    """One line an engine, gap median and p90 a column a field."""
    fields = [field for field in rows[0].summaries if field != "overall"]
    lines = [f"| gap median, p90 | {' | '.join(fields)} |", "|---" * (len(fields) + 1) + "|"]
    for row in rows:
        cells = [f"{row.summaries[f].gap_median:.2f}, {row.summaries[f].gap_p90:.2f}" for f in fields]
        lines.append(f"| {row.name} ({row.num_particles:,}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def equal_accuracy_table(rows: Sequence[Row]) -> str:
    """For each peer the fastest dowsax row whose gap is no larger, in the median and in the tail.

    The fastest of several that pass, on few cases: a row that passes by a hair may be luck.
    """
    ours = sorted((row for row in rows if row.name.startswith(DOWSAX)), key=lambda row: row.ms_a_reading)
    lines = [
        "| peer | CPU ms a reading | dowsax, no less accurate | CPU ms a reading | share |",
        "|---" * 5 + "|",
    ]
    for row in rows:
        if row in ours:
            continue
        peer = row.summaries["overall"]
        match = next((one for one in ours if _as_accurate(one.summaries["overall"], peer)), None)
        cells = "none of these | – | –"
        if match is not None:
            share = match.ms_a_reading / row.ms_a_reading
            cells = f"{match.num_particles:,} particles | {match.ms_a_reading:.1f} | {share:.2f}"
        lines.append(f"| {row.name} ({row.num_particles:,}) | {row.ms_a_reading:.1f} | {cells} |")
    return "\n".join(lines)


def _as_accurate(one: surveys.Summary, other: surveys.Summary) -> bool:
    return one.gap_median <= other.gap_median and one.gap_p90 <= other.gap_p90


def write_files(rows: Sequence[Row], text: str, path: Path) -> None:
    """The tables, and beside them all numbers as JSON and every single run as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    report = [
        {
            "engine": row.name,
            "particles": row.num_particles,
            "cpu_ms_a_reading": row.ms_a_reading,
            "cpu_ms_a_reading_median": row.median_ms,
            "summaries": {field: one._asdict() for field, one in row.summaries.items()},
        }
        for row in rows
    ]
    path.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Trial._fields)
        writer.writerows(trial for row in rows for trial in row.trials)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers_table", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--fields", nargs="+", choices=[*FIELDS, ALL], default=["temperature", "gas", "energy"]
    )
    parser.add_argument("--sets", nargs="+", choices=surveys.SETS, default=list(surveys.SETS))
    parser.add_argument("--cases", type=int, default=None, help="cases of each field and set; all by default")
    parser.add_argument("--seeds", type=int, default=1, help="how many times each case is run")
    parser.add_argument(
        "--only", nargs="+", default=None, help="engines whose name contains one of these words"
    )
    parser.add_argument("--gold", type=Path, default=surveys.GOLD, help="folder of the reference posteriors")
    parser.add_argument(
        "--out",
        type=Path,
        default=None,
        help="also write the tables to this .md file, and the numbers beside it as .json and .csv",
    )
    options = parser.parse_args(arguments)
    if ALL in options.fields:
        options.fields = list(FIELDS)
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is installed and print the tables."""
    options = parse(arguments)
    # Notes and progress go to stderr, so that stdout is the markdown and nothing else.
    console = Console(stderr=True)
    absent = surveys.missing(options.gold)
    if absent is not None:
        sys.exit(absent)
    if hasattr(os, "sched_setaffinity"):
        # One core for every engine: a second one adds CPU time to those with thread pools and wins nothing.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if importlib.util.find_spec("jax") is not None:
        import jax

        # CPU time says nothing about work done by another processor.
        jax.config.update("jax_platforms", "cpu")

    cases = list(surveys.load(options.gold, options.fields, options.sets, options.cases))
    chosen = candidates(options.only)
    for name, run in chosen:
        if run is None:
            console.print(f"{name}: cannot be imported here, its row is left out.")
    runnable = [(name, run) for name, run in chosen if run is not None]

    rows = []
    with Progress(console=console) as progress:
        for name, run in runnable:
            task = progress.add_task(name, total=len(cases) * options.seeds)
            rows.append(
                measure(name, run, cases, range(options.seeds), lambda task=task: progress.advance(task))
            )
            done = rows[-1]
            progress.print(f"{name} ({done.num_particles:,}): {done.ms_a_reading:.1f} CPU ms a reading")
    if not rows:
        sys.exit("No engine to run.")
    sets = " and ".join(options.sets)
    heading = f"{len(cases)} case(s) ({', '.join(options.fields)}; {sets}), {options.seeds} seed(s) each."
    tables = overall_table(rows), equal_accuracy_table(rows), field_table(rows)
    text = "\n\n".join([heading, *tables]) + "\n"
    print(text)
    if options.out is not None:
        write_files(rows, text, options.out)


if __name__ == "__main__":
    main()
