"""Whether a suite with another seed comes to the same numbers.

    dowsax reproduce fixed --seed 1 --out runs/seed-1
    python -m benchmarks.another_seed --source runs/seed-1

Every number is compared with the published one of the same place; times are not, as they are the machine's.
A number of a second sample as large as the first is inside the first's 95 % interval in 83 % of cases, and
differs from it by less than both intervals allow in 95 %, as 1.96 standard errors of a difference are √2 as
long as those of a number. Numbers of one table have searches in common: they are right or wrong together.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.paper_tables import FOLDER
from dowsax.evaluate.metrics import Estimate
from dowsax.evaluate.tables import markdown, number
from dowsax.experiments.suites.measures import MEASURES
from dowsax.experiments.suites.registry import all_suites
from dowsax.experiments.suites.report import lines_in

TIMES = ("REV", "wall time")


class Twice(NamedTuple):
    """A number, measured twice."""

    place: tuple[str, ...]
    """The suite, row, column, filter and stop rule, and the measure."""
    first: Estimate
    second: Estimate

    @property
    def inside(self) -> bool:
        """Whether the second is in the interval of the first."""
        return self.first.low <= self.second.value <= self.first.high

    @property
    def alike(self) -> bool:
        """Whether they differ by less than the two intervals together allow."""
        below, above = sorted((self.first, self.second), key=lambda one: one.value)
        return above.value - below.value <= math.hypot(below.high - below.value, above.value - above.low)


def pairs(suite: str, first: Path, second: Path) -> list[Twice]:
    """The numbers of a suite that are in both folders and may differ from sample to sample."""
    published = {line[:4]: line.numbers for line in lines_in(first / suite)}
    found = [
        Twice((suite, *line[:4], measure), before, again)
        for line in lines_in(second / suite)
        for measure, again in line.numbers.items()
        if measure not in TIMES and (before := published.get(line[:4], {}).get(measure)) is not None
    ]
    return [one for one in found if _sampled(one.first) and _sampled(one.second)]


def _sampled(one: Estimate) -> bool:
    return None not in (one.value, one.low, one.high) and one.low < one.high


def table(found: Sequence[Twice]) -> str:
    """A line a suite."""
    rows = []
    for suite in dict.fromkeys(one.place[0] for one in found):
        own = [one for one in found if one.place[0] == suite]
        inside, alike = (sum(marks) for marks in zip(*((one.inside, one.alike) for one in own), strict=True))
        rows.append((suite, str(len(own)), f"{inside / len(own):.2f}", f"{alike / len(own):.2f}"))
    return "\n".join(markdown(("suite", "numbers", "inside the published interval", "alike"), rows))


def unlike(found: Sequence[Twice]) -> list[str]:
    """The numbers that differ by more than both intervals allow, in words."""
    return [
        f"{', '.join(one.place)}: {number(one.first, digits)} published, {number(one.second, digits)} again"
        for one in found
        if not one.alike
        for digits in (MEASURES[one.place[-1]].digits,)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, help="a folder of `dowsax reproduce --seed …`")
    parser.add_argument("--published", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    found = [one for suite in all_suites() for one in pairs(suite, arguments.published, arguments.source)]
    if not found:
        sys.exit(f"{arguments.source} has no table of a suite that {arguments.published} has.")
    print("\n".join([table(found), "", *unlike(found)]))


if __name__ == "__main__":
    main()
