"""Checks on a new reading: what is refused, what needs confirmation, and what is warned about."""

from collections.abc import Sequence

import numpy as np

from dowsax.geo.formatting import format_outside
from dowsax.geo.polygons import TOUCH, covers, holds
from dowsax.inference.arguments import check_survey
from dowsax.mission.plan import Plan
from dowsax.mission.state import MissionState
from dowsax.mission.stations import is_of_same_sensor
from dowsax.mission.team import readings_of
from dowsax.site.measured import quantity_fault
from dowsax.site.text import cut, meant_words
from dowsax.site.units import factor, known_unit
from dowsax.survey.lint import POSITIVE_KINDS, is_missing_number
from dowsax.survey.reading import Reading, Refused

CONFIRM = "confirm"
"""The key by which a sender confirms an implausible value."""
MAX_PPM = 1e6
"""A pure gas."""
MAX_DWELL_S = 86_400.0
"""A day: no survey counts for longer at one place."""
MAX_FACTOR = 1e6
"""Between two readings of one sensor: none has a wider range."""
MAX_LEVEL_DB = 200.0
"""Between two levels of one sensor."""
_ADVICE = 'check it, and send it again with "confirm": true if it is right.'


class NeedsConfirmation(Refused):
    """A reading that counts only when it is sent again and confirmed."""


def check_reading(
    plan: Plan, reading: Reading, before: Sequence[Reading], height: float | None = None
) -> Reading:
    """Return the reading as the model needs it, after the readings before it; or `Refused`.

    `height` [m] above ground is that of a reading which does not say it. Default: that of the site.
    """
    _require_searcher(plan, reading)
    plan = plan.for_searcher(reading.searcher)
    _require_inside(plan, reading)
    if plan.kind in POSITIVE_KINDS and plan.reading != "rank" and is_missing_number(reading.value):
        raise Refused(
            f"`value` is {reading.value:g}, what loggers write where they have nothing: leave it out."
        )
    if plan.min_reading is not None and reading.value < plan.min_reading:
        raise Refused(
            f"`value` is {reading.value:.4g} {plan.unit}, far below the background of the site: if the "
            "sensor dropped out, leave it out; if it is in another unit, give `unit`; or correct "
            "[background]."
        )
    try:
        check_survey([reading.position], [reading.value], plan.model.sensor)
    except ValueError as error:
        # There is only one reading: its index says nothing.
        raise Refused(str(error).replace("Reading 0 (counted from 0)", "`value`")) from None
    for name, number in reading.quantities.items():
        if (words := quantity_fault(name, number, plan.unit)) is not None:
            raise Refused(f"`{name}` {words}")
    return plan.stations.complete(reading, before, height)


def _require_searcher(plan: Plan, reading: Reading) -> None:
    """Refuse a reading without the name of its searcher where there are several, or with an unknown one."""
    if reading.searcher in plan.searchers or (reading.searcher is None and not plan.searchers):
        return
    if not plan.searchers:
        raise Refused("This site has one searcher: leave `searcher` out, or list several as [[searcher]].")
    names = ", ".join(plan.searchers)
    if reading.searcher is None:
        raise Refused(f"`searcher` is missing: say whose reading it is, {names}.")
    raise Refused(
        f"Unknown searcher {cut(repr(reading.searcher), 40)}: the site file names {names}."
        f"{meant_words(reading.searcher, plan.searchers)}"
    )


def _require_inside(plan: Plan, reading: Reading) -> None:
    (west, south), (east, north) = plan.reach.area
    for name, (x, y) in {
        "position": reading.position,
        "far end": reading.far_end or reading.position,
    }.items():
        is_inside = west - TOUCH <= x <= east + TOUCH and south - TOUCH <= y <= north + TOUCH
        if not is_inside and not plan.accepts_outside:
            far_off = format_outside(plan.coordinates, plan.reach.area, (x, y))
            raise Refused(
                f'The {name} {far_off}: check it, or set outside = "allow" in [area] of the site file.'
            )


def require_expected(
    plan: Plan,
    reading: Reading,
    before: Sequence[Reading],
    after: Sequence[Reading] = (),
    *,
    confirmed: bool,
) -> None:
    """Refuse a reading out of order, and an implausible one that is not `confirmed`."""
    require_in_order(plan, reading, before, after)
    if not confirmed:
        require_plausible_place(plan, reading)
        require_plausible(reading, before, plan.unit, plan.reading)


def require_in_order(
    plan: Plan, reading: Reading, before: Sequence[Reading], after: Sequence[Reading] = ()
) -> None:
    """Refuse a reading out of order where order matters; for a source that stays, it does not."""
    if reading.time is None or (plan.jump is None and not plan.stations.depends_on_order):
        return
    why = "the sensor lags" if plan.stations.depends_on_order else "the source may change"
    if plan.jump is None:
        # A sensor lags behind its own readings only.
        before, after = (readings_of(items, reading.searcher) for items in (before, after))
    late = max((item.time - reading.time for item in before if item.time is not None), default=0.0)
    if late > 0:
        raise Refused(
            f"The reading is {late:g} s older than the newest one, and the order matters, as {why}: "
            "send readings in the order of their times."
        )
    early = max((reading.time - item.time for item in after if item.time is not None), default=0.0)
    if early > 0:
        raise Refused(
            f"The reading would be {early:g} s newer than the one after it, and the order matters, as {why}: "
            "withdraw it, and send it as a new one."
        )


