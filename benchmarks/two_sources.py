"""Surveys of two sources with reference posteriors, and how far the preset `several` is from them.

    python -m benchmarks.two_sources --make tests/inference/two_sources --seed 2026   # on an accelerator
    python -m benchmarks.two_sources                                                  # the table

Each field has 16 surveys of 36 readings, half of them random walks and half such as go where their readings
suggest. References are by `benchmarks.reference_sampler`, two runs each: their difference is their own error.
The error of the log evidence decides how well numbers of sources can be told apart.
"""

import argparse
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks import machine
from benchmarks.peers.model import FIELDS
from benchmarks.reference_sampler import Settings, sample
from dowsax.compilation import enable_cache
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.evaluate.tables import markdown
from dowsax.inference.labels import sort_sources
from dowsax.inference.locate import locate
from dowsax.inference.posterior import Posterior
from dowsax.inference.presets import PRESETS, default_preset
from dowsax.world import benchmark_model, source_columns

FOLDER = machine.ROOT / "tests/inference/two_sources"
NUM_CASES, NUM_READINGS, NUM_RUNS = 16, 36, 2
PLACES = (0, 1, 3, 4)
"""Columns of the positions: x and y of the two sources, sorted by x."""
SETTINGS = Settings(particles=32768, moves=150, last_moves=1500)


class Case(NamedTuple):
    """A survey and its reference; Θ = (x1, y1, q1, x2, y2, q2, ux, uy, α, λ), sorted by x."""

    positions: np.ndarray
    readings: np.ndarray
    theta: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    log_evidence_2: np.ndarray
    """Of two runs."""


class Gap(NamedTuple):
    """A posterior against its reference, in the positions of both sources."""

    mean: float
    """The largest difference of the means, in standard deviations of the reference."""
    std_ratio: np.ndarray
    """(4,)"""
    log_evidence: float
    """The difference of the log evidences."""


def make(field: str, folder: Path, seed: int, numbers: tuple[int, ...], settings: Settings) -> None:
    """Write the references of one field, with log evidences for these numbers of sources."""
    model = benchmark_model(field, sources=2)
    key = jax.random.fold_in(jax.random.key(seed), zlib.crc32(field.encode()))
    surveys = simulate_surveys(key, model, NUM_CASES, NUM_READINGS)
    columns = source_columns(model.prior)
    assert columns is not None
    thetas = sort_sources(surveys.thetas[:, list(columns.by_source)], columns_by_source(2))
    evidences, found = {}, None
    for number in numbers:
        begun = time.perf_counter()
        keys = jax.random.split(jax.random.fold_in(key, number), (NUM_CASES, NUM_RUNS))
        runs = jax.vmap(
            lambda keys, positions, readings, number=number: jax.vmap(
                lambda key: sample(key, field, positions, readings, number, settings)
            )(keys)
        )(keys, jnp.asarray(surveys.positions), jnp.asarray(surveys.readings))
        runs = jax.tree.map(np.asarray, runs)
        evidences[f"log_evidence_{number}"] = runs.log_evidence
        if number == 2:
            found = runs
        differences = np.abs(runs.mean[:, 0] - runs.mean[:, 1]) / runs.std.mean(axis=1)
        Console(stderr=True).print(
            f"{field}, {number}: {time.perf_counter() - begun:.0f} s, {runs.stages.max()} stages, means "
            f"differ by {np.median(differences):.3f} and at most {differences.max():.3f}, log evidences by "
            f"{np.abs(np.diff(runs.log_evidence, axis=1)).max():.2f}"
        )
    assert found is not None
    mean = found.mean.mean(axis=1)
    std = np.sqrt((found.std**2 + (found.mean - mean[:, None]) ** 2).mean(axis=1))
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        folder / f"{field}.npz",
        positions=surveys.positions.astype(np.float32),
        readings=surveys.readings.astype(np.float32),
        theta=thetas.astype(np.float32),
        mean=mean.astype(np.float32),
        std=std.astype(np.float32),
        quantiles=found.quantiles.mean(axis=1).astype(np.float32),
        mean_repeat_gap=np.abs(found.mean[:, 0] - found.mean[:, 1]).astype(np.float32),
        **{name: value.astype(np.float32) for name, value in evidences.items()},
    )


