"""The planner of sites against one-step planners, at sites drawn at random: results/tables/missions.

    python -m benchmarks.random_sites --out runs/random_sites                # every site; resumable
    python -m benchmarks.random_sites --out runs/random_sites --table        # the table of the finished sites
    python -m benchmarks.random_sites --out trial --sites 0 --missions 8     # a trial of the first site

Areas have a diagonal from 30 m to 2 km. The four kinds take turns; steps, budget, radius, start, strength and
what is known of the wind are drawn. All policies have the same missions, each with a source from the prior.
"""

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.table_files import TABLES, write_tables
from dowsax.compilation import enable_cache
from dowsax.evaluate.missions import RehearsalConfig, rehearse
from dowsax.evaluate.paired import paired_share
from dowsax.evaluate.tables import markdown, number
from dowsax.files import replace_file
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import SITE_POLICY
from dowsax.site import parse_site

NUM_SITES = 12
KINDS = ("gas-plume", "radiation", "level", "magnetic-dipole")
POLICIES = (SITE_POLICY, "infotaxis", "entrotaxis", "dcee")
DIAGONALS_M = 30.0, 2000.0
STRENGTHS = {"gas-plume": (1e-3, 10.0), "radiation": (1.0, 1e7)}
"""The range of the strength `q` in the unit of the kind, of which a site may know a part."""
NAMES = ("site", "policy", "mission", "found", "wrong", "readings", "distance")


def draw_site(number: int) -> str:
    """Return a site file."""
    rng = np.random.default_rng([number, 20])
    return site_text(rng, f"site {number}", KINDS[number % len(KINDS)])


def site_text(
    rng: np.random.Generator, name: str, kind: str, winds: Sequence[str] = ("measured", "unknown", "constant")
) -> str:
    """Draw a site file of a kind."""
    diagonal = math.exp(rng.uniform(*np.log(DIAGONALS_M)))
    aspect = rng.uniform(0.4, 1.0)
    width = diagonal / math.hypot(1.0, aspect)
    height = aspect * width
    step, radius = height * rng.uniform(0.04, 0.15), diagonal * rng.uniform(0.01, 0.04)
    start = rng.choice([0.05, 0.5, 0.95], 2) * (width, height)
    lines = [f'name = "{name}"', "[area]", "low = [0.0, 0.0]", f"high = [{width:.1f}, {height:.1f}]"]
    lines += ["[field]", f'kind = "{kind}"']
    if kind in STRENGTHS and rng.uniform() < 0.5:
        low, high = STRENGTHS[kind]
        middle = math.exp(rng.uniform(math.log(low * 5), math.log(high / 5)))
        lines += ["[prior]", f"q = [{middle / 5:.3g}, {middle * 5:.3g}]"]
    if kind == "gas-plume":
        mode = rng.choice(winds)
        lines += ["[wind]", f'mode = "{mode}"']
        if mode == "constant":
            lines += [f"speed = {rng.uniform(1, 8):.1f}", f"from = {rng.uniform(0, 360):.0f}"]
    lines += ["[start]", f"position = [{start[0]:.1f}, {start[1]:.1f}]"]
    lines += ["[step]", f"length = {step:.2f}", f"directions = {rng.choice([4, 8])}"]
    lines += ["[budget]", f"readings = {rng.choice([40, 60, 100])}"]
    if rng.uniform() < 0.7:
        lines += [f"distance = {diagonal * rng.uniform(3, 12):.0f}"]
    return "\n".join([*lines, "[search]", f"radius = {radius:.2f}"]) + "\n"


def measure(number: int, missions: int, seed: int) -> list[tuple]:
    """Return a line for each policy and mission."""
    plan = Plan.of(parse_site(draw_site(number), f"site-{number}.toml"))
    config = RehearsalConfig(missions, without_source=0.0, seed=seed)
    lines: list[tuple] = []
    for policy in POLICIES:
        ended = rehearse(plan, config, plan.site_policy(policy)).rehearsal.missions
        print(f"site {number}, {policy}: {sum(one.found for one in ended)} of {missions}", file=sys.stderr)
        lines += [
            (number, policy, i, int(one.found), int(one.wrong(plan.radius)), one.readings, one.distance)
            for i, one in enumerate(ended)
        ]
    return lines


def table(folder: Path) -> str:
    """Return the table: how often each policy found the source, and by how much ours beats the best other."""
    rows = []
    for path in sorted(folder.glob("site-*.csv"), key=lambda path: int(path.stem.split("-")[1])):
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        found = {
            name: np.array([line["found"] == "1" for line in lines if line["policy"] == name])
            for name in POLICIES
        }
        wrong = sum(line["wrong"] == "1" for line in lines if line["policy"] == SITE_POLICY)
        best = max(POLICIES[1:], key=lambda name: found[name].sum())
        more = paired_share(found[SITE_POLICY], found[best])
        shares = [f"{each.mean():.2f} ({each.sum()} of {each.size})" for each in found.values()]
        plan = Plan.of(parse_site(draw_site(int(lines[0]["site"])), "site.toml"))
        width, height = np.subtract(plan.reach.area[1], plan.reach.area[0])
        size = f"{plan.kind}, {width:.0f} m by {height:.0f} m"
        rows.append((lines[0]["site"], size, *shares, str(wrong), f"{best}: {number(more, 2)}"))
    headings = (
        "site",
        "kind and area",
        *POLICIES,
        f"wrong stops of {SITE_POLICY}",
        "more than the best other",
    )
    return "\n".join(markdown(headings, rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder of results, a file for each site")
    parser.add_argument("--sites", nargs="+", type=int, default=range(NUM_SITES))
    parser.add_argument("--missions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--table", action="store_true", help="write the table of the files in the folder")
    options = parser.parse_args()
    if options.table:
        for path in write_tables(TABLES / "missions", {"random-sites": table(options.out)}):
            print(path.read_text(encoding="utf-8"))
        return
    enable_cache()
    options.out.mkdir(parents=True, exist_ok=True)
    for site in options.sites:
        path = options.out / f"site-{site}-seed-{options.seed}-{options.missions}.csv"
        if not path.exists():
            lines = measure(site, options.missions, options.seed)
            with replace_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([NAMES, *lines])
    print(f"commit {machine.commit()}")


if __name__ == "__main__":
    main()
