"""What is odd about the newest reading and is taken in all the same: said once, when it begins."""

import numpy as np

from dowsax.geo.polygons import covers, holds
from dowsax.mission.plan import Plan
from dowsax.mission.state import Course


def doubts(plan: Plan, before: Course, after: Course) -> tuple[str, ...]:
    """Sentences on what the newest reading shows and those before it did not."""
    here, there = (_forbidden(plan, course) for course in (after, before))
    wind = after.turned.check
    told = (
        f"The reading was taken {here}: it counts, as somebody was there; check the position, and the site."
        if here is not None and here != there
        else None,
        wind.message if wind.is_reversed and not before.turned.check.is_reversed else None,
    )
    return tuple(sentence for sentence in told if sentence is not None)


def _forbidden(plan: Plan, course: Course) -> str | None:
    """Where the newest reading was taken, if one may not be there."""
    bounds = plan.reach.bounds
    if not course.readings:
        return None
    here = np.array([course.readings[-1].position])
    if any(holds(polygon, here)[0] for polygon in bounds.no_go):
        return "in a no-go area"
    if bounds.geofence and not any(covers(polygon, here)[0] for polygon in bounds.geofence):
        return "outside the geofence"
    return None
