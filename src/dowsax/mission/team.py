"""Several searchers of one mission: the readings of each, which ones are silent, and where each is going.

Readings are joined to a way, and counted against a budget, for each searcher by itself. With one searcher
without a name all readings are its own.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

from dowsax.mission.advice import Advice
from dowsax.mission.decision import (
    BudgetUse,
    count_use,
    describe_end,
    describe_spent_budget,
    sort_by_time,
)
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading

SILENT_FACTOR = 3.0
"""Silent after 3 times the expected time of the next reading,"""
SILENT_MARGIN_S = 30.0
"""and 30 s more."""
SILENT_READINGS = 10
"""Without times: silent after 10 readings of each of the others."""


def readings_of(readings: Sequence[Reading], searcher: str | None) -> tuple[Reading, ...]:
    """Return the readings of one searcher."""
    return tuple(reading for reading in readings if reading.searcher == searcher)


def budget_use(plan: Plan, readings: Sequence[Reading], searcher: str | None) -> BudgetUse:
    """Return what a searcher has used of its budget."""
    return count_use(plan.for_searcher(searcher), readings_of(readings, searcher))


def whole_distance(plan: Plan, readings: Sequence[Reading]) -> float:
    """Return the length [m] of the ways of all searchers."""
    return sum(budget_use(plan, readings, name).distance for name in joined(readings))


def joined(readings: Sequence[Reading]) -> tuple[str | None, ...]:
    """Return the searchers that have readings, in the order of their first."""
    return tuple(dict.fromkeys(reading.searcher for reading in readings))


def silent_searchers(
    plan: Plan, readings: Sequence[Reading], assigned: Mapping[str | None, Advice]
) -> tuple[str, ...]:
    """Return the searchers that have fallen silent; one that reads again is none of them.

    One is silent when its newest reading is older than the newest of all by 30 s and three times what its
    next reading should take: its usual time between two readings, or that of the way it was sent, if longer.
    Where a reading has no time, one is silent after ten readings of each of the others.
    """
    names = [name for name in joined(readings) if name is not None]
    if len(names) < 2:
        return ()
    if any(reading.time is None for reading in readings):
        return tuple(name for name in names if _is_silent_by_number(readings, name, len(names) - 1))
    newest = max(reading.time or 0.0 for reading in readings)
    return tuple(
        name
        for name in names
        if newest - _last_time(readings, name)
        > SILENT_MARGIN_S + SILENT_FACTOR * _expected_seconds(plan, readings, name, assigned.get(name))
    )


def _is_silent_by_number(readings: Sequence[Reading], name: str, num_others: int) -> bool:
    last = max(number for number, reading in enumerate(readings) if reading.searcher == name)
    return len(readings) - 1 - last > SILENT_READINGS * num_others


def _last_time(readings: Sequence[Reading], name: str) -> float:
    return max(reading.time or 0.0 for reading in readings if reading.searcher == name)


def _expected_seconds(plan: Plan, readings: Sequence[Reading], name: str, advice: Advice | None) -> float:
    """Return how long [s] a searcher should take until its next reading."""
    times = [reading.time or 0.0 for reading in sort_by_time(readings_of(readings, name))]
    usual = median(end - start for start, end in pairwise(times)) if len(times) > 1 else 0.0
    reach = plan.for_searcher(name).reach
    way = 0.0 if advice is None or advice.distance is None else advice.distance
    return max(usual, way / reach.speed + reach.reading_time)


def places_of_others(
    plan: Plan, readings: Sequence[Reading], searcher: str | None, assigned: Mapping[str | None, Advice]
) -> list[tuple[float, float]]:
    """Return the places [m] to which the other searchers are on their way; those of silent ones are free.

    A searcher that is to stop on the way to a far place has two.
    """
    names = _sent_searchers(plan, readings, searcher, assigned)
    return [place for name in names for place in _places_of(assigned[name])]


def stops_of_others(
    plan: Plan, readings: Sequence[Reading], searcher: str | None, assigned: Mapping[str | None, Advice]
) -> list[tuple[float, float]]:
    """Return the next place [m] of each of `places_of_others`."""
    names = _sent_searchers(plan, readings, searcher, assigned)
    return [_places_of(assigned[name])[0] for name in names]


def room_for_others(plan: Plan) -> int:
    """Return how many places `places_of_others` may have."""
    return 2 * max(len(plan.searchers) - 1, 0)


def _places_of(advice: Advice) -> list[tuple[float, float]]:
    return [place for place in (advice.next_position, advice.next_aim) if place is not None]


def _sent_searchers(
    plan: Plan, readings: Sequence[Reading], searcher: str | None, assigned: Mapping[str | None, Advice]
) -> list[str]:
    """Return the other searchers that are on their way to a place, without silent ones."""
    silent = silent_searchers(plan, readings, assigned)
    return [
        name
        for name, advice in assigned.items()
        if name is not None and name not in (searcher, *silent) and advice.next_position is not None
    ]


def heights_of_others(
    plan: Plan, readings: Sequence[Reading], searcher: str | None, assigned: Mapping[str | None, Advice]
) -> list[float] | None:
    """Return the height [m] at each of `places_of_others`; `None` where all read at one height."""
    if not any(one.reach.levels for one in plan.searchers.values()):
        return None
    names = _sent_searchers(plan, readings, searcher, assigned)
    advised = [assigned[name].next_height for name in names]
    return [
        plan.for_searcher(name).stations.usual_height if height is None else height
        for name, height in zip(names, advised, strict=True)
        for _ in _places_of(assigned[name])
    ]


def others_at_work(
    plan: Plan, readings: Sequence[Reading], searcher: str | None, assigned: Mapping[str | None, Advice]
) -> tuple[str, ...]:
    """Return the other searchers that are not silent and can go on, or begin."""
    silent = silent_searchers(plan, readings, assigned)
    return tuple(
        name
        for name in plan.searchers
        if name not in (searcher, *silent)
        and (name not in assigned or assigned[name].next_position is not None)
        and describe_spent_budget(plan.for_searcher(name), budget_use(plan, readings, name)) is None
    )


def describe_team(plan: Plan, used: BudgetUse, silent: Sequence[str], at_work: Sequence[str]) -> str | None:
    """Name the silent searchers, and, where this searcher cannot go on, those that can."""
    sentences = []
    if silent:
        are = "is" if len(silent) == 1 else "are"
        sentences.append(f"{_and(silent)} {are} silent: the others plan without them.")
    if at_work:
        sentences.append(f"For you it is over: {describe_end(plan, used)}; {_and(at_work)} can go on.")
    return " ".join(sentences) or None


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
