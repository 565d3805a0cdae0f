"""Findings as GeoJSON (RFC 7946): longitude before latitude, borders leftward round, rings closed."""

import json
from typing import Any

import numpy as np

from dowsax.geo.polygons import Polygon, signed_area
from dowsax.report.export.places import places, region_rings
from dowsax.report.findings import Findings, Track
from dowsax.report.summary import verdict

_IN_METRES = (
    "Coordinates are metres east and north of the survey's own origin, not degrees: the site has no latitude "
    "and longitude."
)


def geojson(findings: Findings) -> str:
    """Return a FeatureCollection of track, readings, regions, estimate, waypoints, limits and obstacles.

    Each feature says in `properties.what` which it is. Where the site has no latitude and longitude, the
    coordinates are metres, and the foreign member `note` says so.
    """
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": findings.name}
    if not findings.coordinates.is_geographic:
        collection["note"] = _IN_METRES
    collection["features"] = [
        *_areas(findings),
        *_regions(findings),
        *_track(findings),
        *_readings(findings),
        *_estimates(findings),
        *_waypoints(findings),
    ]
    return json.dumps(collection, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _areas(findings: Findings) -> list[dict]:
    named = [("geofence", polygon) for polygon in findings.geofence]
    named += [("no-go area", polygon) for polygon in findings.no_go]
    areas = [(polygon, {"what": what}) for what, polygon in named]
    areas += [
        (one.corners, {"what": "obstacle", "name": one.name, "height_m": one.height})
        for one in findings.obstacles
    ]
    return [
        _feature("Polygon", [_close(places(findings, _leftward(polygon)))], properties)
        for polygon, properties in areas
    ]


def _regions(findings: Findings) -> list[dict]:
    """Return the regions, the largest first, so that a map that draws in this order hides none."""
    return [
        _feature(
            "MultiPolygon",
            [[_close(ring) for ring in rings] for rings in region_rings(findings, region)],
            {"what": "credible region", "probability": probability, "area_m2": round(region.area, 6)},
        )
        for probability, region in sorted(findings.regions.items(), reverse=True)
    ]


def _track(findings: Findings) -> list[dict]:
    return [
        _feature("LineString", places(findings, track.places).tolist(), {"what": "track"} | _of(track))
        for track in findings.tracks
        if len(track.places) > 1
    ]


def _of(track: Track) -> dict[str, str]:
    """Return whose a feature is, and its colour as the specification of simple styles names it."""
    return {"searcher": track.name, "stroke": track.colour} if track.name else {}


def _readings(findings: Findings) -> list[dict]:
    """Return one point or path for each reading, with the other quantities measured there."""
    extras = {"line": findings.lines, "time_s": findings.time, "altitude_m": findings.altitude}
    if findings.wind is not None:
        extras |= {"wind_east_m_s": findings.wind[:, 0], "wind_north_m_s": findings.wind[:, 1]}
    features, is_path = [], findings.is_path
    owners = {number: track.name for track in findings.team for number in track.numbers.tolist()}
    ends = places(findings, findings.ends.reshape(-1, 2)).reshape(-1, 2, 2).tolist()
    for number, (start, end) in enumerate(ends):
        measured = {name: _plain(column[number]) for name, column in extras.items() if column is not None}
        value = {"what": "reading", "number": number + 1, "value": _plain(findings.values[number])}
        value |= {"searcher": owners[number]} if number in owners else {}
        shape = ("LineString", [start, end]) if is_path[number] else ("Point", start)
        features.append(_feature(*shape, value | {"unit": findings.unit} | measured))
    return features


def _estimates(findings: Findings) -> list[dict]:
    """Return a point for each source, the strongest first; of several, with its number."""
    features = []
    for number, source in enumerate(findings.sources, start=1):
        properties = {
            "what": "estimate",
            **({"source": number} if len(findings.sources) > 1 else {}),
            "std_east_m": _plain(source.std[0]),
            "std_north_m": _plain(source.std[1]),
            "radius_95_m": _plain(source.radius),
            "verdict": verdict(findings),
            "sure": findings.is_sure,
        }
        place = places(findings, source.position[None])[0].tolist()
        features.append(_feature("Point", place, properties))
    return features


def _waypoints(findings: Findings) -> list[dict]:
    points = [
        _feature(
            "Point",
            place,
            {"what": "next waypoint", "number": number + 1} | _height(track.heights[number]) | _of(track),
        )
        for track in findings.tracks
        for number, place in enumerate(places(findings, track.waypoints).tolist())
    ]
    points += [
        _feature(
            "LineString",
            places(findings, track.whole_next_way).tolist(),
            {"what": "next way"} | _of(track),
        )
        for track in findings.tracks
        if track.has_way
    ]
    if findings.next_path is None:
        return points
    return [_feature("LineString", places(findings, findings.next_path).tolist(), {"what": "next path"})]


def _height(height: float | None) -> dict[str, float]:
    """Return how high [m] to read at a place, where readings are at several heights."""
    return {} if height is None else {"height_m": height}


def _feature(kind: str, coordinates: list, properties: dict[str, Any]) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def _close(ring: np.ndarray) -> list[list[float]]:
    """The first place is repeated at the end."""
    return np.concatenate([ring, ring[:1]]).tolist()


def _leftward(polygon: Polygon) -> Polygon:
    return polygon if signed_area(polygon) > 0 else polygon[::-1]


def _plain(number) -> float | int | None:
    """As JSON can hold it."""
    number = number.item() if isinstance(number, np.generic) else number
    return number if np.isfinite(number) else None
