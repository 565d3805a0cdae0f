"""How often a stop was false in simulation: of this site, of its field, of its kind, or not measured."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import rehearsal_command, rehearsed
from dowsax.mission.standard_stops import standard
from dowsax.policies.shipped import field_of


@dataclass(frozen=True)
class FalseStops:
    """The share of stops at which the source was further off than said, with its 95 % interval."""

    policy: str
    field: str
    preset: str
    particles: int
    radius: float
    """[m]"""
    probability: float
    rate: float
    low: float
    high: float
    stops: int

    def sentence(self) -> str:
        return (
            f"of {self.stops} such stops in simulated searches of this field, in a square of 25 m with steps "
            f"of 1 m, {100 * self.rate:.1f} % were wrong [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        )


@cache
def table() -> tuple[FalseStops, ...]:
    """What was measured, 1,000 searches a row, steps of 1 m: `python -m benchmarks.false_stops` wrote it."""
    text = files("dowsax.mission").joinpath("data/false_stops.csv").read_text(encoding="utf-8")
    return tuple(
        FalseStops(
            row["policy"],
            row["field"],
            row["preset"],
            int(row["particles"]),
            float(row["radius"]),
            float(row["probability"]),
            float(row["rate"]),
            float(row["low"]),
            float(row["high"]),
            int(row["stops"]),
        )
        for row in csv.DictReader(text.splitlines())
    )


def measured(plan: Plan, policy: str) -> FalseStops | None:
    """The row of the same field, filter, rule and policy; `None` without one, or if the source may jump."""
    field = field_of(plan.model)
    if field is None or plan.jump is not None:
        return None
    here = (policy, field, plan.preset_name, plan.preset.config.num_particles, plan.radius, plan.probability)
    for row in table():
        if here == (row.policy, row.field, row.preset, row.particles, row.radius, row.probability):
            return row
    return None


def said_of_stops(plan: Plan, policy: str, *, by_name: bool = True) -> str:
    """What is told of a stop: how often it was false, and if that was not measured, the command that does.

    Rehearsals of the very site come before what was measured for its field, and that before the standard site
    of its kind. `by_name` says whether the command can be given the policy by its name.
    """
    rehearsal, why_not = rehearsed(plan.file, plan.text, plan.filter_name, policy)
    row = measured(plan, policy)
    known = rehearsal or row
    if known is not None:
        return known.sentence()
    usual = standard(plan, policy)
    if usual is None:
        told = f"how often such a stop is wrong was not measured for this field and rule{why_not}"
    else:
        told = f"{usual.sentence()}; this site itself was not rehearsed{why_not}"
    if plan.file is None or not by_name:
        return told
    return f"{told}: `{rehearsal_command(plan.file, policy)}` does"
