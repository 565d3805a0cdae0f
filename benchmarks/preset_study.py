"""Which filter is the best calibrated per second? `python -m benchmarks.preset_study`

Own simulated surveys (never the reference cases in the tests), half wandering and half approaching, held
against two runs of 16,384 particles with 60 moves a stage. Results are appended to a file of JSON lines, and
what is already there is not run again, so that an interrupted study goes on where it stopped.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np
from rich.progress import Progress

from benchmarks.variants import REFERENCE, VARIANTS
from dowsax.evaluate.statistics import wilson_interval
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference import Preset
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

NUM_READINGS = 36
SURVEY_SEED, FILTER_SEED = 71, 72


def run(field: str, preset: Preset, cases: int, seed: int) -> tuple[dict, float]:
    """Moments of the location for every case, warm wall seconds of the whole batch."""
    model = benchmark_model(field)
    surveys = simulate_surveys(jax.random.key(SURVEY_SEED), model, cases, NUM_READINGS)

    def once():
        return locate(surveys.positions, surveys.readings, model=model, preset=preset, seed=seed)

    once()
    start = time.perf_counter()
    post = once()
    seconds = time.perf_counter() - start
    low, high = post.interval(0.9)
    truth = np.asarray(surveys.thetas)
    result = {
        "mean": post.mean[:, :2],
        "std": post.std[:, :2],
        "covered": ((truth >= low) & (truth <= high))[:, :2],
        "contracted": post.contracted,
        "error": np.linalg.norm(post.mean[:, :2] - truth[:, :2], axis=1),
        "evaluations": post.trace.evaluations.sum(axis=1) / NUM_READINGS,
    }
    return result, seconds


def references(field: str, cases: int, folder: Path) -> dict[str, np.ndarray]:
    """Mean and standard deviation of two long runs, and how far their means are apart."""
    path = folder / f"reference-{field}-{cases}.npz"
    if not path.exists():
        first, second = (run(field, REFERENCE, cases, seed)[0] for seed in (901, 902))
        std = (first["std"] + second["std"]) / 2
        gap = (np.abs(first["mean"] - second["mean"]) / std).max(axis=1)
        np.savez(path, mean=(first["mean"] + second["mean"]) / 2, std=std, gap=gap)
    return dict(np.load(path))


def median_interval(values: np.ndarray) -> list[float]:
    """The 95 % interval of a median: between two order statistics, whatever the law of the values."""
    half = 0.98 / np.sqrt(len(values))
    return [float(np.quantile(values, np.clip(0.5 + side * half, 0, 1))) for side in (-1, 1)]


def score(result: dict, reference: dict[str, np.ndarray]) -> dict:
    """Gap, spread ratio, coverage and false contractions over the cases with a settled reference."""
    settled = reference["gap"] < 0.1
    gap = (np.abs(result["mean"] - reference["mean"]) / reference["std"]).max(axis=1)[settled]
    ratio = (result["std"] / reference["std"])[settled].ravel()
    contracted = result["contracted"]
    false = int(np.sum(contracted & (result["error"] >= 1.0)))
    return {
        "cases": int(settled.sum()),
        "gap_median": float(np.median(gap)),
        "gap_median_interval": median_interval(gap),
        "gap_p90": float(np.quantile(gap, 0.9)),
        "ratio_median": float(np.median(ratio)),
        "ratio_p10": float(np.quantile(ratio, 0.1)),
        "coverage": float(np.mean(result["covered"])),
        "contracted": int(contracted.sum()),
        "false": false,
        "false_interval": wilson_interval(false, max(int(contracted.sum()), 1)),
        "evaluations": float(np.mean(result["evaluations"])),
        "reference_gap_median": float(np.median(reference["gap"])),
        "reference_unsettled": int((~settled).sum()),
    }


def table(rows: list[dict], field: str) -> str:
    """One line a variant; the brackets are the 95 % interval of the median and of the share."""
    lines = [
        f"## {field}",
        "",
        "| filter | gap median | gap p90 | σ ratio median | σ ratio p10 | 90 % coverage | "
        "false of contracted | terms a reading |",
        "|---|---|---|---|---|---|---|---|",
    ]
    of = {row["variant"]: row for row in rows if row["field"] == field}
    for name in (name for name in VARIANTS if name in of):
        row = of[name]
        low, high = row["gap_median_interval"]
        false_low, false_high = row["false_interval"]
        lines.append(
            f"| {name} | {row['gap_median']:.3f} [{low:.3f}, {high:.3f}] | {row['gap_p90']:.3f} | "
            f"{row['ratio_median']:.3f} | {row['ratio_p10']:.3f} | {row['coverage']:.3f} | "
            f"{row['false']}/{row['contracted']} [{false_low:.2f}, {false_high:.2f}] | "
            f"{row['evaluations'] / 1000:.1f}k |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fields", nargs="+", default=["temperature", "magnetic", "gas"])
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS))
    parser.add_argument("--cases", type=int, default=128)
    parser.add_argument("--out", type=Path, default=Path("runs/preset-study"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    seen = {(row["variant"], row["field"], row["asked"]) for row in rows}
    jobs = [(variant, field) for field in arguments.fields for variant in arguments.variants]
    with Progress() as progress:
        bar = progress.add_task("preset study", total=len(jobs))
        for variant, field in jobs:
            if (variant, field, arguments.cases) not in seen:
                reference = references(field, arguments.cases, arguments.out)
                result, seconds = run(field, VARIANTS[variant], arguments.cases, FILTER_SEED)
                row = {"variant": variant, "field": field, "asked": arguments.cases, "seconds": seconds}
                row |= {"device": jax.devices()[0].device_kind} | score(result, reference)
                rows.append(row)
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            progress.advance(bar)
    text = "\n\n".join(table(rows, field) for field in arguments.fields)
    (arguments.out / "table.md").write_text(text + "\n")
    print(text)


if __name__ == "__main__":
    main()
