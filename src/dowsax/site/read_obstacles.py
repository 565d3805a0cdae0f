"""The obstacles of a site file, in metres: given by their corners, in GeoJSON files and in occupancy maps."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from pydantic import ValidationError
from shapely.geometry.base import BaseGeometry

from dowsax.geo.local import LocalCoordinates, require_degrees
from dowsax.geo.polygons import MIN_POLYGON_M2, Polygon
from dowsax.geo.ways import TOUCH, FreeSpace
from dowsax.site.area import ObstacleSetting
from dowsax.site.obstacles import Area, Attenuation, Obstacle
from dowsax.site.occupancy_map import read_occupancy_map
from dowsax.site.places import check_polygon, resolve_places
from dowsax.site.section import Section
from dowsax.site.text import Fault, first_fault, scan, show, toml_value

MAX_OBSTACLE_CORNERS = 400
"""Of all obstacles: a search looks at each of them from every candidate."""
_MAX_FILE_SIZE = 20_000_000
"""Bytes of a GeoJSON file."""
_PROPERTIES = ("name", "height", "attenuation")


def resolve_obstacles(
    settings: Sequence[ObstacleSetting], coordinates: LocalCoordinates, area: Area, folder: Path | None
) -> tuple[tuple[Obstacle, ...], tuple[str, ...]]:
    """Return the obstacles in metres, and what was not used of files: what lies outside the area."""
    found: list[Obstacle] = []
    notes: list[str] = []
    for number, setting in enumerate(settings, start=1):
        table = "obstacle", str(number)
        key = next(iter(setting.given("file", "map")), None)
        if key is None:
            key, corners = resolve_places(setting, "corners", coordinates, area, *table)
            assert corners is not None
            corners = _check_place(check_polygon(corners, *table, key), area, *table, key)
            if setting.name and _is_taken(setting.name, found):
                words = f"must be a name that no other obstacle has; got {setting.name!r} twice."
                raise Fault(words, *table, "name")
            found.append(Obstacle(corners, setting.name, setting.attenuation, setting.height))
        else:
            try:
                pieces, note = _read(setting, key, coordinates, area, folder)
            except ValueError as error:
                raise Fault(str(error), *table, key) from None
            for piece in pieces:
                found.append(replace(piece, name=_own_name(piece.name, found)))
            notes += note
        number_of_corners = sum(len(obstacle.corners) for obstacle in found)
        if number_of_corners > MAX_OBSTACLE_CORNERS:
            hint = "give fewer" if key.startswith("corners") else "give a larger `simplify`"
            words = f"all obstacles must have at most {MAX_OBSTACLE_CORNERS} corners"
            raise Fault(f"{words}; got {number_of_corners:,}: {hint}.", *table, key)
    return tuple(found), tuple(notes)


def _is_taken(name: str, others: Collection[Obstacle]) -> bool:
    return any(other.name.casefold() == name.casefold() for other in others)


def _own_name(name: str, others: Collection[Obstacle]) -> str:
    """Return the name, with a number where another obstacle has it."""
    if not name or not _is_taken(name, others):
        return name
    return next(own for own in (f"{name} {number}" for number in count(2)) if not _is_taken(own, others))


def _check_place(corners: Polygon, area: Area, *keys: str) -> Polygon:
    """Return the corners, or raise a Fault where they are outside the area, around it, or a line."""
    space, box = FreeSpace((), (corners,)), shapely.box(*area[0], *area[1])
    if space.solid.is_empty:
        raise Fault("is thinner than 2 mm, and stops nothing; give its thickness.", *keys)
    if space.solid.intersection(box).area < MIN_POLYGON_M2:
        raise Fault("lies outside the area; check its corners against [area].", *keys)
    if space.solid.buffer(2 * TOUCH).covers(box):
        raise Fault("covers the whole area; check its corners against [area].", *keys)
    return corners


def _read(
    setting: ObstacleSetting, key: str, coordinates: LocalCoordinates, area: Area, folder: Path | None
) -> tuple[list[Obstacle], list[str]]:
    """Return the obstacles of a file that lie in the area, and in words what of it was not used."""
    if folder is None:
        raise ValueError("is read beside a site file, and this text is none; give the corners instead.")
    path, box = folder / getattr(setting, key), shapely.box(*area[0], *area[1])
    if key == "map":
        pieces = rings(read_occupancy_map(path).area(setting.simplify))
        features = [[Obstacle(piece, setting.name, setting.attenuation, setting.height)] for piece in pieces]
    else:
        features = _read_features(path, coordinates, setting)

    def inside(pieces: list[Obstacle]) -> list[Obstacle]:
        shapes = [shapely.Polygon(piece.corners) for piece in pieces]
        areas = [shape.intersection(box).area for shape in shapes]
        return [piece for piece, part in zip(pieces, areas, strict=True) if part > MIN_POLYGON_M2]

    used = [inside(pieces) for pieces in features]
    if any(used):
        return [piece for pieces in used for piece in pieces], _unused(path, features, used)
    if key == "file" and any(map(inside, _swapped_features(path, coordinates, setting))):
        raise ValueError(
            f"latitude and longitude of {path.name} look swapped, as its polygons lie in the area the other "
            "way round: GeoJSON has longitude first."
        )
    number = sum(map(len, features))
    which = f"none of the {number:,} polygons of {path.name} lies"
    which = f"the polygon of {path.name} does not lie" if number == 1 else which
    raise ValueError(f"{which} in the area; check both.")


def _unused(path: Path, features: Sequence[list], used: Sequence[list]) -> list[str]:
    """Return how many features of a file were not used, in words; nothing where all were."""
    outside = sum(bool(pieces) and not own for pieces, own in zip(features, used, strict=True))
    others = {"outside the area": outside, "no polygon": sum(not pieces for pieces in features)}
    left = [f"{number:,} {why}" for why, number in others.items() if number]
    number = sum(map(bool, used))
    words = f"{number:,} of the {len(features):,} features of {path.name} used: {', '.join(left)}."
    return [words] if left else []


def read_obstacles(
    path: Path | str, coordinates: LocalCoordinates, setting: ObstacleSetting | None = None
) -> list[Obstacle]:
    """Return the polygons of a GeoJSON file in the metres of the coordinates.

    Name, height and attenuation are their properties, or else those of the setting. A ValueError in one line
    says what is wrong with the file.
    """
    return [piece for pieces in _read_features(Path(path), coordinates, setting) for piece in pieces]


def _read_features(
    path: Path,
    coordinates: LocalCoordinates,
    setting: ObstacleSetting | None,
    *,
    latitude_first: bool = False,
) -> list[list[Obstacle]]:
    """Return the polygons of each feature: none of one that is no area."""
    if not coordinates.is_geographic:
        raise ValueError("needs `origin = [latitude, longitude]` in [area], or an area in degrees.")
    simplify = 0.0 if setting is None else setting.simplify or 0.0
    usual = {} if setting is None else {name: getattr(setting, name) for name in _PROPERTIES}
    found: list[list[Obstacle]] = []
    for number, (shape, properties) in enumerate(_features(_read_json(path)), start=1):
        where = f"{path.name}, feature {number}"
        if shape is None:
            found.append([])
            continue
        given = {name: properties[name] for name in _PROPERTIES if properties.get(name) is not None}
        try:
            checked = ObstacleSetting.model_validate({**given, "corners": [[0, 0]]})
        except ValidationError as error:
            fault = first_fault(error, given)
            raise ValueError(f"{where}, {'.'.join(fault.keys)}: {fault}") from None
        kept = usual | {name: getattr(checked, name) for name in given}
        area = _in_metres(shape, coordinates, where, latitude_first=latitude_first).simplify(simplify)
        found.append([Obstacle(piece, **kept) for piece in rings(area)])
    if not any(found):
        raise ValueError(f"{path.name} has no polygons: give a GeoJSON file that has some.")
    return found


def _swapped_features(
    path: Path, coordinates: LocalCoordinates, setting: ObstacleSetting
) -> list[list[Obstacle]]:
    """Return the polygons with latitude before longitude; none where that cannot be."""
    try:
        return _read_features(path, coordinates, setting, latitude_first=True)
    except ValueError:
        return []


def _read_json(path: Path) -> Any:
    try:
        if path.stat().st_size > _MAX_FILE_SIZE:
            raise ValueError(
                f"{path.name} has more than {_MAX_FILE_SIZE:,} bytes: leave out what is far away."
            )
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError:
        raise ValueError(f"{path} does not exist: check the path, which begins at the site file.") from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(f"{path.name} is no GeoJSON file: export the polygons as GeoJSON.") from None


def _features(content: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the geometry of each feature, `None` where it is no area, with its properties."""
    kind = content.get("type") if isinstance(content, dict) else None
    if kind == "FeatureCollection":
        for feature in content.get("features") or ():
            yield from _features(feature)
    elif kind == "Feature":
        properties = content.get("properties")
        for shape, _ in _features(content.get("geometry")):
            yield shape, properties if isinstance(properties, dict) else {}
    else:
        yield content if kind in ("Polygon", "MultiPolygon") else None, {}


