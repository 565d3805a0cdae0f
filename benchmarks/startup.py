"""From process start to the answer: `python -m benchmarks.startup`

Three commands in new processes: a survey of a field, a survey of a gas site, and a mission there until it is
ready. Cold, with an empty folder for compiled programs, and warm, with what the cold start left there; those
of the site also at a second site, whose numbers are all others. Bytecode of Python and the cache of the
disk are as found. CPU seconds depend less on other programs than wall seconds do.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.standard_sites import standard_site
from dowsax.site import build_model, read_site
from dowsax.types import Station

NUM_READINGS = 30
SITE_GRID = 7
"""The survey of the site has as many readings along each axis."""
OTHER_NUMBERS = {
    "high = [200.0, 150.0]": "high = [220.0, 160.0]",
    "q = [0.001, 10.0]": "q = [0.01, 5.0]",
    "height = [0.0, 3.0]": "height = [0.0, 2.0]",
    "range = [1.7, 2.5]": "range = [1.8, 2.4]",
    "direction_error = 10.0": "direction_error = 7.0",
    "height = 1.5": "height = 2.0",
    "radius = 5.0": "radius = 6.0",
    "time = 1800.0": "time = 1500.0",
}
"""Of the second site."""


class Start(NamedTuple):
    """A command, and the CPU seconds that it may take."""

    name: str
    words: tuple[str, ...]
    cold_limit: float
    warm_limit: float


class Seconds(NamedTuple):
    cpu: float
    wall: float


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


def command_line(cache: Path, folder: Path, *words: str) -> Seconds:
    """Run one `dowsax` command in the folder; a RuntimeError with its last line where it fails."""
    start, before = time.perf_counter(), _cpu_of_children()
    done = subprocess.run(
        [sys.executable, "-m", "dowsax.cli", *words],
        env=environment(cache),
        cwd=folder,
        input="",
        capture_output=True,
        text=True,
    )
    seconds = Seconds(_cpu_of_children() - before, time.perf_counter() - start)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(f"`dowsax {words[0]}` exits with {done.returncode}: {lines[-1]}")
    return seconds


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def entries(cache: Path) -> int:
    """Files under the cache folder: none before a cold start, some after it, no more after a warm one."""
    return sum(path.is_file() for path in cache.rglob("*"))


def write_inputs(folder: Path, field: str) -> None:
    """Write a survey of the field, a gas site, and a survey of that."""
    simulate = ("simulate", "--field", field, "--readings", str(NUM_READINGS), "--out", "readings.csv")
    command_line(folder / "elsewhere", folder, *simulate)
    text = other = standard_site("gas-plume")
    for number, another in OTHER_NUMBERS.items():
        if number not in other:
            raise RuntimeError(f"The standard site has no line `{number}`.")
        other = other.replace(number, another)
    (folder / "site.toml").write_text(text)
    (folder / "other.toml").write_text(other)
    model = build_model(read_site(folder / "site.toml"))
    random = np.random.default_rng(0)
    # To either side of the tank in the middle of the site.
    axes = np.linspace(29, 199, SITE_GRID), np.linspace(15, 135, SITE_GRID)
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    wind = random.normal([3.0, 0.3], 0.4, places.shape)
    stations = Station(jnp.asarray(places, jnp.float32), wind=jnp.asarray(wind, jnp.float32))
    source_key, noise_key = jax.random.split(jax.random.key(0))
    ppm = model.simulate(noise_key, model.prior.sample(source_key), stations)
    rows = np.column_stack([places, wind, ppm])
    np.savetxt(folder / "survey.csv", rows, "%.6g", ",", header="x,y,wind_u,wind_v,ch4", comments="")


def starts(field: str, extra: tuple[str, ...]) -> list[Start]:
    """What is started; `extra` are words of the surveys."""
    advise = ("advise", "--site", "site.toml", "--log", "mission.log")
    return [
        Start(
            f"survey of {NUM_READINGS} readings ({field})",
            ("locate", "readings.csv", "--field", field, "--json", *extra),
            20.0,
            6.0,
        ),
        Start(
            f"survey of {SITE_GRID**2} readings (gas site)",
            ("locate", "survey.csv", "--site", "site.toml", "--json", *extra),
            40.0,
            12.0,
        ),
        Start("mission (gas site)", advise, 20.0, 3.0),
    ]


def measure(start: Start, folder: Path, cold: int, warm: int) -> dict:
    """Cold starts, each in a cache folder of its own, and warm ones after each."""
    colds, warms, elsewhere = [], [], []
    for number in range(cold):
        cache = folder / f"cache-{start.words[0]}-{len(start.words)}-{number}"
        for again in range(1 + warm):
            (folder / "mission.log").unlink(missing_ok=True)
            (warms if again else colds).append(command_line(cache, folder, *start.words))
            if entries(cache) == 0:
                raise RuntimeError("A start left no compiled program behind: a warm one cannot be measured.")
        if "site.toml" in start.words:
            (folder / "mission.log").unlink(missing_ok=True)
            words = [word.replace("site.toml", "other.toml") for word in start.words]
            elsewhere.append(command_line(cache, folder, *words))
            print(f"{start.name}: warm at another site {elsewhere[-1].cpu:.1f} s of CPU", flush=True)
        print(f"{start.name}: cold {colds[-1].cpu:.1f} s, warm {warms[-1].cpu:.1f} s of CPU", flush=True)
    return {
        "name": start.name,
        "cold": colds,
        "warm": warms,
        "another site": elsewhere,
        "cold_limit": start.cold_limit,
        "warm_limit": start.warm_limit,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--field", default="gas")
    parser.add_argument("--cold", type=int, default=3, help="cold starts")
    parser.add_argument("--warm", type=int, default=3, help="warm starts after each, at least 1")
    parser.add_argument("--particles", type=int, default=None, help="of the surveys")
    parser.add_argument("--out", type=Path, default=Path("runs/bench"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    extra = () if arguments.particles is None else ("--particles", str(arguments.particles))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder, arguments.field)
        report = [
            measure(start, folder, arguments.cold, arguments.warm) for start in starts(arguments.field, extra)
        ]
    (arguments.out / "startup.json").write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
