"""The reading that replaces an earlier one: merged with it, checked like a new one, or as it once was."""

from dataclasses import replace
from typing import Any

from dowsax.mission.checks import check_reading, require_expected
from dowsax.mission.history import ActiveReading, History
from dowsax.mission.messages import Target, merge_keys
from dowsax.mission.plan import Plan
from dowsax.survey.reading import Reading


def merged_reading(plan: Plan, history: History, target: Target, keys: dict[str, Any]) -> Reading:
    """Return the target with the corrected keys replaced; or `Refused`."""
    return plan.parse_reading(merge_keys(plan, history.original(history.find(target)), keys))


def replacement(
    plan: Plan, history: History, number: int, reading: Reading, confirmed: bool
) -> ActiveReading:
    """Check what replaces the reading of this number, or `Refused`."""
    before, after = history.around(number)
    checked = check_reading(plan, replace(reading, id=history.original(number).id), before)
    require_expected(plan, checked, before, after, confirmed=confirmed)
    held_wind = reading.wind is None and checked.wind is not None
    return ActiveReading(checked, history.count + 1, held_wind)


def restored(plan: Plan, history: History, number: int, as_of: int | None) -> ActiveReading:
    """Return the reading of this number as it was after a step, or `Refused`.

    It was confirmed when it was added, so that it is not asked about again.
    """
    version = history.version(number, as_of)
    # Above ground already; the check subtracts the ground again.
    height = None if version.altitude is None else version.altitude + plan.stations.sensor.ground
    return replacement(plan, history, number, replace(version, altitude=height), confirmed=True)
