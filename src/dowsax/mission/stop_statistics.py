"""How often a stop was wrong in simulation: at this site, in its field, or at a site of its kind."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dowsax.mission.plan import Plan
from dowsax.mission.rehearsal import Rate, find_rehearsal, rehearsal_command
from dowsax.policies.shipped import field_of
from dowsax.world import source_columns


@dataclass(frozen=True)
class FalseStops:
    """The share of stops in a benchmark field at which the source was too far off, with its 95 % interval."""

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


@dataclass(frozen=True)
class StandardStops:
    """Rehearsals of the standard site of one kind by one policy and filter.

    It is what `dowsax site new` writes, with the fence and the no-go area of its example in use.
    """

    kind: str
    measured: str
    """What is measured along with each reading, as in `stations.MEASURED`."""
    policy: str
    filter: str
    """As `rehearsal.filter_name` writes it."""
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
    """Rehearsals with a source that ended with `found`."""
    wrong: int
    """Stops at which the source was further off than the radius."""
    low: float
    high: float
    """The 95 % interval of the share of wrong stops."""

    def __post_init__(self) -> None:
        if not 0 < self.stops <= self.rehearsals:
            raise ValueError(f"`stops` must be from 1 to the {self.rehearsals} rehearsals; got {self.stops}.")

    @property
    def rate(self) -> float:
        return self.wrong / self.stops

    def sentence(self) -> str:
        share = Rate(self.wrong, self.stops, self.low, self.high)
        return (
            f"in {self.rehearsals} rehearsals of the standard site of this kind ({self.width:g} by "
            f"{self.height:g} m, steps of {self.step:g} m, found within {self.radius:g} m), {share.count} of "
            f"{share.of} stops {'was' if share.count == 1 else 'were'} wrong{share.percent}"
        )


@cache
def read_false_stops() -> tuple[FalseStops, ...]:
    """Read the table of `python -m benchmarks.false_stops`: 1,000 searches a row, steps of 1 m."""
    return tuple(_read_row(FalseStops, row) for row in _table("false_stops.csv"))


@cache
def read_standard_stops() -> tuple[StandardStops, ...]:
    """Read the table of `python -m benchmarks.site_stops`."""
    return tuple(_read_row(StandardStops, row) for row in _table("site_stops.csv"))


def _table(name: str) -> csv.DictReader:
    text = files("dowsax.mission").joinpath(f"data/{name}").read_text(encoding="utf-8")
    return csv.DictReader(text.splitlines())


def _read_row(kind: type, row: dict[str, str]) -> Any:
    """Read a row into a dataclass by the types of its fields."""
    return kind(**{name: kind.__annotations__[name](cell) for name, cell in row.items()})


def find_false_stops(plan: Plan, policy: str) -> FalseStops | None:
    """Find the row of the same field, filter, rule and policy.

    `None` also where the source may jump, or there may be several.
    """
    field = field_of(plan.model)
    if field is None or plan.jump is not None or _has_several_sources(plan):
        return None
    here = (policy, field, plan.preset_name, plan.preset.config.num_particles, plan.radius, plan.probability)
    for row in read_false_stops():
        if here == (row.policy, row.field, row.preset, row.particles, row.radius, row.probability):
            return row
    return None


def find_standard_stops(plan: Plan, policy: str) -> StandardStops | None:
    """Find the standard site of the same kind, measurements, policy, filter and probability.

    `None` also where the source may jump or there may be several, where readings are not values, and for a
    model that was not built from a site file. Area, steps, radius and prior may differ.
    """
    if plan.file is None or plan.jump is not None or plan.reading != "value" or _has_several_sources(plan):
        return None
    here = (plan.kind, " ".join(plan.stations.names), policy, plan.filter_name, plan.probability)
    for row in read_standard_stops():
        if here == (row.kind, row.measured, row.policy, row.filter, row.probability):
            return row
    return None


def _has_several_sources(plan: Plan) -> bool:
    """Whether there are several sources, or may be: all tables were measured with one."""
    return source_columns(plan.model.prior) is not None


def _unmeasured(plan: Plan, policy: str) -> str:
    """Return what sets a mission apart from those whose stops were measured."""
    if _has_several_sources(plan):
        return "several sources"
    cases = []
    number = len(plan.searchers)
    if number:
        cases.append("1 searcher with a name" if number == 1 else f"{number} searchers")
    if plan.reading != "value":
        cases.append(f"{plan.reading} readings")
    if plan.jump is not None:
        cases.append("a source that may move")
    row = next((row for row in read_standard_stops() if row.kind == plan.kind), None)
    if row is not None and plan.filter_name != row.filter:
        cases.append(f"the filter {plan.filter_name}, but for {row.filter}")
    if row is not None and policy != row.policy:
        cases.append(f"the policy {policy}")
    if row is not None and plan.probability != row.probability:
        cases.append(f"a probability of {plan.probability:g}")
    return " and for ".join(cases) or "this field and rule"


def describe_stops(plan: Plan, policy: str, *, by_name: bool = True) -> str:
    """Say how often a stop was wrong; where that was not measured, with the command that measures it.

    Rehearsals of this site come first, then its field, then the standard site of its kind. `by_name` says
    whether the command can name the policy.
    """
    rehearsal, why_not = find_rehearsal(plan.file, plan.text, plan.filter_name, policy)
    measured = rehearsal or find_false_stops(plan, policy)
    if measured is not None:
        return measured.sentence()
    standard = find_standard_stops(plan, policy)
    if standard is None:
        sentence = f"how often such a stop is wrong was not measured for {_unmeasured(plan, policy)}{why_not}"
    else:
        sentence = f"{standard.sentence()}; this site itself was not rehearsed{why_not}"
    if plan.file is None or not by_name:
        return sentence
    return f"{sentence}: `{rehearsal_command(plan.file, policy)}` does"
