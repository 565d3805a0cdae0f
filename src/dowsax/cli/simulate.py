"""`dowsax simulate`: a survey of a source drawn from the prior."""

import csv
import json as json_format
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from dowsax.cli.console import say, waiting
from dowsax.cli.locate import require_seed
from dowsax.cli.outputs import require_writable
from dowsax.types import Station
from dowsax.world import approach, benchmark_model, wander

Kind = Literal["approach", "wander"]


class SimulatedSurvey(NamedTuple):
    """A source and readings of it."""

    truth: list[float]
    """Θ"""
    names: tuple[str, ...]
    positions: list[list[float]]
    """[m]"""
    values: list[float]


def simulate(
    *,
    field: str = "gas",
    kind: Kind = "approach",
    readings: int = 36,
    seed: int = 0,
    out: Path = Path("survey.csv"),
    truth: Path | None = None,
) -> None:
    """Simulate a survey of a source and write it as CSV.

    Parameters
    ----------
    field
        Benchmark field: temperature, concentration, magnetic, electric, gas, energy or noise.
    kind
        Path: approach heads for the source, wander is random.
    readings
        Number of readings, a metre apart.
    seed
        Random seed of source, path and noise.
    out
        CSV file for x, y [m] and value.
    truth
        JSON file for the true parameters of the source. Default: none.
    """
    require_seed(seed)
    if readings < 1:
        raise ValueError(f"`readings` must be at least 1 reading; got {readings}.")
    for path in (out, truth):
        if path is not None:
            require_writable(path)
    with waiting("Simulating the survey"):
        survey = simulate_survey(field, kind, readings, seed)
    write_survey(out, survey.positions, survey.values)
    say(f"Wrote {len(survey.values)} readings to {out}")
    if truth is not None:
        write_truth(truth, survey)
        say(f"Wrote the true parameters to {truth}")


def simulate_survey(field: str, kind: Kind, readings: int, seed: int) -> SimulatedSurvey:
    """Return a source from the prior, and one reading at each position of a path."""
    import jax

    model = benchmark_model(field)

    # One compiled program, in the cache, instead of a hundred small ones.
    @jax.jit
    def draw(key):
        source_key, path_key, noise_key = jax.random.split(key, 3)
        theta = model.prior.sample(source_key)
        path = (
            approach(path_key, model.position(theta), readings)
            if kind == "approach"
            else wander(path_key, readings)
        )
        return theta, path, model.simulate(noise_key, theta, Station(path))

    theta, path, values = draw(jax.random.key(seed))
    names = tuple(parameter.name for parameter in model.prior.parameters)
    return SimulatedSurvey(theta.tolist(), names, path.tolist(), values.tolist())


def write_truth(path: Path, survey: SimulatedSurvey) -> None:
    """Write the true parameters by name."""
    path.write_text(json_format.dumps(dict(zip(survey.names, survey.truth, strict=True)), indent=2) + "\n")


def write_survey(path: Path, positions: Iterable[Sequence[float]], values: Iterable[float]) -> None:
    """Write x, y and value of each reading as CSV, with enough digits to give back the same float32."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("x", "y", "value"))
        for (x, y), value in zip(positions, values, strict=True):
            writer.writerow(f"{number:.9g}" for number in (x, y, value))
