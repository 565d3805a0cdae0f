"""The form in which a site is drawn and filled in, and its site file: one becomes the other, both ways.

The form has what most sites need. All else stays in the text as it is.
"""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from dowsax.console.bodies import MAX_SITE_LENGTH
from dowsax.console.display_units import display_units
from dowsax.console.site_fields import DISTRIBUTIONS, LABELS, fields_of, gas_of, get, unit_of, values_of
from dowsax.console.site_schemas import MAX_NUMBER
from dowsax.console.site_text import set_keys, set_list
from dowsax.console.sites import check_site
from dowsax.geo.local import LocalCoordinates
from dowsax.site import new_site
from dowsax.site.area import BOX, AreaSetting
from dowsax.site.kinds import KINDS, why_unused
from dowsax.site.parse import refuse_unused, resolve_area
from dowsax.site.schema import SiteFile
from dowsax.site.text import Fault, SiteError, add_line, faults_of, parse_toml

LISTS = ("geofence", "no_go", "obstacle")
"""What is drawn as polygons."""
_DECIMALS_M = 3
_KEPT = ("name", "budget.readings", "budget.distance", "budget.time", "budget.return", "search.radius")
"""What a change of the kind keeps of the form, besides what is drawn."""
_KEPT_OF_OBSTACLES = ("name", "corners", "corners_degrees", "file", "map", "simplify", "height")

_GIVEN_WIND = ("wind.speed", "wind.from", "wind.velocity")
_EXCLUDED = {
    "wind.mode = measured": _GIVEN_WIND,
    "wind.mode = constant": ("wind.direction_error",),
    "wind.mode = unknown": ("wind.direction_error", *_GIVEN_WIND),
    "background.mode = known": ("background.range",),
    "background.mode = usual": ("background.range", "background.value"),
    "background.mode = none": ("background.range", "background.value"),
    **dict.fromkeys(
        (f"background.mode = {mode}" for mode in ("unknown", "measured", "per-sensor")), ("background.value",)
    ),
}
"""The keys that a mode does not allow: a change to it takes them out."""


def start_form(kind: str) -> dict[str, Any]:
    """Return the form of a new site of this kind."""
    return read_form(new_site(kind))


def read_form(text: str) -> dict[str, Any]:
    """Return what a site file says as text, values, shapes, fields, faults and a description.

    A text that is no TOML has a fault, and neither values nor shapes.
    """
    form: dict[str, Any] = {"text": text, "values": None, "shapes": None, "site": None}
    form |= {"fields": [], "units": {}}
    try:
        table = parse_toml(text, "Site file")
    except ValueError as error:
        return form | {"faults": [_describe_whole(error)]}
    faults = _faults(text, table)
    form |= {"values": values_of(table), "shapes": _shapes(table), "faults": faults}
    form |= {"fields": fields_of(table), "units": display_units(unit_of(table), gas_of(table))}
    return form if faults else form | {"site": check_site(text)}


