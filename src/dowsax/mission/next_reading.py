"""Where to read next, as an advice says it: its fields, and a sentence."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dowsax.geo.formatting import format_length
from dowsax.geo.local import LocalCoordinates
from dowsax.mission.advice import Leg, bearing_and_distance, compass_direction, reason, relative_to_wind
from dowsax.mission.plan import Plan
from dowsax.mission.site_policy import Choice
from dowsax.types import Station

_SAME_PLACE_M = 1e-3


def first_choice(plan: Plan) -> tuple[Choice, str]:
    """Return where a mission begins, and a sentence on it."""
    if plan.reach.paths:
        path = plan.reach.paths[0]
        return Choice(path.ends[0], path=path), f"begin with the path {path.name}."
    there = plan.start or plan.middle
    height = plan.stations.sensor.height if plan.reach.levels else None
    return Choice(there, height=height), f"begin at {describe_start(plan)}."


def describe_start(plan: Plan) -> str:
    """Return where a mission begins, as text."""
    place, height = plan.coordinates.format_both(plan.start or plan.middle), plan.stations.sensor.height
    return f"{place}, {describe_height(height)}" if plan.reach.levels and height is not None else place


def describe_height(height: float) -> str:
    """Return a height [m] as text."""
    return f"{height:g} m above ground"


def advice_fields(choice: Choice | None, here: tuple[float, float] | None) -> dict[str, Any]:
    """Return the fields of an advice that say where to read next; `here` is where the sensor is, if anywhere.

    Nobody goes to a path, so there is neither a bearing nor a distance to it.
    """
    fields: dict[str, Any] = dict.fromkeys(("next_position", "bearing", "distance"))
    if choice is None:
        return fields
    fields["next_position"] = choice.position
    if choice.aim is not None:
        fields["next_aim"] = choice.aim
    if choice.height is not None:
        fields["next_height"] = choice.height
    if choice.path is not None:
        return fields | {"next_far_end": choice.path.ends[1], "next_path": choice.path.name}
    if here is not None:
        bearing, fields["distance"] = bearing_and_length(choice, here)
        fields["bearing"] = None if _is_climb(choice, here) else bearing
        fields["next_way"] = choice.bends
    return fields


def legs_of(choices: Sequence[Choice], here: tuple[float, float] | None) -> tuple[Leg, ...]:
    """Return the ways to places that are read one after the other, from where the sensor is, if anywhere."""
    starts = [here, *(choice.position for choice in choices)]
    return tuple(
        Leg(
            choice.position,
            None if start is None else bearing_and_length(choice, start)[1],
            choice.bends,
            choice.height,
        )
        for start, choice in zip(starts, choices, strict=False)
    )


def bearing_and_length(choice: Choice, here: tuple[float, float]) -> tuple[float, float]:
    """Return the bearing at which the way to a place begins [degrees], and its length [m]."""
    legs = [bearing_and_distance(*leg) for leg in pairwise((here, *choice.bends, choice.position))]
    return legs[0][0], sum(distance for _, distance in legs)


def _is_climb(choice: Choice, here: tuple[float, float]) -> bool:
    """Return whether one only goes straight up or down."""
    return choice.height is not None and math.dist(choice.position, here) < _SAME_PLACE_M


def describe_choice(
    choice: Choice, here: tuple[float, float], station: Station, coordinates: LocalCoordinates
) -> str:
    """Return a sentence on where to read next, and why there."""
    if choice.path is not None:
        ends = " to ".join(map(coordinates.format_both, choice.path.ends))
        return f"Next: the path {choice.path.name}, from {ends}{reason(choice.gain)}."
    bearing, distance = bearing_and_length(choice, here)
    height = "" if choice.height is None else f", {describe_height(choice.height)}"
    if _is_climb(choice, here):
        return f"Next: the same place{height}{reason(choice.gain)}."
    place = f", to {coordinates.format_both(choice.position)}" if coordinates.is_geographic else ""
    if choice.aim is not None:
        height = f", and read on the way to {coordinates.format_both(choice.aim)}"
    if choice.bends:
        corners = " and ".join(map(coordinates.format_both, choice.bends))
        there = coordinates.format_both(choice.position)
        begin = compass_direction(bearing)
        way = f"{format_length(distance)} around what is in the way, first to the {begin}, by {corners}"
        return f"Next: {way}, to {there}{height}{reason(choice.gain)}."
    wind = None if station.wind is None else (float(station.wind[0]), float(station.wind[1]))
    where = f"{format_length(distance)} to the {compass_direction(bearing)}"
    return f"Next: {where}{relative_to_wind(bearing, wind)}{place}{height}{reason(choice.gain)}."
