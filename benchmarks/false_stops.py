"""The rates of false stops that ship with the package, from the numbers in results.

    python -m benchmarks.false_stops        # after `benchmarks.searches` and `benchmarks.paper_tables`

Missions quote them where they have the same field, filter, rule and policy. Policies that were trained for
sources elsewhere are not among them.
"""

import csv
from pathlib import Path

from benchmarks.machine import ROOT
from benchmarks.table_files import estimate, read_lines, where
from dowsax.envs import SUCCESS_RADIUS_M
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.statistics import wilson_interval
from dowsax.experiments.run import CREDIBLE
from dowsax.experiments.suites.report import lines_in
from dowsax.files import replace_file
from dowsax.inference import DEFAULT
from dowsax.policies.shipped import pretrained_names

DATA = ROOT / "results"
FILE = ROOT / "src/dowsax/mission/data/false_stops.csv"
HEADINGS = ("policy", "field", "preset", "particles", "radius", "probability", "rate", "low", "high", "stops")
PRESET = "default"


def rates(data: Path) -> dict[tuple[str, str], Estimate]:
    """The rate of a policy on a field: planners from their own table, trained ones from the suite `id`."""
    planners = where(read_lines(data / "searches.csv"), scenario="id", stop=str(CREDIBLE))
    found = {(line["policy"], line["field"]): estimate(line, "false_stop_given_stop") for line in planners}
    shares: dict[tuple[str, str], list[Estimate]] = {}
    for line in lines_in(data / "paper/id"):
        if (line.filter, line.stop) == (PRESET, str(CREDIBLE)) and line.row in pretrained_names():
            shares.setdefault((line.row, line.column), []).append(line.numbers["false stops"])
    return found | {place: pool(parts) for place, parts in shares.items()}


def pool(shares: list[Estimate]) -> Estimate:
    """The share of all cases together, as of several test seeds."""
    hits = sum(round(share.value * share.n) for share in shares if share.value is not None)
    total = sum(share.n for share in shares)
    return Estimate(hits / total, *wilson_interval(hits, total), total)


def main() -> None:
    rule = (f"{SUCCESS_RADIUS_M:.1f}", f"{CREDIBLE.threshold:g}")
    rows = [
        (*place, PRESET, DEFAULT.config.num_particles, *rule, *(f"{part:.6f}" for part in rate[:3]), rate.n)
        for place, rate in rates(DATA).items()
    ]
    with replace_file(FILE) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADINGS, *rows])


if __name__ == "__main__":
    main()
