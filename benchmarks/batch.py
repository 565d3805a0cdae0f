"""Surveys a second, many at once: `python -m benchmarks.batch --sizes 1 64 1024`

Surveys of 30 readings (temperature) through `locate` with the default preset, on whatever device JAX has; the
first call, which compiles, is reported apart.
"""

import argparse
import json
import time
from pathlib import Path

import jax

from dowsax.evaluate.surveys import simulate_surveys
from dowsax.inference.locate import locate
from dowsax.world import benchmark_model

SEED = 91
NUM_READINGS = 30


def measure(size: int, repeats: int, preset: str) -> dict:
    """The median of some warm runs, all on different surveys."""
    model = benchmark_model("temperature")
    seconds = []
    for repeat in range(repeats + 1):
        key = jax.random.fold_in(jax.random.key(SEED), repeat)
        surveys = simulate_surveys(key, model, size, NUM_READINGS)
        start = time.perf_counter()
        locate(surveys.positions, surveys.readings, model=model, preset=preset, seed=repeat)
        seconds.append(time.perf_counter() - start)
    first, *warm = seconds
    middle = sorted(warm)[len(warm) // 2]
    return {
        "device": jax.devices()[0].device_kind,
        "preset": preset,
        "surveys": size,
        "first_seconds": first,
        "seconds": middle,
        "surveys_per_second": size / middle,
        "ms_per_reading": 1000 * middle / size / NUM_READINGS,
    }


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
