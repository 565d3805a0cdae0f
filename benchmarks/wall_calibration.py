"""Calibration of beliefs among obstacles: results/tables/calibration/walls.md.

    python -m benchmarks.wall_calibration --lines radiation --worlds 24 --seed 1   # as published
    python -m benchmarks.wall_calibration --worlds 8 --surveys 4                   # a trial; it says little

Each world is a square of 60 m with 0 to 7 walls, 1 m thick and 5 to 30 m long, anywhere and turned any way. A
wall is opaque or lets through a known share; in the last line all are of an unknown attenuation. Sources come
from the prior, outside of the walls, and are surveyed by 40 readings on a walk to and fro. As in `dowsax
calibrate`, the belief is right if the ranks of the truth among draws of it are uniform.
"""

import argparse
import math
import sys
import time

import jax
import numpy as np

from benchmarks.site_calibration import HEADINGS, row, survey_all
from benchmarks.worlds import Case
from dowsax.compilation import enable_cache
from dowsax.evaluate.calibration import Calibration, join, score_surveys, verdict
from dowsax.evaluate.tables import markdown
from dowsax.world import Obstacle, UniformBox, compose
from dowsax.world.distributions import LogUniform

SIDE_M, THICKNESS_M, MAX_WALLS = 60.0, 1.0, 7
LENGTHS_M = (5.0, 30.0)
# With every strength that one would look for at this size, and no other model error than the walls.
SETTINGS = {
    "radiation": {"distributions": {"q": LogUniform(1e2, 1e6)}, "background": LogUniform(1.0, 100.0)},
    "level": {"distributions": {"level": 60.0}},
}
LINES = {
    "radiation": ("radiation", "radiation", False),
    "level": ("level", "level", False),
    "unknown": ("radiation, attenuations unknown", "radiation", True),
}
"""Their name in the table, the kind of site, and whether attenuations are unknown."""
KNOWN = {"radiation": (0.3, 3.0), "level": (3.0, 30.0)}
"""[1/m] and [dB/m], the range of the attenuations that are known."""


def wall(generator: np.random.Generator, is_in_area: bool) -> np.ndarray:
    """Return the corners of a wall in the area, or of one outside that shields nothing."""
    angle, length = generator.uniform(0, math.pi), generator.uniform(*LENGTHS_M)
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    middle = generator.uniform(0, SIDE_M, 2) if is_in_area else np.array([10 * SIDE_M, 10 * SIDE_M])
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return middle + 0.5 * (signs[:, :1] * length * along + signs[:, 1:] * THICKNESS_M * across)


def world(kind: str, number: int, seed: int, is_unknown: bool) -> Case:
    """The world of this number: with number modulo 8 walls."""
    generator = np.random.default_rng([seed, number])
    num_walls = number % (MAX_WALLS + 1)
    obstacles = []
    # All worlds have as many walls, so that they share a compiled program.
    for each in range(MAX_WALLS):
        corners = wall(generator, each < num_walls)
        known = "opaque" if each % 2 else float(np.exp(generator.uniform(*np.log(KNOWN[kind]))))
        obstacles.append(Obstacle(corners, "unknown" if is_unknown else known))
    box = UniformBox((0.0, 0.0), (SIDE_M, SIDE_M))
    model = compose(kind, box, obstacles=obstacles, **SETTINGS[kind])
    return Case(model, box.low, box.high, is_level=kind == "level", is_counted=kind == "radiation")


def measure(kind: str, worlds: int, surveys: int, seed: int, is_unknown: bool) -> Calibration:
    """The calibration over all worlds."""
    start, parts, names = time.perf_counter(), [], ()
    for number in range(worlds):
        case = world(kind, number, seed, is_unknown)
        key = jax.random.fold_in(jax.random.key(seed), number)
        simulated = survey_all(case, surveys, key, [seed, number])
        names, scores = score_surveys(case.model, simulated, preset="survey", seed=number)
        parts.append(scores)
        print(
            f"{kind}: {number + 1} of {worlds}, {time.perf_counter() - start:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return verdict(names, join(parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lines", nargs="+", choices=LINES, default=list(LINES), help="of the table")
    parser.add_argument("--worlds", type=int, default=16)
    parser.add_argument("--surveys", type=int, default=16, help="in each world")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    enable_cache()
    rows = []
    for name, kind, is_unknown in (LINES[line] for line in arguments.lines):
        report = measure(kind, arguments.worlds, arguments.surveys, arguments.seed, is_unknown)
        rows.append(row(name, report))
        print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(markdown(HEADINGS, rows)))


if __name__ == "__main__":
    main()