def write_form(text: str, values: Mapping[str, Any], shapes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the form after values and shapes are written into the text of a site file.

    A change of the kind begins with a new text of that kind, in which the shapes and the budget are the same,
    and of obstacles what that kind has too.
    """
    for key, value in values.items():
        if isinstance(value, list) and key not in DISTRIBUTIONS:
            raise ValueError(f"{key!r} is one value, not a list: change it in the text of the site file.")
    table = parse_toml(text, "The site file")
    kind, before = values.get("field.kind"), get(table, "field.kind")
    if kind in KINDS and kind != before:
        text = _carry_obstacles(start_form(kind)["text"], table, kind)
        table = tomllib.loads(text)
        start = values_of(table)
        values = start | {key: values[key] for key in _KEPT if key in values} | {"field.kind": kind}
    unknown = set(values) - set(LABELS)
    if unknown:
        raise ValueError(f"{min(unknown)!r} is no key of the form: change it in the text of the site file.")
    known = values_of(table)
    changed = {key: value for key, value in values.items() if value != known[key]}
    for key in ("wind.mode", "background.mode"):
        if key in changed:
            changed |= dict.fromkeys(_EXCLUDED.get(f"{key} = {changed[key]}", ()))
    try:
        written = set_keys(text, {tuple(key.split(".")): value for key, value in changed.items()})
        written = _write_shapes(written, _shapes(table) or {}, shapes)
    except Fault as fault:
        raise add_line(fault, "Site file", text) from None
    if len(written) > MAX_SITE_LENGTH:
        raise ValueError(f"The site file has more than {MAX_SITE_LENGTH} letters: draw fewer corners.")
    return read_form(written)


def _carry_obstacles(text: str, table: Mapping[str, Any], kind: str) -> str:
    """Return the text of a kind with the obstacles of the table of another kind.

    An attenuation that is a number stays behind, as its unit is that of its kind.
    """
    entries = table.get("obstacle")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        return text
    has_attenuation = why_unused(kind, "obstacle", "attenuation") is None
    carried = []
    for entry in entries:
        kept = {key: entry[key] for key in _KEPT_OF_OBSTACLES if key in entry}
        if has_attenuation and isinstance(entry.get("attenuation"), str):
            kept["attenuation"] = entry["attenuation"]
        carried.append(kept)
    return set_list(text, "obstacle", carried)


def _coordinates(table: Mapping[str, Any]) -> tuple[LocalCoordinates, Any] | None:
    """Return the local coordinates and the box [m] of the area; `None` where it is not given well."""
    try:
        return resolve_area(AreaSetting.model_validate(table["area"]))
    except (ValidationError, Fault, KeyError):
        return None


def _shapes(table: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is drawn, in metres: area, origin, start, polygons, and where the picture lies."""
    found = _coordinates(table)
    if found is None:
        return None
    coordinates, area = found
    shapes: dict[str, Any] = {
        "area": [_round(corner) for corner in area],
        "origin": None if coordinates.origin is None else list(coordinates.origin),
        "start": next(iter(_places(table.get("start"), "position", coordinates)), None),
        "map": None,
    }
    image = get(table, "map.image")
    if isinstance(image, str):
        shapes["map"] = {"image": image, "corners": _places(table["map"], "corners", coordinates) or None}
    for name in LISTS:
        entries = table.get(name)
        shapes[name] = [
            {
                "index": index,
                "name": str(entry.get("name", "")),
                "corners": _places(entry, "corners", coordinates),
            }
            for index, entry in enumerate(entries if isinstance(entries, list) else ())
            if isinstance(entry, Mapping)
        ]
    return shapes


def _places(entry: Any, key: str, coordinates: LocalCoordinates) -> list[list[float]]:
    """Return the places [m] of an entry, given in metres or degrees; none where one of them is no place."""
    entry = entry if isinstance(entry, Mapping) else {}
    try:
        with np.errstate(invalid="ignore"):
            if key in entry:
                places = np.reshape(np.array(entry[key], float), (-1, 2))
            else:
                degrees = np.reshape(np.array(entry[f"{key}_degrees"], float), (-1, 2))
                places = coordinates.to_metres(*degrees.T)
            are_places = bool((np.abs(places) <= MAX_NUMBER).all())
    except (KeyError, TypeError, ValueError):
        return []
    return [_round(place) for place in places.tolist()] if are_places else []


def plain_shapes(shapes: dict[str, Any]) -> dict[str, Any]:
    """Return shapes with lists instead of tuples, as a file has them."""
    return json.loads(json.dumps(shapes))


def _round(place: Any) -> list[float]:
    return [round(float(value), _DECIMALS_M) for value in place]


def _write_shapes(text: str, known: Mapping[str, Any], shapes: Mapping[str, Any]) -> str:
    """Return the text with what is drawn; only what differs from before is written, and in metres."""
    keys: dict[tuple[str, ...], Any] = {}
    if shapes.get("area") != known.get("area") and shapes.get("area"):
        low, high = shapes["area"]
        keys |= {("area", "low"): _round(low), ("area", "high"): _round(high)}
        keys |= {("area", side): None for side in BOX}
    if shapes.get("origin") != known.get("origin") or ("area", "low") in keys:
        # Of an area in degrees the origin was its middle, which moves with it.
        keys["area", "origin"] = shapes.get("origin")
    if shapes.get("start") != known.get("start"):
        start = shapes.get("start")
        keys |= {("start", "position"): start and _round(start), ("start", "position_degrees"): None}
    if shapes.get("map") != known.get("map"):
        picture = shapes.get("map") or {}
        corners = picture.get("corners")
        keys |= {("map", "image"): picture.get("image"), ("map", "corners_degrees"): None}
        keys["map", "corners"] = corners and [_round(corner) for corner in corners]
    text = set_keys(text, keys)
    for name in LISTS:
        if shapes.get(name, []) != known.get(name, []):
            text = set_list(
                text, name, [_entry(entry, known.get(name, [])) for entry in shapes.get(name, [])]
            )
    return text


def _entry(entry: Mapping[str, Any], known: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what changes in an entry of a list of polygons."""
    before = next((one for one in known if one["index"] == entry.get("index")), {})
    changes: dict[str, Any] = {"index": before.get("index")}
    if entry.get("name", "") != before.get("name", ""):
        changes["name"] = entry.get("name", "")
    if entry.get("corners") != before.get("corners"):
        changes |= {"corners": [_round(corner) for corner in entry["corners"]], "corners_degrees": None}
    return changes


def _faults(text: str, table: dict[str, Any]) -> list[dict[str, str]]:
    """Return what is wrong with a site, each with the key that it concerns."""
    try:
        file = SiteFile.model_validate(table)
        refuse_unused(table, file.field.kind, file.sensor.reading)
        check_site(text)
    except ValidationError as error:
        return [_describe_fault(fault, text) for fault in faults_of(error, table)]
    except Fault as fault:
        return [_describe_fault(fault, text)]
    except SiteError as error:
        return [_describe_fault(error.fault, text)]
    except ValueError as error:
        return [_describe_whole(error)]
    return []


def _describe_fault(fault: Fault, text: str) -> dict[str, str]:
    line = str(add_line(fault, "Site file", text))
    return {"key": ".".join(fault.keys), "text": str(fault), "line": line}


def _describe_whole(error: ValueError) -> dict[str, str]:
    """Return an error that concerns the text as a whole."""
    words = str(error).replace("site.toml", "Site file")
    return {"key": "", "text": words, "line": words}
