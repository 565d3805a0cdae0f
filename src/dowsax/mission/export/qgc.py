"""Findings as a QGroundControl plan: the next waypoints, the geofence and the no-go areas.

https://docs.qgroundcontrol.com/master/en/qgc-dev-guide/file_formats/plan.html
"""

import json
from typing import Any

import numpy as np

from dowsax.mission.findings import Findings
from dowsax.mission.geometry import Polygon, signed_area

_WAYPOINT = 16
"""MAV_CMD_NAV_WAYPOINT"""
_RELATIVE = 3
"""MAV_FRAME_GLOBAL_RELATIVE_ALT: altitudes are above the place of take-off."""
_GENERIC_AUTOPILOT, _QUADROTOR = 0, 2
"""MAV_AUTOPILOT_GENERIC, MAV_TYPE_QUADROTOR"""
_ABOVE_TAKE_OFF = 1
"""The altitude mode of a plan whose altitudes are above the place of take-off."""
_USUAL = 20.0
"""[m], an altitude above most trees and below most limits."""
_DECIMALS = 9


def qgc_plan(
    findings: Findings, *, altitude: float | None = None, hold: float = 0.0, speed: float = 5.0
) -> str:
    """A .plan that flies to the next waypoints, holding for `hold` [s] at each, within geofence and no-go.

    `altitude` [m] above the place of take-off: the mean of the survey's own unless given, 20 m where it has
    none. `speed` [m/s]. Whoever flies a plan looks at it first.
    """
    if not findings.frame.is_geographic:
        raise ValueError(
            "A QGroundControl plan needs latitude and longitude: give the origin of the site in degrees."
        )
    if len(findings.waypoints) == 0:
        raise ValueError("There is no next waypoint to fly to, and a QGroundControl plan needs at least one.")
    height = _altitude(findings) if altitude is None else float(altitude)
    home = findings.positions[-1] if len(findings.positions) else findings.waypoints[0]
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
            "plannedHomePosition": [*_degrees(findings, home[None])[0], 0.0],
            "items": [
                _item(number + 1, place, height, hold)
                for number, place in enumerate(_degrees(findings, findings.waypoints))
            ],
        },
        "geoFence": {"version": 2, "circles": [], "polygons": _fences(findings)},
        "rallyPoints": {"version": 2, "points": []},
    }
    return json.dumps(plan, indent=1, allow_nan=False) + "\n"


def _item(number: int, place: list[float], altitude: float, hold: float) -> dict[str, Any]:
    # Hold time, two radii of no use here, and a heading that is left to the vehicle.
    params = [hold, 0, 0, None, *place, altitude]
    return {
        "type": "SimpleItem",
        "AMSLAltAboveTerrain": None,
        "Altitude": altitude,
        "AltitudeMode": _ABOVE_TAKE_OFF,
        "autoContinue": True,
        "command": _WAYPOINT,
        "doJumpId": number,
        "frame": _RELATIVE,
        "params": params,
    }


def _fences(findings: Findings) -> list[dict[str, Any]]:
    """Polygons, rightward round as the format asks, not closed: to stay in, and to stay out of."""
    named = [(True, polygon) for polygon in findings.geofence]
    named += [(False, polygon) for polygon in findings.no_go]
    return [
        {"version": 1, "inclusion": inclusion, "polygon": _degrees(findings, _rightward(polygon))}
        for inclusion, polygon in named
    ]


def _altitude(findings: Findings) -> float:
    return _USUAL if findings.altitude is None else round(float(np.mean(findings.altitude)), 2)


def _rightward(polygon: Polygon) -> Polygon:
    return polygon if signed_area(polygon) < 0 else polygon[::-1]


def _degrees(findings: Findings, positions: np.ndarray) -> list[list[float]]:
    return np.round(findings.frame.to_degrees(positions), _DECIMALS).tolist()
