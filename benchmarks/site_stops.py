"""What a stop is worth at the standard sites, one of each kind: results/tables/missions/site-stops.md.

    python -m benchmarks.site_stops --missions 1000 --seed 3       # as published
    python -m benchmarks.site_stops --missions 4 --out trial.csv   # a trial; its numbers mean little

Each is `dowsax rehearse` of a site of `benchmarks.standard_sites`, with the site's own policy. The shares of
wrong stops are written to where missions of such sites quote them; lines of other kinds there are kept.
"""

import argparse
import csv
import sys
import time
from collections.abc import Iterable
from dataclasses import astuple, fields
from pathlib import Path

from benchmarks import machine
from benchmarks.standard_sites import standard_site
from dowsax.compilation import enable_cache
from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.evaluate.tables import markdown
from dowsax.files import replace_file
from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Rate, Rehearsal
from dowsax.mission.stop_statistics import StandardStops
from dowsax.site import parse_site
from dowsax.world import Model

KINDS = ("gas-plume", "radiation", "level", "magnetic-dipole")
MISSIONS = {"gas-plume": 60, "radiation": 150, "level": 150, "magnetic-dipole": 150}
"""By default: those in a gas plume take three to four times as long."""
SITES = {kind: standard_site(kind) for kind in KINDS}
FILE = machine.ROOT / "src/dowsax/mission/data/site_stops.csv"
HEADINGS = (
    "site",
    "found",
    "wrong, of stops",
    "95 % region holds the source",
    "found without a source",
    "readings until half of the stops",
)


def rehearsed(
    kind: str, missions: int, seed: int, threads: int | None, truth: Model | None = None
) -> Rehearsal:
    """Missions of the site of this kind, in its own world or another."""
    plan = Plan.of(parse_site(SITES[kind], f"{kind}.toml"))
    begun = time.perf_counter()

    num_ended = 0

    def show(more: int) -> None:
        nonlocal num_ended
        num_ended += more
        print(f"\r{kind}: {num_ended} of {missions}", end="", file=sys.stderr, flush=True)

    config = RehearsalConfig(missions, seed=seed)
    rehearsal = rehearse(plan, config, truth=truth, on_progress=show, threads=threads).rehearsal
    print(f", {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return rehearsal


def row(kind: str, rehearsal: Rehearsal) -> tuple[str, ...]:
    """One line of the table."""
    stops = sorted(one.readings for one in rehearsal.missions if one.source is not None and one.found)
    rates = (rehearsal.stopped, rehearsal.false_stops, rehearsal.covered, rehearsal.found_nothing)
    return kind, *map(share, rates), str(stops[len(stops) // 2]) if stops else "none"


def standard_of(kind: str, rehearsal: Rehearsal) -> StandardStops:
    """What missions quote of it; there has to be a stop."""
    plan = Plan.of(parse_site(SITES[kind], f"{kind}.toml"))
    (west, south), (east, north) = plan.reach.area
    steps, wrong = plan.reach.steps, rehearsal.false_stops
    assert steps is not None
    return StandardStops(
        kind=kind,
        measured=" ".join(plan.stations.names),
        policy=rehearsal.policy,
        filter=rehearsal.preset,
        radius=rehearsal.radius,
        probability=rehearsal.probability,
        width=east - west,
        height=north - south,
        step=steps.length,
        rehearsals=rehearsal.with_source,
        stops=wrong.of,
        wrong=wrong.count,
        low=wrong.low,
        high=wrong.high,
    )


def write(rows: Iterable[StandardStops], path: Path) -> None:
    """One line a kind, in the order of the table; those of other kinds stay as they are."""
    names = [item.name for item in fields(StandardStops)]
    lines: dict[str, list[object]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            lines = {row["kind"]: [row[name] for name in names] for row in csv.DictReader(file)}
    lines |= {row.kind: [_cell(cell) for cell in astuple(row)] for row in rows}
    with replace_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [names, *(lines[kind] for kind in KINDS if kind in lines)]
        )


def _cell(cell: object) -> object:
    return f"{cell:.6g}" if isinstance(cell, float) else cell


def share(rate: Rate) -> str:
    """As the other tables have it."""
    if rate.of == 0:
        return "none"
    return f"{rate.count / rate.of:.3f} [{rate.low:.3f}, {rate.high:.3f}] ({rate.count} of {rate.of})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missions", type=int, help="of each site, a fifth without a source")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--kinds", nargs="+", default=list(SITES), choices=SITES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    enable_cache()
    made = {
        kind: rehearsed(kind, options.missions or MISSIONS[kind], options.seed, options.threads)
        for kind in options.kinds
    }
    write([standard_of(kind, made[kind]) for kind in made if made[kind].false_stops.of], options.out)
    print("\n".join(markdown(HEADINGS, [row(kind, rehearsal) for kind, rehearsal in made.items()])))
    filters = {f"{rehearsal.policy} ({rehearsal.preset})" for rehearsal in made.values()}
    numbers = sorted({len(rehearsal.missions) for rehearsal in made.values()})
    missions = " or ".join(map(str, numbers))
    print(f"\n{missions} missions each by {' or '.join(sorted(filters))}, seed {options.seed}; ", end="")
    print(f"commit {machine.commit()}.")


if __name__ == "__main__":
    main()
