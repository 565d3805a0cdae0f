"""Findings as a QGroundControl plan: the next waypoints or the source, geofence and no-go areas.

https://docs.qgroundcontrol.com/master/en/qgc-dev-guide/file_formats/plan.html
"""

import json
from collections.abc import Sequence
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np

from dowsax.geo.polygons import Bounds, Polygon, signed_area
from dowsax.mission.advice import FOUND
from dowsax.report.findings import Findings
from dowsax.survey.lint import MAX_FLIGHT_HEIGHT_M

_WAYPOINT, _TAKE_OFF = 16, 22
"""MAV_CMD_NAV_WAYPOINT, MAV_CMD_NAV_TAKEOFF"""
_RELATIVE_FRAME = 3
"""MAV_FRAME_GLOBAL_RELATIVE_ALT: altitudes are above the place of take-off."""
_GENERIC_AUTOPILOT, _QUADROTOR = 0, 2
"""MAV_AUTOPILOT_GENERIC, MAV_TYPE_QUADROTOR"""
_ABOVE_TAKE_OFF = 1
"""The altitude mode of a plan whose altitudes are above the place of take-off."""
_DEFAULT_ALTITUDE_M = 20.0
"""Above most trees and below most limits."""
_MIN_AIR_ALTITUDE_M = 5.0
"""Readings below it were taken by hand."""
_DECIMALS = 9
_PASS = 0.0, 0.0, 0.0, None
"""Of a waypoint at which nothing is done."""


def qgc_plan(
    findings: Findings,
    *,
    altitude: float | None = None,
    hold: float | None = None,
    speed: float | None = None,
) -> str:
    """Return a .plan that takes off and flies to the next waypoints, or to the source of a finished mission.

    It takes off where the last reading was taken, straight up to its altitude. Check a plan before flying it.

    Parameters
    ----------
    findings
        The findings of a mission.
    altitude
        Above the place of take-off [m]. Default: where the mission says how high to read next, that height,
        and on the way there the height of the last reading, if that is higher; else that of the site, the
        mean height of the readings, or 20 where these were taken by hand, below 5 m.
    hold
        Time at each place [s]. Default: that of the site, else the dwell of the newest reading.
    speed
        [m/s]. Default: that of the site.
    """
    if not findings.coordinates.is_geographic:
        raise ValueError(
            "A QGroundControl plan needs latitude and longitude: `origin` in [area] of the site file, before "
            "the mission begins."
        )
    flight = findings.flight
    heights = _heights(findings) if altitude is None else [(float(altitude), float(altitude))]
    # The plan flies over what is lower.
    standing = tuple(one.corners for one in findings.obstacles if one.stops(max(heights)[0]))
    bounds = Bounds(findings.geofence, findings.no_go, standing)
    legs = _legs(findings, bounds)
    hold = _hold(findings) if hold is None else float(hold)
    speed = flight.speed if speed is None else float(speed)
    home = findings.positions[-1] if len(findings.positions) else legs[0][-1]
    latitude, longitude = _degrees(findings, home[None])[0]
    commands = _commands(findings, home, legs, heights, hold)
    plan = {
        "fileType": "Plan",
        "groundStation": "QGroundControl",
        "version": 1,
        "mission": {
            "version": 2,
            "firmwareType": _GENERIC_AUTOPILOT,
            "vehicleType": _QUADROTOR,
            "globalPlanAltitudeMode": _ABOVE_TAKE_OFF,
            "cruiseSpeed": speed,
            "hoverSpeed": speed,
            "plannedHomePosition": [latitude, longitude, 0.0],
            "items": [_item(number, *command) for number, command in enumerate(commands, start=1)],
        },
        "geoFence": {"version": 2, "circles": [], "polygons": _fences(findings, bounds)},
        "rallyPoints": {"version": 2, "points": []},
    }
    return json.dumps(plan, indent=1, allow_nan=False) + "\n"


def take_off_warning(findings: Findings) -> str | None:
    """Return a warning where the plan would take off inside an obstacle: at the place of the last reading."""
    if len(findings.positions) == 0:
        return None
    x, y = findings.positions[-1].tolist()
    inside = ((number, one) for number, one in enumerate(findings.obstacles) if one.covers((x, y)))
    number, obstacle = next(inside, (0, None))
    if obstacle is None:
        return None
    return (
        f"The plan takes off where the last reading was taken, in the obstacle {obstacle.title(number)}: "
        "correct the reading, or move the take-off before you fly."
    )


