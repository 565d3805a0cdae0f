"""How long a survey takes: `python -m benchmarks.speed`

Simulated surveys through `locate`, warm: whatever compiles has been compiled by a first call. One survey of
30 readings at a time, a batch of 64 of them, and the 20 readings for which the paper reports 72 ms with its
Algorithm 1. On what machine the paper measured is not known, so that last comparison says little.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import jax

from benchmarks import batch
from benchmarks.timing import Timing, summarise, timed
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference import PRESETS
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

SEED = 92
FIELDS = ("temperature", "gas", "energy")
NUM_READINGS = 30
PAPER_READINGS, PAPER_MS = 20, 72.0


def one_by_one(
    field: str, preset: str, num_readings: int, num_surveys: int, particles: int | None
) -> list[Timing]:
    """Each survey on its own; one more survey, before them, is for the compiler."""
    model = benchmark_model(field)
    surveys = simulate_surveys(jax.random.key(SEED), model, num_surveys + 1, num_readings)

    def run(number: int) -> None:
        survey = surveys.positions[number], surveys.readings[number]
        locate(*survey, model=model, preset=preset, particles=particles, seed=number)

    run(0)
    return [timed(lambda number=number: run(number)) for number in range(1, num_surveys + 1)]


def single(preset: str, fields: Sequence[str], num_surveys: int, particles: int | None) -> dict:
    """Milliseconds a reading over all surveys of all fields, and of each field."""
    by_field = {field: one_by_one(field, preset, NUM_READINGS, num_surveys, particles) for field in fields}
    everything = [timing for timings in by_field.values() for timing in timings]
    row = {
        "preset": preset,
        "particles": particles or PRESETS[preset].config.num_particles,
        "readings": NUM_READINGS,
        "a_reading": summarise(everything, NUM_READINGS),
        "a_survey": summarise(everything),
        "a_reading_by_field": {
            field: summarise(timings, NUM_READINGS) for field, timings in by_field.items()
        },
    }
    print(f"{preset}: {row['a_reading']['wall_ms']:.2f} ms a reading", flush=True)
    return row


def against_the_paper(fields: Sequence[str], num_surveys: int) -> dict:
    """Algorithm 1 as printed, 500 particles, on 20 readings."""
    timings = [
        timing for field in fields for timing in one_by_one(field, "paper", PAPER_READINGS, num_surveys, None)
    ]
    row = {
        "readings": PAPER_READINGS,
        "particles": PRESETS["paper"].config.num_particles,
        "a_survey": summarise(timings),
        "paper_ms": PAPER_MS,
        "note": "The machine on which the paper measured is not known.",
    }
    print(f"paper, {PAPER_READINGS} readings: {row['a_survey']['wall_ms']:.1f} ms", flush=True)
    return row


def together(size: int, repeats: int, particles: int | None) -> dict:
    row = batch.measure(size, repeats, "default", particles)
    print(f"batch of {size}: {row['surveys_per_second']:.1f} surveys a second", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--fields", nargs="+", default=list(FIELDS))
    parser.add_argument("--surveys", type=int, default=16, help="surveys of each field")
    parser.add_argument("--batch", type=int, default=64, help="surveys at once")
    parser.add_argument("--repeats", type=int, default=5, help="batches")
    parser.add_argument("--particles", type=int, default=None, help="instead of the default preset's own")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    report = {
        "device": jax.devices()[0].device_kind,
        "fields": arguments.fields,
        "single": [
            single("default", arguments.fields, arguments.surveys, arguments.particles),
            single("paper", arguments.fields, arguments.surveys, None),
        ],
        "batch": together(arguments.batch, arguments.repeats, arguments.particles),
        "paper": against_the_paper(arguments.fields, arguments.surveys),
    }
    (arguments.out / "speed.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
