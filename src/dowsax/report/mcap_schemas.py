"""JSON schemas of the messages in an MCAP file: well-known ones of Foxglove, and our own.

Foxglove reads objects, lists of objects or of plain values, numbers, texts and booleans: so there is no null,
what is not known is left out, and a place is an object {x, y}.
"""

import json
from typing import Any

from dowsax.site.measured import QUANTITIES

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}


def record(required: dict[str, Schema], optional: dict[str, Schema] | None = None, title: str = "") -> Schema:
    """Return the schema of an object with these keys."""
    named = {"title": title} if title else {}
    return {
        **named,
        "type": "object",
        "properties": required | (optional or {}),
        "required": list(required),
    }


def list_of(items: Schema, **limits: int) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **limits}


def said(schema: Schema, description: str) -> Schema:
    """Return a schema with a description."""
    return schema | {"description": description}


def _choice(*names: str) -> Schema:
    """Return the schema of a number that stands for one of these names."""
    return {"oneOf": [{"title": name, "const": number} for number, name in enumerate(names)]}


STAMP = record({"sec": COUNT, "nsec": COUNT | {"maximum": 999_999_999}}, title="time")
PLACE = record({"x": NUMBER, "y": NUMBER}, {"latitude": NUMBER, "longitude": NUMBER})
"""[m] east and north; degrees where the site has them."""
_VECTOR = record(dict.fromkeys("xyz", NUMBER), title="foxglove.Vector3")
_QUATERNION = record(dict.fromkeys("xyzw", NUMBER), title="foxglove.Quaternion")
_POSE = record({"position": _VECTOR, "orientation": _QUATERNION}, title="foxglove.Pose")
_DISC = record({"centre": PLACE, "probability": NUMBER}, {"radius": NUMBER})
_LEG = record({"position": PLACE}, {"distance": NUMBER, "way": list_of(PLACE), "height": NUMBER})
_PARAMETER = record({"name": TEXT, "unit": TEXT}, dict.fromkeys(("mean", "low", "high"), NUMBER))

POSE_IN_FRAME = "foxglove.PoseInFrame"
LOCATION_FIX = "foxglove.LocationFix"
GEOJSON = "foxglove.GeoJSON"
LOG = "foxglove.Log"
READING = "dowsax.Reading"
ADVICE = "dowsax.Advice"
BELIEF = "dowsax.Belief"

_KINDS: dict[str, tuple[dict[str, Schema], dict[str, Schema]]] = {
    POSE_IN_FRAME: ({"timestamp": STAMP, "frame_id": TEXT, "pose": _POSE}, {}),
    LOCATION_FIX: (
        {
            "timestamp": STAMP,
            "frame_id": TEXT,
            "latitude": said(NUMBER, "degrees"),
            "longitude": said(NUMBER, "degrees"),
            "altitude": said(NUMBER, "m"),
            "position_covariance": list_of(NUMBER, minItems=9, maxItems=9),
            "position_covariance_type": _choice("UNKNOWN", "APPROXIMATED", "DIAGONAL_KNOWN", "KNOWN"),
        },
        {},
    ),
    GEOJSON: ({"geojson": TEXT}, {}),
    LOG: (
        {
            "timestamp": STAMP,
            "level": _choice("UNKNOWN", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"),
            "message": TEXT,
            "name": TEXT,
            "file": TEXT,
            "line": COUNT,
        },
        {},
    ),
    READING: (
        {
            "timestamp": STAMP,
            "number": said(COUNT, "of the step in the mission log, from 1"),
            "received": said(TEXT, "when it arrived (ISO 8601, UTC)"),
            "position": PLACE,
            "value": NUMBER,
            "unit": TEXT,
            "moving": said(FLAG, "taken on the way"),
        },
        {
            "corrects": said(COUNT, "the number of the reading that this one replaces"),
            "reason": TEXT,
            "id": TEXT,
            "far_end": said(PLACE, "the other end of the path along which it is the mean"),
            "altitude": said(NUMBER, "m above ground"),
            "dwell": said(NUMBER, "s, how long it counted"),
            "wind": said(record({"u": NUMBER, "v": NUMBER}), "m/s east and north, where the air goes"),
            "sensor": TEXT,
            "searcher": TEXT,
            "ranges": said(
                list_of(record({}, {"distance": NUMBER})), "m, of a range sensor, clockwise from north"
            ),
            "quantities": record({}, dict.fromkeys(QUANTITIES, NUMBER)),
        },
    ),
    ADVICE: (
        {
            "timestamp": STAMP,
            "number": COUNT,
            "status": said(TEXT, "searching, found or inconclusive"),
            "why": TEXT,
            "warnings": list_of(TEXT),
        },
        {
            "id": said(TEXT, "of the reading that it answers"),
            "searcher": TEXT,
            "next": said(PLACE, "where to read next"),
            "aim": said(PLACE, "the far place to which `next` is a stop"),
            "bearing": said(NUMBER, "degrees clockwise from north, at which the way there begins"),
            "distance": said(NUMBER, "m, of the way there"),
            "height": said(NUMBER, "m above ground, at which to read there"),
            "way": said(list_of(PLACE), "the corners of the way there"),
            "path": said(TEXT, "the name of the path to read next"),
            "far_end": said(PLACE, "the other end of that path"),
            "ahead": said(list_of(_LEG), "the next places in the order of flight"),
        },
    ),
    BELIEF: (
        {
            "timestamp": STAMP,
            "number": COUNT,
            "position": said(PLACE, "the mean of the position of the source"),
            "parameters": said(list_of(_PARAMETER), "mean and 95 % interval of every unknown"),
            "region": said(_DISC, "the disc about the mean that holds the source"),
        },
        {
            "sources": said(list_of(_DISC), "of several sources, the disc of each"),
            "number_probability": NUMBER,
            "more_probability": NUMBER,
            "evidence": said(NUMBER, "nats, the log odds of a source against none"),
            "spread": said(NUMBER, "m, the larger standard deviation of the position"),
            "mass": said(NUMBER, "the probability that the source is within the site's radius of the mean"),
            "ess": said(NUMBER, "effective number of particles"),
            "fit": said(NUMBER, "the chance that a right model fits as badly"),
            "path_length": said(NUMBER, "m, of the ways of all searchers so far"),
        },
    ),
}

SCHEMAS: dict[str, Schema] = {name: record(*parts, title=name) for name, parts in _KINDS.items()}
"""The schema of each kind of message, by its name."""


def encode_schema(name: str) -> bytes:
    """Return a schema as JSON."""
    return json.dumps(SCHEMAS[name]).encode()