def columns_by_source(number: int) -> tuple[tuple[int, ...], ...]:
    """The columns of each source in Θ source by source."""
    return tuple(tuple(range(3 * at, 3 * at + 3)) for at in range(number))


def load(field: str, folder: Path = FOLDER) -> Iterator[Case]:
    """The cases of a field."""
    with np.load(folder / f"{field}.npz") as stored:
        arrays = [stored[name] for name in Case._fields]
    for row in zip(*arrays, strict=True):
        yield Case(*(part.astype(float) for part in row))


def gaps(cases: list[Case], posterior: Posterior) -> list[Gap]:
    """How far the posterior of the batch of all cases is from their references."""
    samples = sort_sources(posterior.samples, posterior.source_columns)[:, :, PLACES]
    weights = posterior.weights[:, :, None]
    means = (weights * samples).sum(axis=1)
    stds = np.sqrt((weights * (samples - means[:, None]) ** 2).sum(axis=1))
    found = []
    for case, mean, std, log_evidence in zip(cases, means, stds, posterior.log_evidence, strict=True):
        reference_mean, reference_std = case.mean[list(PLACES)], case.std[list(PLACES)]
        found.append(
            Gap(
                float((np.abs(mean - reference_mean) / reference_std).max()),
                std / reference_std,
                float(log_evidence - case.log_evidence_2.mean()),
            )
        )
    return found


def row(name: str, found: list[Gap], milliseconds: float) -> tuple[str, ...]:
    """One line of the table."""
    sizes, ratios = [one.mean for one in found], np.concatenate([one.std_ratio for one in found])
    return (
        name,
        str(len(found)),
        f"{np.median(sizes):.3f}",
        f"{np.quantile(sizes, 0.9):.3f}",
        f"{np.median(ratios):.3f}",
        f"{np.quantile(ratios, 0.1):.3f}",
        f"{np.sqrt(np.mean([one.log_evidence**2 for one in found])):.2f}",
        f"{milliseconds:.1f}",
    )


HEADINGS = (
    "field",
    "runs",
    "gap median",
    "gap p90",
    "σ ratio median",
    "σ ratio p10",
    "log evidence, rms error",
    "ms of CPU a reading",
)


def measure(field: str, folder: Path, seeds: list[int], preset: str) -> tuple[list[Gap], float]:
    """The gaps of a field, and the time [ms] of a reading, compilation excluded."""
    cases = list(load(field, folder))
    positions = np.stack([case.positions for case in cases])
    readings = np.stack([case.readings for case in cases])
    locate(positions[:1], readings[:1], field, sources=2, preset=preset)
    found, spent = [], 0.0
    for seed in seeds:
        for at in range(len(cases)):
            begun = time.process_time()
            posterior = locate(
                positions[at : at + 1], readings[at : at + 1], field, sources=2, preset=preset, seed=seed
            )
            spent += time.process_time() - begun
            found += gaps(cases[at : at + 1], posterior)
    return found, 1000 * spent / (len(found) * readings.shape[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--make", type=Path, help="write references into this folder")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the references to compare with")
    parser.add_argument("--fields", nargs="+", default=list(FIELDS))
    parser.add_argument("--seed", type=int, default=2026, help="of the surveys of --make")
    parser.add_argument("--numbers", nargs="+", type=int, default=[2], help="of sources, for their evidences")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of the filter")
    parser.add_argument("--preset", default=default_preset((2,)), choices=PRESETS, help="the filter")
    parser.add_argument("--particles", type=int, default=SETTINGS.particles, help="of the references")
    arguments = parser.parse_args()
    enable_cache()
    if arguments.make is not None:
        for field in arguments.fields:
            settings = SETTINGS._replace(particles=arguments.particles)
            make(field, arguments.make, arguments.seed, tuple(arguments.numbers), settings)
        return
    rows, everything, times = [], [], []
    for field in track(arguments.fields, console=Console(stderr=True)):
        found, milliseconds = measure(field, arguments.folder, arguments.seeds, arguments.preset)
        rows.append(row(field, found, milliseconds))
        everything += found
        times.append(milliseconds)
    rows.append(row("overall", everything, float(np.mean(times))))
    print("\n".join(markdown(HEADINGS, rows)))


if __name__ == "__main__":
    main()
