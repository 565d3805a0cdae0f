"""The records of a mission log as messages of an MCAP file: topic, kind and body of each."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dowsax.files import finite
from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Polygon
from dowsax.mission.advice import Advice, Disc, Leg
from dowsax.mission.log import Note, Refusal, Step
from dowsax.report.mcap_schemas import ADVICE, BELIEF, GEOJSON, LOCATION_FIX, LOG, POSE_IN_FRAME, READING
from dowsax.site.measured import QUANTITIES
from dowsax.site.plain_names import plain_name
from dowsax.site.site import Site

FRAME = "site"
"""Of all places in metres: x east, y north, z up, from the origin of the site."""
_INFO, _WARNING, _ERROR = 2, 3, 4
"""Levels of foxglove.Log."""
_UNKNOWN_COVARIANCE = 0
_NUM_CORNERS = 64
"""Of a disc that is drawn as a polygon."""
_ALARM = "alarm"
"""What a note of a lost feed says."""
Place = tuple[float, float]


class Message(NamedTuple):
    """A message of a topic; its time is that of its record."""

    topic: str
    kind: str
    """A key of `SCHEMAS`."""
    body: dict[str, Any]


def stamp(time: int) -> dict[str, int]:
    """Return a time [ns] in seconds and nanoseconds."""
    return {"sec": time // 10**9, "nsec": time % 10**9}


def site_messages(site: Site) -> Iterator[Message]:
    """Yield the map of a site: geofence, no-go areas and obstacles, where it is in degrees."""
    if not site.coordinates.is_geographic:
        return
    named = [("geofence", polygon) for polygon in site.geofence]
    named += [("no-go area", polygon) for polygon in site.no_go]
    named += [("obstacle", one.corners) for one in site.obstacles]
    features = [_polygon(site.coordinates, polygon, what) for what, polygon in named]
    yield _map("/dowsax/site", features)


def step_messages(step: Step, site: Site, time: int) -> Iterator[Message]:
    """Yield the messages of a step at a time [ns]: reading, pose, advice, belief, map and log."""
    advice, reading = Advice.from_json(step.advice), step.reading
    if reading is not None:
        yield Message("/dowsax/reading", READING, _reading(step, reading, site, time))
    if reading is not None and step.corrects is None and reading.get("far_end") is None:
        yield from _pose(reading, site, time)
    yield Message("/dowsax/advice", ADVICE, _advice(advice, site.coordinates, time))
    yield Message("/dowsax/belief", BELIEF, _belief(step, advice, site.coordinates, time))
    if site.coordinates.is_geographic:
        ending = "" if advice.searcher is None else f"/{plain_name(advice.searcher)}"
        yield _map(f"/dowsax/map{ending}", _features(advice, site.coordinates))
    said = [(_INFO, f"{advice.status}: {advice.why}"), *((_WARNING, each) for each in advice.warnings)]
    if step.corrects is not None:
        what = "withdrawn" if reading is None else "corrected"
        reason = f": {step.reason}" if step.reason else "."
        said.insert(0, (_INFO, f"Reading {step.corrects} was {what}{reason}"))
    for level, text in said:
        yield _log(level, text, time)


def other_message(record: Refusal | Note, time: int) -> Message:
    """Return the message of a refusal or a note."""
    if isinstance(record, Refusal):
        return _log(_WARNING, f"Refused: {record.reason} ({record.given})", time)
    return _log(_ERROR if record.what == _ALARM else _INFO, record.text, time)


def _log(level: int, text: str, time: int) -> Message:
    body = {"timestamp": stamp(time), "level": level, "message": text, "name": "dowsax"}
    return Message("/dowsax/log", LOG, body | {"file": "", "line": 0})


def _reading(step: Step, reading: Mapping[str, Any], site: Site, time: int) -> dict[str, Any]:
    wind, far_end, ranges = (reading.get(name) for name in ("wind", "far_end", "ranges"))
    quantities = {name: reading[name] for name in QUANTITIES if reading.get(name) is not None}
    optional = {
        "corrects": step.corrects,
        "reason": step.reason or None,
        "far_end": None if far_end is None else _place(far_end, site.coordinates),
        "wind": None if wind is None else {"u": wind[0], "v": wind[1]},
        "ranges": None if ranges is None else [_known({"distance": each}) for each in ranges],
        "quantities": quantities or None,
        **{name: reading.get(name) for name in ("id", "altitude", "dwell", "sensor", "searcher")},
    }
    return {
        "timestamp": stamp(time),
        "number": step.number,
        "received": step.received,
        "position": _place(reading["position"], site.coordinates),
        "value": reading["value"],
        "unit": site.unit,
        "moving": bool(reading.get("moving")),
    } | _known(optional)


def _pose(reading: Mapping[str, Any], site: Site, time: int) -> Iterator[Message]:
    """Yield where a searcher was at its reading: in metres above ground, and in degrees.

    A heading [degrees clockwise from north] turns the pose; without one it looks to the east.
    """
    (x, y), altitude = reading["position"], reading.get("altitude")
    height = (site.sensor.height or 0.0) if altitude is None else altitude
    half = math.radians(90.0 - reading.get("heading", 90.0)) / 2
    turn = {"x": 0.0, "y": 0.0, "z": math.sin(half), "w": math.cos(half)}
    pose = {"position": {"x": x, "y": y, "z": height}, "orientation": turn}
    ending = "" if reading.get("searcher") is None else f"/{plain_name(reading['searcher'])}"
    head = {"timestamp": stamp(time), "frame_id": FRAME}
    yield Message(f"/dowsax/pose{ending}", POSE_IN_FRAME, head | {"pose": pose})
    if not site.coordinates.is_geographic:
        return
    latitude, longitude = _degrees((x, y), site.coordinates)
    fix = {
        "latitude": latitude,
        "longitude": longitude,
        "altitude": height + site.sensor.ground,
        "position_covariance": [0.0] * 9,
        "position_covariance_type": _UNKNOWN_COVARIANCE,
    }
    yield Message(f"/dowsax/fix{ending}", LOCATION_FIX, head | fix)


def _advice(advice: Advice, coordinates: LocalCoordinates, time: int) -> dict[str, Any]:
    optional = {
        "id": advice.id,
        "searcher": advice.searcher,
        "next": None if advice.next_position is None else _place(advice.next_position, coordinates),
        "aim": None if advice.next_aim is None else _place(advice.next_aim, coordinates),
        "bearing": advice.bearing,
        "distance": advice.distance,
        "height": advice.next_height,
        "way": _places(advice.next_way, coordinates),
        "path": advice.next_path,
        "far_end": None if advice.next_far_end is None else _place(advice.next_far_end, coordinates),
        "ahead": [_leg(leg, coordinates) for leg in advice.ahead] or None,
    }
    return {
        "timestamp": stamp(time),
        "number": advice.number,
        "status": advice.status,
        "why": advice.why,
        "warnings": list(advice.warnings),
    } | _known(optional)


def _leg(leg: Leg, coordinates: LocalCoordinates) -> dict[str, Any]:
    optional = {"distance": leg.distance, "way": _places(leg.way, coordinates), "height": leg.height}
    return {"position": _place(leg.position, coordinates)} | _known(optional)


def _belief(step: Step, advice: Advice, coordinates: LocalCoordinates, time: int) -> dict[str, Any]:
    estimate = advice.estimate
    optional = {
        "sources": [_disc(disc, coordinates) for disc in advice.sources] or None,
        "number_probability": advice.number_probability,
        "more_probability": advice.more_probability,
        "evidence": advice.evidence,
        **{name: step.measures.get(name) for name in ("spread", "mass", "ess", "fit", "path_length")},
    }
    return {
        "timestamp": stamp(time),
        "number": step.number,
        "position": _place(estimate.position, coordinates),
        "parameters": [
            {"name": name, "unit": unit}
            | _known({end: finite(getattr(estimate, end)[at]) for end in ("mean", "low", "high")})
            for at, (name, unit) in enumerate(zip(estimate.names, estimate.units, strict=True))
        ],
        "region": _disc(advice.region, coordinates),
    } | _known(optional)


def _disc(disc: Disc, coordinates: LocalCoordinates) -> dict[str, Any]:
    body = {"centre": _place(disc.centre, coordinates), "probability": disc.probability}
    return body | _known({"radius": finite(disc.radius)})


def _known(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of it, as messages have no null."""
    return {name: part for name, part in body.items() if part is not None}