def require_plausible(
    reading: Reading, before: Sequence[Reading], unit: str, reading_type: str = "value"
) -> None:
    """Raise `NeedsConfirmation` for a value that is possible but most probably a mistake.

    Of a rank any value is: only the order counts.
    """
    question = _check_dwell(reading.dwell)
    if reading_type != "rank":
        question = question or _check_value(reading.value, unit) or _check_jump(reading, before, unit)
    if question is not None:
        raise NeedsConfirmation(f"{question}: {_ADVICE}")


def require_plausible_place(plan: Plan, reading: Reading) -> None:
    """Raise `NeedsConfirmation` for a reading in an opaque obstacle: it would exclude every source."""
    if reading.far_end is not None:
        return
    usual = plan.for_searcher(reading.searcher).stations.sensor.height
    height = usual if reading.altitude is None else reading.altitude
    for number, obstacle in enumerate(plan.obstacles):
        if obstacle.blinds(np.array([reading.position]), [height])[0]:
            place = plan.coordinates.format_both(reading.position)
            raise NeedsConfirmation(
                f"The position {place} is in the opaque obstacle {obstacle.title(number)}: {_ADVICE}"
            )


def _check_value(value: float, unit: str) -> str | None:
    to_ppm = factor(known_unit(unit) or unit, "ppm")
    if to_ppm is None or value * to_ppm <= MAX_PPM:
        return None
    return f"`value` is {value:g} {unit}, more than the {MAX_PPM / to_ppm:g} {unit} of a pure gas"


def _check_dwell(dwell: float | None) -> str | None:
    if dwell is None or dwell <= MAX_DWELL_S:
        return None
    return f"`dwell` is {dwell:g} s, more than a day"


def _check_jump(reading: Reading, before: Sequence[Reading], unit: str) -> str | None:
    """Compare with the largest reading so far of the same sensor: a gradual rise is never questioned."""
    own = [item.value for item in before if is_of_same_sensor(item, reading)]
    if (known_unit(unit) or unit).startswith("dB"):
        if not own or min(own) - MAX_LEVEL_DB <= reading.value <= max(own) + MAX_LEVEL_DB:
            return None
        return f"`value` is {reading.value:g} {unit}, {MAX_LEVEL_DB:g} {unit} and more from all before"
    largest = max(map(abs, own), default=0.0)
    if largest == 0 or abs(reading.value) <= MAX_FACTOR * largest:
        return None
    times = abs(reading.value) / largest
    return f"`value` is {f'{reading.value:g} {unit}'.strip()}, {times:.1g} times the largest reading so far"


def find_warnings(plan: Plan, before: MissionState, after: MissionState) -> tuple[str, ...]:
    """Return warnings about the newest reading; each is given once, when its cause begins."""
    searcher = after.readings[-1].searcher
    own_plan = plan.for_searcher(searcher)
    here, previous = (
        _forbidden_place(own_plan, readings_of(state.readings, searcher)) for state in (after, before)
    )
    wind = after.reversed_wind.check
    warnings = (
        f"The reading was taken {here}. It is used all the same: check its position, and the site file."
        if here is not None and here != previous
        else None,
        _beyond_range_limit(plan, before.readings, after.readings[-1]),
        wind.message if wind.is_reversed and not before.reversed_wind.check.is_reversed else None,
    )
    return tuple(sentence for sentence in warnings if sentence is not None)


def _beyond_range_limit(plan: Plan, before: Sequence[Reading], newest: Reading) -> str | None:
    """Say that a range is longer than the limit of the sensor, where none was before."""
    limit = plan.stations.sensor.range_limit
    if plan.stations.sensor.range_directions is None or _longest_range(newest) <= limit:
        return None
    if any(_longest_range(reading) > limit for reading in before):
        return None
    return (
        f"A range of {_longest_range(newest):g} m is longer than the `range_limit` of the site, {limit:g} m, "
        "and counts as nothing seen: give metres, and null where nothing is seen."
    )


def _longest_range(reading: Reading) -> float:
    return max((length for length in reading.ranges or () if length is not None), default=0.0)


def _forbidden_place(plan: Plan, readings: Sequence[Reading]) -> str | None:
    """Describe where the newest of these readings was taken, if one may not be there."""
    bounds = plan.reach.at(readings[-1].altitude if readings else None).bounds
    # Light may cross what nobody may enter.
    if not readings or readings[-1].far_end is not None:
        return None
    here = np.array([readings[-1].position])
    if any(holds(polygon, here)[0] for polygon in bounds.no_go):
        return "in a no-go area"
    if any(holds(polygon, here)[0] for polygon in bounds.obstacles):
        return "in an obstacle"
    if bounds.geofence and not any(covers(polygon, here)[0] for polygon in bounds.geofence):
        return "outside the geofence"
    return None