def _in_metres(
    shape: dict[str, Any], coordinates: LocalCoordinates, where: str, *, latitude_first: bool
) -> BaseGeometry:
    """Return a polygon in metres: longitude comes before latitude, a height after them does not count."""
    given: Any = shape.get("coordinates")
    north = 0 if latitude_first else 1
    try:
        polygons = [given] if shape["type"] == "Polygon" else given
        degrees = [
            [np.array([corner[:2] for corner in ring], np.float64) for ring in one] for one in polygons
        ]
        worst = [
            ring[np.argmax(np.abs(ring[:, north])), [north, 1 - north]] for one in degrees for ring in one
        ]
        metres = [
            [coordinates.to_metres(ring[:, north], ring[:, 1 - north]) for ring in one] for one in degrees
        ]
        parts = [shapely.Polygon(border, holes) for border, *holes in metres]
    except (TypeError, IndexError, KeyError, ValueError):
        words = f"{where}: the coordinates are not those of a polygon: {show(given)}."
        raise ValueError(words) from None
    for latitude, longitude in worst:
        _require_degrees(latitude, longitude, where)
    if not all(part.is_valid for part in parts):
        raise ValueError(f"{where}: the border crosses itself; correct it.")
    return shapely.union_all(parts)


def _require_degrees(latitude: float, longitude: float, where: str) -> None:
    try:
        require_degrees(latitude, longitude)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def rings(area: BaseGeometry) -> list[np.ndarray]:
    """Return polygons without holes (n, 2) that cover an area: one with a hole is cut in two through it."""
    found = []
    for part in shapely.get_parts(area):
        if part.geom_type != "Polygon" or part.area < MIN_POLYGON_M2:
            continue
        if len(part.interiors) == 0:
            found.append(shapely.get_coordinates(part.exterior)[:-1])
            continue
        west, south, east, north = part.bounds
        middle = part.interiors[0].centroid.x
        for box in (shapely.box(west, south, middle, north), shapely.box(middle, south, east, north)):
            found += rings(part.intersection(box))
    return found


