"""How often stops were false in rehearsals of the standard sites: the files that `dowsax site new` writes."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Rate


@dataclass(frozen=True)
class StandardStops:
    """Rehearsals of the standard site of one kind by one policy and one filter, and what they came to."""

    kind: str
    measured: str
    """What is measured along with each reading, as in `stations.MEASURED`."""
    policy: str
    filter: str
    """As `rehearsal.filter_name` says it."""
    radius: float
    """[m]"""
    probability: float
    width: float
    """[m], of the area, from west to east."""
    height: float
    """[m], from south to north."""
    step: float
    """[m]"""
    rehearsals: int
    """With a source."""
    stops: int
    """Of these, those that ended with `found`."""
    wrong: int
    """Stops at which the source was further off than the radius."""
    low: float
    high: float
    """The 95 % interval of the share of wrong stops."""

    def __post_init__(self) -> None:
        if not 0 < self.stops <= self.rehearsals:
            raise ValueError(f"There is a stop at least, and a rehearsal for each; got {self.stops}.")

    @property
    def rate(self) -> float:
        return self.wrong / self.stops

    def sentence(self) -> str:
        share = Rate(self.wrong, self.stops, self.low, self.high)
        return (
            f"in {self.rehearsals} rehearsals of the standard site of this kind ({self.width:g} by "
            f"{self.height:g} m, steps of {self.step:g} m, found within {self.radius:g} m), {share.count} of "
            f"{share.of} stops were wrong{share.percent}"
        )


@cache
def table() -> tuple[StandardStops, ...]:
    """What was measured: `python -m benchmarks.site_stops` wrote it."""
    text = files("dowsax.mission").joinpath("data/site_stops.csv").read_text(encoding="utf-8")
    return tuple(map(_row, csv.DictReader(text.splitlines())))


def _row(row: dict[str, str]) -> StandardStops:
    words = ("kind", "measured", "policy", "filter")
    counts = ("rehearsals", "stops", "wrong")
    made: dict[str, Any] = {name: float(cell) for name, cell in row.items() if name not in (*words, *counts)}
    made |= {name: row[name] for name in words}
    made |= {name: int(row[name]) for name in counts}
    return StandardStops(**made)


def standard(plan: "Plan", policy: str) -> StandardStops | None:
    """What was measured at the standard site of this kind, by the same policy, filter and probability.

    `None` where there is none, where other things are measured along with the readings, where the source may
    jump, and for a model of one's own making. Area, steps, radius and prior may be others.
    """
    if plan.file is None or plan.jump is not None:
        return None
    here = (plan.kind, " ".join(plan.stations.names), policy, plan.filter_name, plan.probability)
    for row in table():
        if here == (row.kind, row.measured, row.policy, row.filter, row.probability):
            return row
    return None
