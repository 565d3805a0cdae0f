"""Surveys a second, many at once: `python -m benchmarks.batch --sizes 1 64 1024`

Surveys of 30 readings (temperature) through `locate` with the default preset, on whatever device JAX has; the
first call, which compiles, is reported apart.
"""

import argparse
import json
from pathlib import Path

import jax

from benchmarks.timing import Timing, summarise, timed
from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

SEED = 91
NUM_READINGS = 30


def measure(size: int, repeats: int, preset: str, particles: int | None = None) -> dict:
    """The median of some warm runs, all on different surveys."""
    first, *warm = [_run(size, repeat, preset, particles) for repeat in range(repeats + 1)]
    middle = summarise(warm)
    seconds = middle["wall_ms"] / 1000
    return {
        "device": jax.devices()[0].device_kind,
        "preset": preset,
        "surveys": size,
        "first_seconds": first.wall,
        "seconds": seconds,
        "surveys_per_second": size / seconds,
        "ms_per_reading": middle["wall_ms"] / size / NUM_READINGS,
        "cpu_ms_per_reading": middle["cpu_ms"] / size / NUM_READINGS,
        "compiled": middle["compiled"],
    }


def _run(size: int, repeat: int, preset: str, particles: int | None) -> Timing:
    model = benchmark_model("temperature")
    key = jax.random.fold_in(jax.random.key(SEED), repeat)
    surveys = simulate_surveys(key, model, size, NUM_READINGS)
    survey = surveys.positions, surveys.readings
    return timed(lambda: locate(*survey, model=model, preset=preset, particles=particles, seed=repeat))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 64])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=None)
    arguments = parser.parse_args()
    rows = [measure(size, arguments.repeats, arguments.preset) for size in arguments.sizes]
    text = "\n".join(json.dumps(row) for row in rows)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
