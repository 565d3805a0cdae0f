"""Findings as GeoJSON (RFC 7946): longitude before latitude, borders leftward round, rings closed."""

import json
from typing import Any

import numpy as np

from dowsax.mission.findings import Findings
from dowsax.mission.geometry import Polygon, signed_area
from dowsax.mission.regions import Patch
from dowsax.mission.summary import verdict

_DECIMALS = {True: 9, False: 4}
"""Of degrees and of metres: a tenth of a millimetre."""
_IN_METRES = (
    "Coordinates are metres east and north of the survey's own origin, not degrees: the site has no latitude "
    "and longitude."
)


def geojson(findings: Findings) -> str:
    """A FeatureCollection of track, readings, regions, estimate, next waypoints, geofence and no-go areas.

    Each feature says in `properties.what` which it is. Where the site has no latitude and longitude, the
    coordinates are metres, and the foreign member `note` says so.
    """
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": findings.name}
    if not findings.frame.is_geographic:
        collection["note"] = _IN_METRES
    collection["features"] = [
        *_areas(findings),
        *_regions(findings),
        *_track(findings),
        *_readings(findings),
        _estimate(findings),
        *_waypoints(findings),
    ]
    return json.dumps(collection, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _areas(findings: Findings) -> list[dict]:
    named = [("geofence", polygon) for polygon in findings.geofence]
    named += [("no-go area", polygon) for polygon in findings.no_go]
    return [
        _feature("Polygon", [_ring(findings, _leftward(polygon))], {"what": what}) for what, polygon in named
    ]


def _regions(findings: Findings) -> list[dict]:
    """The largest first, so that a map that draws in this order hides none."""
    return [
        _feature(
            "MultiPolygon",
            [_rings(findings, patch) for patch in region.patches],
            {"what": "credible region", "probability": probability, "area_m2": round(region.area, 6)},
        )
        for probability, region in sorted(findings.regions.items(), reverse=True)
    ]


def _track(findings: Findings) -> list[dict]:
    if len(findings.positions) < 2:
        return []
    return [_feature("LineString", _coordinates(findings, findings.positions), {"what": "track"})]


def _readings(findings: Findings) -> list[dict]:
    """A point each, with what was measured along."""
    extras = {"line": findings.lines, "time_s": findings.time, "altitude_m": findings.altitude}
    if findings.wind is not None:
        extras |= {"wind_east_m_s": findings.wind[:, 0], "wind_north_m_s": findings.wind[:, 1]}
    features = []
    for number, place in enumerate(_coordinates(findings, findings.positions)):
        told = {name: _plain(column[number]) for name, column in extras.items() if column is not None}
        value = {"what": "reading", "number": number + 1, "value": _plain(findings.values[number])}
        features.append(_feature("Point", place, value | {"unit": findings.unit} | told))
    return features


def _estimate(findings: Findings) -> dict:
    east, north = findings.posterior.std[:2]
    told = {
        "what": "estimate",
        "std_east_m": _plain(east),
        "std_north_m": _plain(north),
        "radius_95_m": _plain(findings.radius),
        "verdict": verdict(findings),
        "sure": findings.is_sure,
    }
    return _feature("Point", _coordinates(findings, findings.estimate[None])[0], told)


def _waypoints(findings: Findings) -> list[dict]:
    return [
        _feature("Point", place, {"what": "next waypoint", "number": number + 1})
        for number, place in enumerate(_coordinates(findings, findings.waypoints))
    ]


def _feature(kind: str, coordinates: list, properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _rings(findings: Findings, patch: Patch) -> list[list]:
    return [_ring(findings, ring) for ring in (patch.border, *patch.holes)]


def _ring(findings: Findings, polygon: Polygon) -> list[list[float]]:
    """Closed: the first place is repeated at the end."""
    return _coordinates(findings, np.concatenate([polygon, polygon[:1]]))


def _leftward(polygon: Polygon) -> Polygon:
    return polygon if signed_area(polygon) > 0 else polygon[::-1]


def _coordinates(findings: Findings, positions: np.ndarray) -> list[list[float]]:
    """Longitude and latitude of each position, or x and y.

    Longitudes go on beyond 180 where a site lies across that meridian, so that lines and rings stay whole.
    """
    if len(positions) == 0:
        return []
    degrees = findings.degrees(positions)
    places = positions if degrees is None else degrees[:, ::-1].copy()
    if findings.frame.origin is not None:
        middle = findings.frame.origin[1]
        places[:, 0] = np.where(
            np.abs(places[:, 0] - middle) <= 180, places[:, 0], places[:, 0] + np.copysign(360, middle)
        )
    return np.round(places, _DECIMALS[degrees is not None]).tolist()


def _plain(number) -> float | int | None:
    """As JSON can hold it."""
    number = number.item() if isinstance(number, np.generic) else number
    return number if np.isfinite(number) else None
