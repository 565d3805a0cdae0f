"""Searching, found or cannot tell: the status after a reading, and why, in a plain sentence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from dowsax.geo.formatting import format_chance, format_estimate, format_factor, format_length, format_odds
from dowsax.inference.posterior import LEAST_FIT
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING
from dowsax.mission.plan import Plan
from dowsax.survey.lint import lint_heights
from dowsax.survey.reading import Reading

ODDS = 20.0
"""Readings that are so many times likelier without a source speak against there being one.

Where there is one, they ever do in at most one mission of so many (Ville's inequality).
"""
LEAST_EVIDENCE = 1.0
"""The log evidence below which the readings do not show that there is a source."""
_STUCK = 10
"""Equal readings in a row, other than none at all, that make one ask whether the sensor is stuck."""
LEAST_LEFT = 0.01
"""[m], what is left of a budget that counts as nothing: positions are told, and gone to, in millimetres."""


@dataclass(frozen=True)
class Spent:
    """What the mission has used up."""

    readings: int
    distance: float
    """[m], along the readings in the order of their times."""
    time: float | None
    """[s], from the first to the newest; `None` where no times are given."""

    @classmethod
    def on(cls, start: tuple[float, float] | None, readings: Sequence[Reading]) -> "Spent":
        """From the start, or from the first reading where none is known, through the readings."""
        places = [reading.position for reading in in_time(readings)]
        legs = pairwise(places if start is None else [start, *places])
        distance = sum((math.dist(*leg) for leg in legs), 0.0)
        times = [reading.time for reading in readings if reading.time is not None]
        return cls(len(readings), distance, max(times) - min(times) if times else None)


def in_time(readings: Sequence[Reading]) -> list[Reading]:
    """The readings in the order of `time_order`."""
    return [readings[index] for index in time_order(readings)]


def time_order(readings: Sequence[Reading]) -> list[int]:
    """Indices by time, those of the same time as they came; as they came where any has no time."""
    if any(reading.time is None for reading in readings):
        return list(range(len(readings)))
    return sorted(range(len(readings)), key=lambda index: readings[index].time or 0.0)


UNCHECKED = "Whether the readings fit the model was not checked: no check works for a source that may move."
"""Said of whatever is found where the source may move."""


class Gist(NamedTuple):
    """What the belief says, in the numbers the verdict depends on."""

    mean: tuple[float, float]
    """[m]"""
    radius: float
    """[m], at 95 %."""
    mass: float
    """The probability that the source is as near to the mean as is wanted."""
    fit: float
    evidence: float | None
    flipped: bool = False
    """Whether the wind looks reversed."""


def exhausted(plan: Plan, spent: Spent) -> str | None:
    """Which budget is spent, in words; `None` when none is."""
    budget = plan.budget
    if budget.readings is not None and spent.readings >= budget.readings:
        return f"the {budget.readings} readings of the budget are taken"
    if budget.distance is not None and spent.distance >= budget.distance - LEAST_LEFT:
        return f"the {budget.distance:g} m of the budget are gone"
    if budget.time is not None and spent.time is not None and spent.time >= budget.time:
        return f"the {budget.time:g} s of the budget are over"
    return None


def status_of(plan: Plan, spent: Spent, gist: Gist) -> str:
    """The status before anybody has looked for a next place."""
    sound = gist.fit >= LEAST_FIT and not gist.flipped and not _no_source(gist)
    if gist.mass >= plan.probability and sound:
        return FOUND
    if exhausted(plan, spent) is not None or _no_source(gist):
        return INCONCLUSIVE
    return SEARCHING


def _no_source(gist: Gist) -> bool:
    return gist.evidence is not None and gist.evidence <= -math.log(ODDS)


def reasons(plan: Plan, spent: Spent, gist: Gist, status: str, false_stops: str | None) -> str:
    """The sentence for a status; what is said of the next place comes after it."""
    place = format_estimate(plan.frame, gist.mean)
    where = f"with 95 % probability the source is within {format_length(gist.radius)} of {place}"
    if status == FOUND:
        rate = false_stops or "how often such a stop is wrong was not measured for this field and rule"
        return (
            f"Found: the odds are {format_odds(gist.mass)} that the source is within "
            f"{format_length(plan.radius)} of {place}; {rate}."
        ) + ("" if plan.jump is None else f" {UNCHECKED}")
    if _no_source(gist):
        factor = format_factor(-(gist.evidence or 0.0))
        return f"No evidence of a source: the readings are {factor} likelier without one."
    if gist.fit < LEAST_FIT:
        return (
            "No source fits these readings well: check the unit, the positions, the field and the prior. "
            f"By chance a right model would fit so badly {format_chance(gist.fit)}."
        )
    if status == INCONCLUSIVE:
        ended = exhausted(plan, spent) or "no allowed place can be reached with what is left of the budget"
        if gist.evidence is not None and gist.evidence < LEAST_EVIDENCE:
            return f"Cannot tell: {ended}, and the readings do not show that there is a source."
        return f"Cannot tell: {ended}, and {where}, where {format_length(plan.radius)} is wanted."
    if gist.flipped:
        return f"Nothing is found until that is settled: by the wind as given, {where}."
    return f"Not sure yet: {where}, where {format_length(plan.radius)} is wanted."


def stuck(readings: Sequence[Reading]) -> str | None:
    """A question, when the sensor of the newest reading has read the same for long."""
    newest = readings[-1]
    last = [reading.value for reading in readings if reading.sensor == newest.sensor][-_STUCK:]
    if len(last) < _STUCK or newest.value == 0 or any(value != newest.value for value in last):
        return None
    return f"The sensor has read {newest.value:g} {_STUCK} times in a row: is it stuck?"


def heights(plan: Plan, readings: Sequence[Reading]) -> str | None:
    """A question, where heights matter and those of the readings may not be meant."""
    found = [reading.altitude for reading in readings if reading.altitude is not None]
    return lint_heights(min(found), max(found)) if found and "altitude" in plan.stations.names else None
