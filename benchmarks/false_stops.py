"""The rates of false stops that ship with the package, from the numbers in results.

    python -m benchmarks.false_stops        # after `benchmarks.searches` and `benchmarks.learned`

Missions quote them where they have the same field, filter, rule and policy. Policies that were trained for
sources elsewhere are not among them.
"""

import csv
from pathlib import Path

from benchmarks.learned import DATA, LEARNED, SEARCHES
from benchmarks.machine import ROOT
from benchmarks.table_files import Line, estimate, read_lines, where
from dowsax.envs import SUCCESS_RADIUS_M
from dowsax.experiments.run import CREDIBLE
from dowsax.files import replace_file

FILE = ROOT / "src/dowsax/mission/data/false_stops.csv"
HEADINGS = ("policy", "field", "preset", "particles", "radius", "probability", "rate", "low", "high", "stops")


def rows(data: Path) -> list[tuple[str, ...]]:
    """One a policy and field; where both tables have one, that of the planners."""
    lines: dict[tuple[str, str], Line] = {}
    for name in (SEARCHES, LEARNED):
        for line in where(read_lines(data / name), scenario="id", stop=str(CREDIBLE)):
            lines.setdefault((line["policy"], line["field"]), line)
    return [_row(line) for line in lines.values()]


def _row(line: Line) -> tuple[str, ...]:
    rate = estimate(line, "false_stop_given_stop")
    numbers = (f"{number:.6f}" for number in rate[:3])
    rule = (f"{SUCCESS_RADIUS_M:.1f}", f"{CREDIBLE.threshold:g}")
    return (*(line[name] for name in HEADINGS[:4]), *rule, *numbers, str(rate.n))


def main() -> None:
    with replace_file(FILE) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADINGS, *rows(DATA)])


if __name__ == "__main__":
    main()
