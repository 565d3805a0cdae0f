"""Flights with faults, in simulated time: nothing outside, no reading lost, and every flight ends at home.

    python -m benchmarks.flights --flights 200 --seed 0

Each flight searches a small yard with a pond in its middle, which nothing may cross. Of each kind of fault
half of the flights have it: lost packets (1 to 30 %), wind that pushes the vehicle, a lost link (2 to 60 s),
one to three kills of our process in the middle of its work (it is down for 1 to 60 s; after 5 s the autopilot
returns by itself), a pilot who takes over, and a battery that gets low. A simulated person says resume ten
seconds after whatever waits for one.

Required: no waypoint was sent outside the geofence, the heights or the range, none to which the straight way
is not free, no acknowledged reading is missing in a log or there twice, no mode was commanded while the pilot
flew. Exit code 1 otherwise. Flights that did not end at home are listed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.simulated_flights import Base, Outcome, SimulatedFlight, draw_case
from dowsax.evaluate.statistics import wilson_interval

REQUIRED = ("outside", "across", "lost", "twice", "under_pilot")
_REPORT_EVERY_S = 30.0


def fly_all(base: Base, number: int, seed: int, folder: Path) -> list[Outcome]:
    """Fly with the seeds from the first on."""
    outcomes, reported = [], time.monotonic()
    for index in range(number):
        outcomes.append(SimulatedFlight(base, draw_case(seed + index), folder / f"{index}.log").run())
        if time.monotonic() - reported > _REPORT_EVERY_S:
            reported = time.monotonic()
            print(f"flights: {index + 1} of {number}", file=sys.stderr, flush=True)
    return outcomes


def count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return the sums over flights."""
    names = ("readings", "waypoints", *REQUIRED)
    sums = {name: sum(getattr(outcome, name) for outcome in outcomes) for name in names}
    return {"flights": len(outcomes), "home": sum(outcome.is_home for outcome in outcomes)} | sums


def table(outcomes: Sequence[Outcome]) -> str:
    """A line for each kind of fault, and one for all flights."""
    faults = dict.fromkeys(fault for outcome in outcomes for fault in outcome.case.faults)
    groups = {fault: [one for one in outcomes if fault in one.case.faults] for fault in sorted(faults)}
    columns = list(count([]))
    lines = ["  ".join(f"{name:>12}" for name in ("fault", *columns, "95 % of home"))]
    for name, chosen in (groups | {"all": list(outcomes)}).items():
        counts = count(chosen)
        low, high = wilson_interval(counts["home"], counts["flights"])
        cells = [f"{name:>12}", *(f"{counts[column]:>12,}" for column in columns)]
        lines.append("  ".join([*cells, f"{100 * low:>5.1f}-{100 * high:.1f} %"]))
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flights", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(words)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        outcomes = fly_all(Base(), options.flights, options.seed, Path(name))
    sums, seconds = count(outcomes), round(time.monotonic() - begun)
    away = [f"seed {one.case.seed}: {one.ending}" for one in outcomes if not one.is_home]
    problems = [problem for one in outcomes for problem in one.problems]
    if options.json:
        print(json.dumps({"seed": options.seed, "seconds": seconds, **sums, "away": away}, indent=2))
    else:
        simulated = sum(one.seconds for one in outcomes) / 3600
        print("\n".join([table(outcomes), *away, *problems]))
        print(f"seed {options.seed}, {simulated:.1f} h simulated in {seconds} s")
    return 1 if problems or any(sums[name] for name in REQUIRED) else 0


if __name__ == "__main__":
    sys.exit(main())
