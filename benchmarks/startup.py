"""From process start to the answer: `python -m benchmarks.startup`

A CSV of 30 readings through the command line, in new processes: cold, with an empty folder for compiled
programs, and warm, with what the cold start left there. Python's bytecode and the disk's cache are as found.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COLD_LIMIT, WARM_LIMIT = 20.0, 6.0
"""[s]: what a user is asked to wait, at most."""
NUM_READINGS = 30

# A parent that has imported dowsax has told JAX where the user's cache is, and benchmarks tell numpy to use
# one thread: a child that inherited these would be neither cold nor what a user gets.
_INHERITED = (
    "JAX_COMPILATION_CACHE_DIR",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS",
    "DOWSAX_COMPILATION_CACHE",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def environment(cache: Path) -> dict[str, str]:
    """A user's environment, with the cache folder in its own place."""
    kept = {name: value for name, value in os.environ.items() if name not in _INHERITED}
    return kept | {"XDG_CACHE_HOME": str(cache)}


def command_line(cache: Path, *words: str) -> float:
    """Wall seconds of one `dowsax` command; a RuntimeError with its last line where it fails."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "dowsax.cli", *words], env=environment(cache), capture_output=True, text=True
    )
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"`dowsax {words[0]}` exits with {done.returncode}: {lines[-1]}")
    return seconds


def entries(cache: Path) -> int:
    """Files under the cache folder: none before a cold start, some after it, no more after a warm one."""
    return sum(path.is_file() for path in cache.rglob("*"))


def start_pair(survey: Path, folder: Path, field: str, warm: int, extra: list[str]) -> dict:
    """One cold start and some warm ones, in a cache folder of their own."""
    cache = folder / "cache"
    cache.mkdir(parents=True)
    locate = ("locate", str(survey), "--field", field, "--json", *extra)
    cold = command_line(cache, *locate)
    compiled = entries(cache)
    if compiled == 0:
        raise RuntimeError("The cold start left no compiled program behind: a warm start cannot be measured.")
    again = [command_line(cache, *locate) for _ in range(warm)]
    print(f"cold {cold:.1f} s, warm {', '.join(f'{seconds:.1f}' for seconds in again)} s", flush=True)
    return {"cold": cold, "warm": again, "programs": compiled}


def measure(field: str, cold: int, warm: int, extra: list[str]) -> dict:
    """Cold and warm starts. The worst of each is held against its limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        survey = folder / "readings.csv"
        simulate = ("simulate", "--field", field, "--readings", str(NUM_READINGS), "--out", str(survey))
        command_line(folder / "elsewhere", *simulate)
        pairs = [start_pair(survey, folder / str(number), field, warm, extra) for number in range(cold)]
    colds = [pair["cold"] for pair in pairs]
    warms = [seconds for pair in pairs for seconds in pair["warm"]]
    return {
        "field": field,
        "readings": NUM_READINGS,
        "cold_seconds": colds,
        "warm_seconds": warms,
        "programs": pairs[0]["programs"],
        "cold_limit": COLD_LIMIT,
        "warm_limit": WARM_LIMIT,
        "cold_within": max(colds) < COLD_LIMIT,
        "warm_within": max(warms) < WARM_LIMIT,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--field", default="gas")
    parser.add_argument("--cold", type=int, default=3, help="cold starts")
    parser.add_argument("--warm", type=int, default=3, help="warm starts after each")
    parser.add_argument("--particles", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    extra = [] if arguments.particles is None else ["--particles", str(arguments.particles)]
    report = measure(arguments.field, arguments.cold, arguments.warm, extra)
    (arguments.out / "startup.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