def _place(place: Sequence[float], coordinates: LocalCoordinates) -> dict[str, float]:
    x, y = place
    metres = {"x": x, "y": y}
    if not coordinates.is_geographic:
        return metres
    latitude, longitude = _degrees((x, y), coordinates)
    return metres | {"latitude": latitude, "longitude": longitude}


def _places(way: Sequence[Place], coordinates: LocalCoordinates) -> list[dict[str, float]] | None:
    """Return the corners of a way; `None` where it is straight."""
    return [_place(corner, coordinates) for corner in way] or None


def _degrees(place: Place, coordinates: LocalCoordinates) -> tuple[float, float]:
    latitude, longitude = coordinates.to_degrees([place])[0].tolist()
    return latitude, longitude


def _features(advice: Advice, coordinates: LocalCoordinates) -> list[dict[str, Any]]:
    """Return the discs that hold the sources, the estimate, the next places and the way through them."""
    angles = 2 * np.pi * np.arange(_NUM_CORNERS) / _NUM_CORNERS
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    features = [
        _polygon(coordinates, np.array(disc.centre) + disc.radius * rim, "95 % region")
        for disc in advice.sources or (advice.region,)
        if math.isfinite(disc.radius)
    ]
    centres = [disc.centre for disc in advice.sources] or [advice.estimate.position]
    features += [_feature("Point", _lon_lat([centre], coordinates)[0], "estimate") for centre in centres]
    if advice.next_position is None:
        return features
    if advice.next_far_end is not None:
        ends = _lon_lat([advice.next_position, advice.next_far_end], coordinates)
        return [*features, _feature("LineString", ends, "next path")]
    legs = advice.ahead or (Leg(advice.next_position, advice.distance, advice.next_way),)
    way = _lon_lat([place for leg in legs for place in (*leg.way, leg.position)], coordinates)
    stops = _lon_lat([leg.position for leg in legs], coordinates)
    features += [_feature("Point", stop, f"next waypoint {n}") for n, stop in enumerate(stops, start=1)]
    return features if len(way) < 2 else [*features, _feature("LineString", way, "next way")]


def _polygon(coordinates: LocalCoordinates, corners: Polygon, what: str) -> dict[str, Any]:
    ring = _lon_lat(corners, coordinates)
    return _feature("Polygon", [[*ring, ring[0]]], what)


def _lon_lat(places, coordinates: LocalCoordinates) -> list[list[float]]:
    """Return longitude and latitude of places (k, 2) [m]."""
    return coordinates.to_degrees(np.asarray(places, np.float64))[:, ::-1].tolist()


def _feature(kind: str, coordinates: list, name: str) -> dict[str, Any]:
    geometry = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "geometry": geometry, "properties": {"name": name}}


def _map(topic: str, features: list[dict[str, Any]]) -> Message:
    text = json.dumps({"type": "FeatureCollection", "features": features}, allow_nan=False)
    return Message(topic, GEOJSON, {"geojson": text})
