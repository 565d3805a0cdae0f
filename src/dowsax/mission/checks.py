"""Whether a reading can be taken in at a site, and what the model has to know of it."""

from collections.abc import Sequence

from dowsax.geo.formatting import format_outside
from dowsax.geo.polygons import TOUCH
from dowsax.inference.survey import checked_survey
from dowsax.mission.plan import Plan
from dowsax.survey.missing_values import POSITIVE_KINDS, is_missing_number
from dowsax.survey.reading import Reading, Refused


def check_reading(plan: Plan, reading: Reading, before: Sequence[Reading]) -> Reading:
    """Return the reading as the model needs it, after those before it; or `Refused`."""
    _require_inside(plan, reading)
    if plan.kind in POSITIVE_KINDS and is_missing_number(reading.value):
        raise Refused(
            f"`value` is {reading.value:g}, what loggers write where they have nothing: leave it out."
        )
    if plan.least is not None and reading.value < plan.least:
        raise Refused(
            f"`value` is {reading.value:.4g} {plan.unit}, far below the background of the site: if the "
            "sensor dropped out, leave it out; if it is in another unit, give `unit`; or correct "
            "[background]."
        )
    try:
        checked_survey([reading.position], [reading.value], plan.model.sensor)
    except ValueError as error:
        # One reading at a time: which of them it is goes without saying.
        raise Refused(str(error).replace("Reading 0 (counted from 0)", "`value`")) from None
    return plan.stations.completed(reading, before)


def require_in_order(
    plan: Plan, reading: Reading, before: Sequence[Reading], after: Sequence[Reading] = ()
) -> None:
    """`Refused` for a reading out of time where the order matters: to a source that stays, it does not."""
    if reading.time is None or (plan.jump is None and not plan.stations.ordered):
        return
    why = "the sensor lags" if plan.stations.ordered else "the source may change"
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


def _require_inside(plan: Plan, reading: Reading) -> None:
    x, y = reading.position
    (west, south), (east, north) = plan.reach.area
    inside = west - TOUCH <= x <= east + TOUCH and south - TOUCH <= y <= north + TOUCH
    if not inside and not plan.takes_outside:
        far_off = format_outside(plan.frame, plan.reach.area, reading.position)
        raise Refused(
            f'The position {far_off}: check it, or set outside = "allow" in [area] of the site file.'
        )
