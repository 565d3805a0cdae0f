"""What the filter's Monte Carlo error costs its intervals: `python -m benchmarks.repeated_runs`

Each survey is located with several seeds. The runs of other seeds tell what an interval of one run holds of
the posterior, without the noise of counting true sources: no survey has to hold its source.
"""

import argparse
from typing import NamedTuple

import numpy as np
from rich.progress import Progress

from dowsax.evaluate.calibration import PROBABILITIES, own_surveys
from dowsax.inference.locate import locate
from dowsax.world import MODALITIES, benchmark_model

FIRST_FILTER_SEED = 1000


class Repeated(NamedTuple):
    """The runs of one field: b surveys of d parameters."""

    variance_ratios: np.ndarray
    """(b, d), variance of the mean between runs over the variance of the posterior."""
    held: dict[float, np.ndarray]
    """(b, d), mean probability of an interval, by its nominal probability."""


def held_by_intervals(values: np.ndarray, weights: np.ndarray, probability: float) -> np.ndarray:
    """Return, for each of r runs, the probability of its central interval under the other runs, (r,).

    Parameters
    ----------
    values, weights
        (r, n); each row of the weights sums to one.
    probability
        Nominal probability of the interval.
    """
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    running = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    held = []
    for run, (row, sums) in enumerate(zip(ranked, running, strict=True)):
        at = np.searchsorted(sums, [(1 - probability) / 2 - 1e-9, (1 + probability) / 2 - 1e-9])
        low, high = row[np.minimum(at, row.size - 1)]
        inside = np.sum(np.where((values >= low) & (values <= high), weights, 0.0), axis=1)
        held.append((inside.sum() - inside[run]) / (len(values) - 1))
    return np.array(held)


def compare_runs(samples: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Return variance ratio and held probability of each parameter, of r runs (r, n, d) of one survey."""
    means = np.einsum("rn,rnd->rd", weights, samples)
    within = np.einsum("rn,rnd->rd", weights, (samples - means[:, None, :]) ** 2).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    columns = np.moveaxis(samples, 2, 0)
    held = {
        probability: np.array([held_by_intervals(column, weights, probability).mean() for column in columns])
        for probability in PROBABILITIES
    }
    return between / (within + between), held


def measure(field: str, num_surveys: int, num_runs: int, seed: int, preset: str, advance) -> Repeated:
    """Locate each survey of a field `num_runs` times."""
    model = benchmark_model(field)
    surveys = own_surveys(model, field, num_surveys, seed)
    runs = []
    for run in range(num_runs):
        runs.append(
            locate(
                surveys.positions,
                surveys.readings,
                model=model,
                preset=preset,
                seed=FIRST_FILTER_SEED + run,
            )
        )
        advance()
    compared = [
        compare_runs(
            np.stack([run.samples[survey] for run in runs]), np.stack([run.weights[survey] for run in runs])
        )
        for survey in range(num_surveys)
    ]
    held = {at: np.stack([one[at] for _, one in compared]) for at in PROBABILITIES}
    return Repeated(np.stack([ratio for ratio, _ in compared]), held)


def table(results: dict[str, Repeated]) -> str:
    """Return a line per field, and one for all; ± is one standard error, over the surveys."""
    everything = Repeated(
        np.concatenate([result.variance_ratios for result in results.values()]),
        {at: np.concatenate([result.held[at] for result in results.values()]) for at in PROBABILITIES},
    )
    lines = [
        "| field | surveys | variance of the mean between runs / of the posterior: mean, median | "
        + " | ".join(f"{100 * at:g} % intervals hold" for at in PROBABILITIES)
        + " |",
        "|---|---|---|" + "---|" * len(PROBABILITIES),
    ]
    for name, result in {**results, "all": everything}.items():
        ratios = result.variance_ratios
        cells = []
        for held in result.held.values():
            means = held.mean(axis=1)
            cells.append(f"{means.mean():.4f} ± {means.std(ddof=1) / len(means) ** 0.5:.4f}")
        size = f"{ratios.mean():.4f}, {np.median(ratios):.4f}"
        lines.append(f"| {name} | {len(ratios)} | {size} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fields", nargs="+", default=list(MODALITIES))
    parser.add_argument("--surveys", type=int, default=24)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--seed", type=int, default=777)
    parser.add_argument("--preset", default="default")
    arguments = parser.parse_args()
    results = {}
    with Progress() as progress:
        task = progress.add_task("runs", total=len(arguments.fields) * arguments.runs)
        for field in arguments.fields:
            results[field] = measure(
                field,
                arguments.surveys,
                arguments.runs,
                arguments.seed,
                arguments.preset,
                lambda: progress.advance(task),
            )
    print(table(results))


if __name__ == "__main__":
    main()
