"""The peers and dowsax on the same surveys, against the reference posteriors, as a markdown table.

    python -m benchmarks.peers_table --fields temperature gas energy --cases 4

Times are CPU time of this process, all its threads together, compilation left out.
"""

import argparse
import importlib
import importlib.util
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


class Row(NamedTuple):
    """What one engine did on all cases."""

    name: str
    num_particles: int
    summaries: dict[str, surveys.Summary]
    """A field, or `overall`, to its summary."""
    ms_a_reading: float


def load_engine(engine: Engine) -> Run | None:
    """The engine's function, or `None` when its package is not installed."""
    if importlib.util.find_spec(engine.package) is None:
        return None
    run = importlib.import_module(f"benchmarks.peers.{engine.module}").run
    return lambda *survey: run(*survey, **engine.settings)


def load_dowsax() -> Run | None:
    """dowsax's own `locate` in the shape of a peer, or `None` when it cannot be imported."""
    try:
        from dowsax import locate
    except ImportError:
        return None
    warm: set[tuple[str, int]] = set()

    def run(field: str, positions: np.ndarray, readings: np.ndarray, seed: int) -> PeerResult:
        # A survey of a new field or length may compile; that is paid once and not counted.
        if (field, len(readings)) not in warm:
            np.asarray(locate(positions, readings, field=field, seed=seed).samples)
            warm.add((field, len(readings)))
        with Stopwatch() as stopwatch:
            result = locate(positions, readings, field=field, seed=seed)
            samples, weights = np.asarray(result.samples, float), np.asarray(result.weights, float)
        return PeerResult(samples, weights, stopwatch.seconds)

    return run


def measure(
    name: str, run: Run, cases: Sequence[surveys.Case], seeds: Sequence[int], tick: Callable[[], None]
) -> Row:
    """Run one engine on every case with every seed."""
    done, scores, seconds, num_readings, num_particles = [], [], 0.0, 0, 0
    for seed in seeds:
        for case in cases:
            result = run(case.field, case.positions, case.readings, seed)
            scores.append(surveys.score(case, result.samples, result.weights))
            done.append(case)
            seconds += result.cpu_seconds
            num_readings += len(case.readings)
            num_particles = len(result.samples)
            tick()
    return Row(name, num_particles, surveys.summarise_by_field(done, scores), 1000 * seconds / num_readings)


def overall_table(rows: Sequence[Row]) -> str:
    """One line an engine, over all cases."""
    lines = [
        "| engine | particles | gap median, p90 | localised median, p90 | σ ratio median, p10 "
        "| 90 % coverage | CPU ms a reading |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        one = row.summaries["overall"]
        lines.append(
            f"| {row.name} | {row.num_particles:,} | {one.gap_median:.2f}, {one.gap_p90:.2f} "
            f"| {one.localised_gap_median:.2f}, {one.localised_gap_p90:.2f} "
            f"| {one.std_ratio_median:.2f}, {one.std_ratio_p10:.2f} | {one.coverage:.2f} "
            f"| {row.ms_a_reading:.1f} |"
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


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers_table", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--fields", nargs="+", choices=FIELDS, default=["temperature", "gas", "energy"])
    parser.add_argument("--sets", nargs="+", choices=surveys.SETS, default=list(surveys.SETS))
    parser.add_argument("--cases", type=int, default=None, help="cases of each field and set; all by default")
    parser.add_argument("--seeds", type=int, default=1, help="how many times each case is run")
    parser.add_argument(
        "--only", nargs="+", default=None, help="engines whose name contains one of these words"
    )
    parser.add_argument("--gold", type=Path, default=surveys.GOLD, help="folder of the reference posteriors")
    parser.add_argument("--out", type=Path, default=None, help="also write the tables to this file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is installed and print the tables."""
    options = parse(arguments)
    # Notes and progress go to stderr, so that stdout is the markdown and nothing else.
    console = Console(stderr=True)
    absent = surveys.missing(options.gold)
    if absent is not None:
        console.print(absent, soft_wrap=True)
        return
    if importlib.util.find_spec("jax") is not None:
        import jax

        # CPU time says nothing about work done by another processor.
        jax.config.update("jax_platforms", "cpu")

    cases = list(surveys.load(options.gold, options.fields, options.sets, options.cases))
    candidates = [(engine.name, load_engine(engine)) for engine in ENGINES] + [("dowsax", load_dowsax())]
    if options.only is not None:
        candidates = [pair for pair in candidates if any(word in pair[0] for word in options.only)]
    for name, run in candidates:
        if run is None:
            console.print(f"{name}: cannot be imported here, its row is left out.")
    runnable = [(name, run) for name, run in candidates if run is not None]

    rows = []
    with Progress(console=console) as progress:
        for name, run in runnable:
            task = progress.add_task(name, total=len(cases) * options.seeds)
            rows.append(
                measure(name, run, cases, range(options.seeds), lambda task=task: progress.advance(task))
            )
    if not rows:
        console.print("No engine to run.")
        return
    sets = " and ".join(options.sets)
    heading = f"{len(cases)} cases ({', '.join(options.fields)}; {sets}), {options.seeds} seed(s) each."
    text = "\n\n".join([heading, overall_table(rows), field_table(rows)]) + "\n"
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
