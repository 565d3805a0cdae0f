"""What a stop is worth at four sites, one of each kind: the table of docs/missions.md.

    python -m benchmarks.site_stops                         # as published
    python -m benchmarks.site_stops --missions 4            # a trial; its numbers mean little

Each is `dowsax rehearse` with the site's own policy. The gas plume is the file that `dowsax site new` writes;
the others have what their kind believes by itself, in an area and with steps in which it can be found.
"""

import argparse
import sys
import time

from benchmarks import machine
from dowsax.compilation import enable_cache
from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.evaluate.tables import markdown
from dowsax.mission import NEW_SITE, parse_site
from dowsax.mission.advisor import Advisor
from dowsax.mission.rehearsal import Rate, Rehearsal

_OTHER = """
name = "{kind}"
area = {{low = [0, 0], high = [{width}, {height}]}}
field = {{kind = "{kind}"}}
step = {{length = {step}}}
budget = {{readings = 60}}
search = {{radius = {radius}}}
"""
SITES = {
    "gas-plume": NEW_SITE,
    "radiation": _OTHER.format(kind="radiation", width=60, height=40, step=5, radius=2),
    "level": _OTHER.format(kind="level", width=60, height=40, step=5, radius=2),
    "magnetic-dipole": _OTHER.format(kind="magnetic-dipole", width=30, height=20, step=2, radius=1),
}
HEADINGS = (
    "site",
    "found",
    "wrong, of stops",
    "95 % region holds the source",
    "found without a source",
    "readings until half of the stops",
)


def rehearsed(kind: str, missions: int, seed: int, threads: int | None) -> Rehearsal:
    """Missions of the site of this kind."""
    advisor = Advisor(parse_site(SITES[kind], f"{kind}.toml"), None, seed)
    begun = time.perf_counter()

    def tell(_: int) -> None:
        told.append(1)
        print(f"\r{kind}: {len(told)} of {missions}", end="", file=sys.stderr, flush=True)

    told: list[int] = []
    rehearsal = rehearse(advisor, RehearsalConfig(missions, seed=seed), progress=tell, threads=threads)
    print(f", {time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return rehearsal


def row(kind: str, rehearsal: Rehearsal) -> tuple[str, ...]:
    """One line of the table."""
    stops = sorted(one.readings for one in rehearsal.missions if one.source is not None and one.found)
    rates = (rehearsal.stopped, rehearsal.false_stops, rehearsal.covered, rehearsal.found_nothing)
    return kind, *map(share, rates), str(stops[len(stops) // 2]) if stops else "none"


def share(rate: Rate) -> str:
    """As the other tables have it."""
    if rate.of == 0:
        return "none"
    return f"{rate.count / rate.of:.3f} [{rate.low:.3f}, {rate.high:.3f}] ({rate.count} of {rate.of})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--missions", type=int, default=30, help="of each site, a fifth without a source")
    parser.add_argument("--kinds", nargs="+", default=list(SITES), choices=SITES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    enable_cache()
    made = {kind: rehearsed(kind, options.missions, options.seed, options.threads) for kind in options.kinds}
    print("\n".join(markdown(HEADINGS, [row(kind, rehearsal) for kind, rehearsal in made.items()])))
    filters = {f"{rehearsal.policy} ({rehearsal.preset})" for rehearsal in made.values()}
    print(
        f"\n{options.missions} missions each by {' or '.join(sorted(filters))}, seed {options.seed}; ", end=""
    )
    print(f"commit {machine.commit()}.")


if __name__ == "__main__":
    main()
