"""The status after a reading (searching, found or inconclusive), and the reason in plain sentences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import jax
import numpy as np

from dowsax.geo.formatting import format_chance, format_estimate, format_factor, format_length, format_odds
from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds
from dowsax.inference.posterior import MIN_FIT
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING
from dowsax.mission.plan import Plan
from dowsax.mission.stations import to_float32
from dowsax.survey.lint import lint_heights
from dowsax.survey.reading import Reading
from dowsax.world import Budget as Left

MIN_ODDS = 100.0
"""A source is found only where the readings are this many times likelier with one than without.

Where they are this many times likelier without one, the search ends. Each happens wrongly in at most 1 of
this many missions, if background and noise are as the prior says (Ville's inequality).
"""
MIN_LOG_ODDS = 1.0
"""[nats], below which a survey does not show that there is a source."""
MIN_BUDGET_LEFT_M = 0.01
"""[m], less counts as nothing: positions are given, and reached, in millimetres."""
_STUCK_READINGS = 10
"""Equal readings in a row, other than zero, after which the sensor may be stuck."""


@dataclass(frozen=True)
class BudgetUse:
    """What the mission has used of its budget."""

    readings: int
    """Those on the way are not counted."""
    distance: float
    """[m], along the readings in the order of their times."""
    time: float | None
    """[s], from the first to the newest; `None` without times."""

    @classmethod
    def of(
        cls, start: tuple[float, float] | None, readings: Sequence[Reading], bounds: Bounds | None = None
    ) -> "BudgetUse":
        """Count from the start, or from the first reading where no start is known.

        Ways are the shortest within the bounds. The instrument of a path stands there: nobody goes to a
        reading along it.
        """
        places = [reading.position for reading in sort_by_time(readings) if reading.far_end is None]
        places = places if start is None else [start, *places]
        if bounds is None or not bounds.has_borders:
            distance = sum((math.dist(*leg) for leg in pairwise(places)), 0.0)
        else:
            distance = float(bounds.space.leg_lengths(np.array(places)).sum())
        times = [reading.time for reading in readings if reading.time is not None]
        number = sum(not reading.moving for reading in readings)
        return cls(number, distance, max(times) - min(times) if times else None)


def count_use(plan: Plan, readings: Sequence[Reading]) -> BudgetUse:
    """Return what one searcher has used of its budget; at several heights its climbs are way as well."""
    used = BudgetUse.of(plan.start, readings, plan.reach.bounds)
    if not plan.reach.levels:
        return used
    steps = [(one.position, one.altitude or 0.0) for one in sort_by_time(readings)]
    if plan.start is not None:
        steps = [(plan.start, plan.stations.sensor.height or 0.0), *steps]
    places, heights = zip(*steps, strict=True) if steps else ((), ())
    return replace(used, distance=plan.reach.flown_length(np.reshape(places, (-1, 2)), heights))


def sort_by_time(readings: Sequence[Reading]) -> list[Reading]:
    """Return the readings in the order of `time_order`."""
    return [readings[index] for index in time_order(readings)]


def time_order(readings: Sequence[Reading]) -> list[int]:
    """Return indices by time (stable); in the order of arrival where any reading has no time."""
    if any(reading.time is None for reading in readings):
        return list(range(len(readings)))
    return sorted(range(len(readings)), key=lambda index: readings[index].time or 0.0)


class StatusInputs(NamedTuple):
    """The numbers of the belief on which the status depends."""

    places: tuple[tuple[float, float], ...]
    """[m], the mean position of each source."""
    radius: float
    """[m], at 95 %."""
    mass: float
    """The probability that each source is within the site's radius of its mean, and their number is right."""
    fit: float
    evidence: float | None
    """[nats], log odds for a source."""
    is_wind_reversed: bool = False
    """Whether the wind looks reversed."""
    number_probability: float | None = None
    """Of the number of `places`; `None` where the number of sources is known."""
    excess_noise: str = ""
    """A sentence on it, where the readings scatter far more than is usual."""
    limit: str = ""
    """A sentence on the strength of a source, for where the readings show none."""


def describe_spent_budget(plan: Plan, used: BudgetUse) -> str | None:
    """Say which budget is spent; `None` when none is."""
    budget = plan.budget
    if budget.readings is not None and used.readings >= budget.readings:
        return f"the {budget.readings} readings of the budget are taken"
    if budget.distance is not None and used.distance >= budget.distance - MIN_BUDGET_LEFT_M:
        return f"the {budget.distance:g} m of the budget are gone"
    if budget.time is not None and used.time is not None and used.time >= budget.time:
        return f"the {budget.time:g} s of the budget are over"
    return None


def describe_end(plan: Plan, used: BudgetUse) -> str:
    """Say why a searcher cannot go on."""
    back = ", and left for the way back to the start" if plan.budget.return_ else ""
    ended = describe_spent_budget(plan, used)
    return ended or f"no allowed place can be reached{back}, with what is left of the budget"


def budget_left(plan: Plan, used: BudgetUse | None = None) -> Left:
    """Return what is left of the budget; infinite where there is no limit, or no times to count."""
    budget = plan.budget
    used = BudgetUse(0, 0.0, None) if used is None else used

    def left(whole: float | int | None, spent: float | int | None, least: float = 0.0) -> jax.Array:
        rest = math.inf if whole is None or spent is None else max(whole - spent, 0.0) + least
        return to_float32(rest)

    return Left(
        left(budget.readings, used.readings),
        left(budget.distance, used.distance, MIN_BUDGET_LEFT_M),
        left(budget.time, used.time),
    )


def status_of(plan: Plan, used: BudgetUse, inputs: StatusInputs) -> str:
    """Return the status, before the next place is chosen."""
    is_doubtful = inputs.fit < MIN_FIT or inputs.is_wind_reversed or bool(inputs.excess_noise)
    is_sound = not is_doubtful and _shows_source(inputs)
    if inputs.mass >= plan.probability and is_sound:
        return FOUND
    if describe_spent_budget(plan, used) is not None or excludes_source(inputs):
        return INCONCLUSIVE
    return SEARCHING


def _shows_source(inputs: StatusInputs) -> bool:
    return inputs.evidence is None or inputs.evidence >= math.log(MIN_ODDS)


def excludes_source(inputs: StatusInputs) -> bool:
    """Whether the readings show that there is no source."""
    return inputs.evidence is not None and inputs.evidence <= -math.log(MIN_ODDS)


def explain_status(
    plan: Plan, used: BudgetUse, inputs: StatusInputs, status: str, false_stops: str | None
) -> str:
    """Explain a status in a sentence; the sentence on the next place follows it."""
    place = _places(plan.coordinates, inputs.places)
    number = len(inputs.places)
    who = "the source is" if number == 1 else f"the {number} sources are"
    where = describe_disc(plan.coordinates, inputs.places, inputs.radius)
    if inputs.number_probability is not None:
        counted = "is one source" if number == 1 else f"are {number} sources"
        where += f", if there {counted} (probability {100 * inputs.number_probability:.0f} %)"
    if status == FOUND:
        rate = false_stops or "how often such a stop is wrong was not measured for this field and rule"
        return (
            f"Found: the odds are {format_odds(inputs.mass)} that {who} within "
            f"{format_length(plan.radius)} of {place}; {rate}."
        )
    if excludes_source(inputs):
        factor = format_factor(-(inputs.evidence or 0.0))
        return _join(
            f"No evidence of a source: the readings are {factor} likelier without one.", inputs.limit
        )
    if inputs.fit < MIN_FIT:
        return (
            "No source fits these readings well: check the unit, the positions, the field and the prior. "
            f"By chance a right model would fit so badly {format_chance(inputs.fit)}."
        )
    if status == INCONCLUSIVE:
        ended = describe_end(plan, used)
        if inputs.evidence is not None and inputs.evidence < MIN_LOG_ODDS:
            text = f"Inconclusive: {ended}, and the readings do not show that there is a source."
            return _join(text, inputs.limit)
        if inputs.mass >= plan.probability and not _shows_source(inputs):
            factor = format_factor(inputs.evidence or 0.0)
            return (
                f"Inconclusive: {ended}, and {where}, if there is one: the readings are only {factor} "
                "likelier with a source than without."
            )
        if inputs.mass >= plan.probability:
            return f"Inconclusive: {ended}; as it stands, {where}."
        return f"Inconclusive: {ended}, and {where}, where {format_length(plan.radius)} is wanted."
    if inputs.is_wind_reversed:
        return f"Nothing is found until that is settled: by the wind as given, {where}."
    if inputs.excess_noise:
        return f"Nothing is found with so much noise: as it stands, {where}."
    if inputs.mass >= plan.probability:
        return f"Not sure yet: {where}, if there is one; the readings do not show yet that there is."
    return f"Not sure yet: {where}, where {format_length(plan.radius)} is wanted."


def _join(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def describe_disc(coordinates: LocalCoordinates, places: Sequence[tuple[float, float]], radius: float) -> str:
    """Say within which radius [m] of these mean positions [m] the sources are, as `explain_status` does."""
    who = "the source is" if len(places) == 1 else f"the {len(places)} sources are"
    return f"with 95 % probability {who} within {format_length(radius)} of {_places(coordinates, places)}"


def _places(coordinates: LocalCoordinates, places: Sequence[tuple[float, float]]) -> str:
    return " and ".join(format_estimate(coordinates, each) for each in places)


def describe_redundancy(redundancy: float) -> str | None:
    """Say that readings err together, and so count for less; `None` where each counts as one."""
    if redundancy <= 1:
        return None
    return f"Neighbouring readings err together: about {redundancy:.2g} of them count as one."


def check_stuck_sensor(plan: Plan, readings: Sequence[Reading]) -> str | None:
    """Ask whether the sensor of the newest reading is stuck, where it has read the same for long.

    Hits in a row are what a plume gives.
    """
    if plan.reading == "binary":
        return None
    newest = readings[-1]
    own = [one for one in readings if (one.sensor, one.searcher) == (newest.sensor, newest.searcher)]
    last = [reading.value for reading in own][-_STUCK_READINGS:]
    if len(last) < _STUCK_READINGS or newest.value == 0 or any(value != newest.value for value in last):
        return None
    return f"The sensor has read {newest.value:g} {_STUCK_READINGS} times in a row: is it stuck?"


def check_heights(plan: Plan, readings: Sequence[Reading]) -> str | None:
    """Ask about heights that may be above the sea, where the field depends on heights."""
    found = [reading.altitude for reading in readings if reading.altitude is not None]
    return lint_heights(min(found), max(found)) if found and "altitude" in plan.stations.names else None
