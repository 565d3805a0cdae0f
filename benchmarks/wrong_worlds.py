"""How often the check of the fit alarms where the world is wrong: results/tables/calibration/wrong-worlds.md.

    python -m benchmarks.wrong_worlds --surveys 40 --seed 1    # as published
    python -m benchmarks.wrong_worlds --surveys 2              # a trial; its numbers mean little

Each survey is located once, with inferred noise, and every reading counts as one. The worlds are those of
`benchmarks.worlds`. A survey with a reading that no source explains is refused, which counts as an alarm.
"""

import argparse
import sys
import time
from collections.abc import Sequence

import jax
import numpy as np

from benchmarks import machine
from benchmarks.site_stops import share
from benchmarks.worlds import CASES, WORLDS, Case
from dowsax import locate
from dowsax.compilation import enable_cache
from dowsax.evaluate.missions import rate
from dowsax.evaluate.tables import markdown
from dowsax.world import MODALITIES

PARTICLES = 512
_MESSAGE = "No source that the prior allows"


def alarms(name: str, case: Case, world: str, surveys: int, seed: int) -> list[bool]:
    """Whether the check alarms, for each survey of one world."""
    found = []
    for number in range(surveys):
        generator = np.random.default_rng([seed, number])
        survey = WORLDS[world](case, generator, jax.random.fold_in(jax.random.key(seed), number))
        preset = "default" if name in MODALITIES else "survey"
        try:
            posterior = locate(
                survey.stations,
                survey.readings,
                model=case.model,
                preset=preset,
                particles=PARTICLES,
                seed=number,
            )
        except ValueError as error:
            if _MESSAGE not in str(error):
                raise
            found.append(True)
        else:
            found.append(not bool(posterior.fits))
    return found


def measure(name: str, worlds: Sequence[str], surveys: int, seed: int) -> tuple[str, ...]:
    """One line of the table."""
    case, cells = CASES[name](), []
    for world in worlds:
        if world == "reversed wind" and not case.is_windy:
            cells.append("")
            continue
        begun = time.perf_counter()
        cells.append(share(rate(alarms(name, case, world, surveys, seed))))
        print(
            f"{name}, {world}: {cells[-1]}, {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True
        )
    return name, *cells


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--surveys", type=int, default=40, help="of each kind in each world")
    parser.add_argument("--kinds", nargs="+", default=list(CASES), choices=CASES)
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=WORLDS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    enable_cache()
    rows = [measure(name, options.worlds, options.surveys, options.seed) for name in options.kinds]
    print("\n".join(markdown(("readings of", *options.worlds), rows)))
    print(f"\n{options.surveys} surveys each, seed {options.seed}; commit {machine.commit()}.")


if __name__ == "__main__":
    main()