def write_out(
    text: str, name: str, settings: Sequence[ObstacleSetting], obstacles: Sequence[Obstacle]
) -> str:
    """Return the text of a site with the corners of its obstacles instead of the files that have them.

    So it stands alone, in logs too. Every table is written out where one of them has a file.
    """
    if not any(setting.given("file", "map") for setting in settings):
        return text
    lines, tables = text.splitlines(), scan(name, text)
    for number in range(1, len(settings) + 1):
        first = tables["obstacle", str(number)] - 1
        if not re.match(r"\s*\[\[\s*obstacle\s*\]\]", lines[first]):
            raise Fault("must be written as [[obstacle]] where it has a file or map.", "obstacle")
        after = [
            at for at in range(first + 1, len(lines)) if re.match(r"\s*\[{1,2}\s*[A-Za-z_\"']", lines[at])
        ]
        for at in range(first, min(after, default=len(lines))):
            lines[at] = f"# {lines[at]}" if lines[at].strip() else lines[at]
    return "\n".join([*lines, *(line for obstacle in obstacles for line in _table(obstacle))]) + "\n"


def _table(obstacle: Obstacle) -> Iterator[str]:
    """Yield the lines of an obstacle."""
    yield "[[obstacle]]"
    yield f"name = {toml_value(obstacle.name)}"
    yield f"corners = {toml_value(obstacle.corners.tolist())}"
    if obstacle.height is not None:
        yield f"height = {toml_value(obstacle.height)}"
    yield f"attenuation = {toml_value(_plain(obstacle.attenuation))}"


def _plain(attenuation: Attenuation) -> Any:
    return attenuation.model_dump() if isinstance(attenuation, Section) else attenuation
