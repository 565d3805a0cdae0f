"""What a stop is worth in a wind whose direction jitters: results/tables/missions/wind-error.md.

    python -m benchmarks.wind_error                         # as published
    python -m benchmarks.wind_error --missions 4            # a trial; its numbers mean little

Missions in a gas plume whose true wind is off the measured one by another angle at each reading, led by
advisors that reckon with such an error, with a larger one, or with none. All meet the same sources and winds.
"""

import argparse
import sys

from benchmarks import machine
from benchmarks.site_stops import HEADINGS, row
from dowsax.compilation import enable_cache
from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.evaluate.tables import markdown
from dowsax.mission.plan import Plan
from dowsax.site import Site, build_model, parse_site

TRUE = 5.0
"""[°], the standard deviation of the true wind's direction about the measured one."""
RECKONED = (0.0, 5.0, 10.0)
"""[°], what the advisor is told of it."""
_SITE = """
name = "yard"
area = {{low = [0, 0], high = [100, 80]}}
field = {{kind = "gas-plume", gas = "methane"}}
prior = {{q = [0.1, 10], height = [0, 2], stability = [2, 4]}}
background = {{range = [1.9, 2.1]}}
noise = {{robust = true, ratio = [0.05, 0.3], floor = [0.005, 0.05]}}
wind = {{direction_error = {error}}}
start = {{position = [90, 40]}}
step = {{length = 8}}
budget = {{readings = 40}}
search = {{radius = 8, particles = 512}}
"""


def site(error: float) -> Site:
    """One that says that the wind is off by this error [°]."""
    return parse_site(_SITE.format(error=error), f"yard-{error:g}.toml")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missions", type=int, default=24, help="of each advisor, all with a source")
    parser.add_argument("--reckoned", type=float, nargs="+", default=list(RECKONED), help="[°]")
    parser.add_argument("--true", type=float, default=TRUE, help="[°]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    enable_cache()
    config = RehearsalConfig(options.missions, without_source=0.0, seed=options.seed)
    truth = build_model(site(options.true))
    lines = []
    for error in options.reckoned:
        plan = Plan.of(site(error))
        ended = rehearse(
            plan,
            config,
            plan.site_policy("infotaxis"),
            truth=truth,
            on_progress=lambda _, error=error: print(f"{error:g}°", end=" ", file=sys.stderr, flush=True),
            threads=options.threads,
        )
        _, found, wrong, covered, _, readings = row(f"{error:g}°", ended.rehearsal)
        lines.append((f"{error:g}°", found, wrong, covered, readings))
        print("\n".join(markdown(("reckoned with", *HEADINGS[1:4], HEADINGS[5]), lines)), flush=True)
    told = f"{options.missions} missions each, seed {options.seed}, a true error of {options.true:g}°"
    print(f"\n{told}; commit {machine.commit()}.")


if __name__ == "__main__":
    main()