def _commands(
    findings: Findings,
    home: np.ndarray,
    legs: Sequence[np.ndarray],
    heights: Sequence[tuple[float, float]],
    hold: float,
) -> list[tuple[int, list[float | None]]]:
    """Return the take-off at home (2,) [m], and the legs: of each its commands with params 1 to 7.

    `heights` [m] are those of `_heights`; the last holds for all further legs.
    """
    here, level = _degrees(findings, home[None])[0], heights[0][0]
    # Of a take-off: a pitch for wings alone, two of no use, and a heading that is left to the vehicle.
    commands: list[tuple[int, list[float | None]]] = [(_TAKE_OFF, [*_PASS, *here, level])]
    for leg, (flown, reading) in zip_longest(legs, heights[: len(legs)], fillvalue=heights[-1]):
        *bends, place = _degrees(findings, np.asarray(leg))
        # Straight up, level to there, and straight down: what is in the way may be nearly as high.
        passed = [*([here] if flown > level else []), *bends, *([place] if reading < flown else [])]
        commands += [(_WAYPOINT, [*_PASS, *corner, flown]) for corner in passed]
        # Hold time, two radii of no use here, and the heading.
        commands.append((_WAYPOINT, [hold, 0.0, 0.0, None, *place, reading]))
        here, level = place, reading
    return commands


def _item(number: int, command: int, params: list[float | None]) -> dict[str, Any]:
    """A `SimpleItem` with params 1 to 4, latitude, longitude and altitude."""
    return {
        "type": "SimpleItem",
        "AMSLAltAboveTerrain": None,
        "Altitude": params[-1],
        "AltitudeMode": _ABOVE_TAKE_OFF,
        "autoContinue": True,
        "command": command,
        "doJumpId": number,
        "frame": _RELATIVE_FRAME,
        "params": params,
    }


def _fences(findings: Findings, bounds: Bounds) -> list[dict[str, Any]]:
    """Polygons, rightward round as the format asks, not closed: to stay in, and to stay out of."""
    named = [(True, polygon) for polygon in bounds.geofence]
    named += [(False, polygon) for polygon in bounds.blocked]
    return [
        {"version": 1, "inclusion": inclusion, "polygon": _degrees(findings, _rightward(polygon))}
        for inclusion, polygon in named
    ]


def _legs(findings: Findings, bounds: Bounds) -> list[np.ndarray]:
    """Return each leg to fly (k, 2) [m]: its corners, and the place at which to stay.

    A ValueError says why there is none.
    """
    if len(findings.waypoints):
        later = [np.reshape(leg.way, (-1, 2)) for leg in findings.later]
        ways = zip_longest([findings.next_way, *later], findings.waypoints, fillvalue=np.zeros((0, 2)))
        return [np.concatenate([way, place[None]]) for way, place in ways]
    if findings.next_path is not None:
        raise ValueError(
            "The next reading is along a path of an instrument that stands there, to which nothing flies: "
            "export as kml or geojson to see it."
        )
    if findings.outcome != FOUND:
        why = f" ({' '.join(findings.notes)})" if findings.outcome else ""
        raise ValueError(
            f"There is no next waypoint to fly to, and a QGroundControl plan needs at least one{why}; export "
            "as kml or geojson to see what is known."
        )
    last, legs = findings.positions[-1], []
    for source in findings.sources:
        # The source itself may lie in a no-go area.
        place = bounds.nearest(source.position)
        way = bounds.way(last, place)
        if way is None and bounds.allow(last[None]).all():
            start = "last reading" if not legs else "source before it"
            raise ValueError(
                f"There is no way within the geofence from the {start} to the source, found at "
                f"{findings.coordinates.format_position(source.position)}: plan the way there by hand."
            )
        bends = np.zeros((0, 2)) if way is None else way[1:-1]
        legs.append(np.concatenate([bends, place[None]]))
        last = place
    return legs


def _heights(findings: Findings) -> list[tuple[float, float]]:
    """Return for each waypoint how high to fly there, and to read [m] above the place of take-off.

    One pair for all where all readings are at one height.
    """
    if findings.next_height is None:
        height = _altitude(findings)
        return [(height, height)]
    (track,) = findings.tracks
    there = [findings.next_height if height is None else height for height in track.heights]
    last = there[0] if findings.altitude is None else float(findings.altitude[-1])
    return [(max(leg), leg[1]) for leg in pairwise([last, *there])]


def _altitude(findings: Findings) -> float:
    """[m] above the place of take-off."""
    if findings.flight.height is not None:
        return findings.flight.height
    mean = None if findings.altitude is None else round(float(np.mean(findings.altitude)), 2)
    if mean is None or mean < _MIN_AIR_ALTITUDE_M:
        return _DEFAULT_ALTITUDE_M
    if mean > MAX_FLIGHT_HEIGHT_M:
        raise ValueError(
            f"The readings were taken {mean:g} m up on average, higher than most drones may fly, or above "
            "the sea: say how high to fly above the place of take-off, by --altitude, or as `height` in "
            "[flight] of the site file."
        )
    return mean


def _hold(findings: Findings) -> float:
    """[s]"""
    if findings.flight.hold is not None:
        return findings.flight.hold
    return 0.0 if findings.dwell is None else float(findings.dwell[-1])


def _rightward(polygon: Polygon) -> Polygon:
    return polygon if signed_area(polygon) < 0 else polygon[::-1]


def _degrees(findings: Findings, positions: np.ndarray) -> list[list[float]]:
    return np.round(findings.coordinates.to_degrees(positions), _DECIMALS).tolist()
