"""From a site file to a Site: text → schema → places in metres → checks → model."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import TOUCH
from dowsax.geo.wind import wind_from
from dowsax.site.area import BOX, AreaSetting, ListedPath, PathSetting
from dowsax.site.checks import check_polygons, check_site
from dowsax.site.kinds import KINDS, check_prior, why_unused
from dowsax.site.measured import quantity_fault
from dowsax.site.obstacles import Area, Corner
from dowsax.site.places import coordinates_at, resolve_map, resolve_places, resolve_polygons
from dowsax.site.read_obstacles import resolve_obstacles, write_out
from dowsax.site.read_searchers import resolve_searchers
from dowsax.site.schema import (
    SensorSetting,
    SiteFile,
    StartSetting,
    StepSetting,
    WindSetting,
)
from dowsax.site.section import Distribution
from dowsax.site.site import Site, build_model
from dowsax.site.text import Fault, add_line, first_fault, parse_toml, read_text
from dowsax.site.units import known_unit
from dowsax.world.fields.gaussian_plume import BRIGGS
from dowsax.world.several_columns import numbers_of_sources

_MAX_WIDTH_DEG = 90.0
"""A box that is wider has its east and west exchanged."""
_MIN_PATH_M = 0.01
"""A path that is shorter is a point."""
_MAX_COORDINATE_M = 1e6
"""Beyond it single precision holds a position to a decimetre only."""


def read_site(path: Path | str) -> Site:
    """Return the site in a TOML file, or raise a ValueError in one line: file, line, key and what to do."""
    return parse_site(read_text(Path(path)), str(path), Path(path).parent)


def parse_site(text: str, name: str = "site.toml", folder: Path | None = None) -> Site:
    """Return the site that a text describes; `name` is that of the file in errors.

    Obstacles may be in files of the folder; without one, such files are refused.
    """
    table = parse_toml(text, name)
    try:
        file = SiteFile.model_validate(table)
        refuse_unused(table, file.field.kind, file.sensor.reading)
        site = _build(file, text, name, folder)
        check_site(site)
    except ValidationError as error:
        raise add_line(first_fault(error, table), name, text) from None
    except Fault as fault:
        raise add_line(fault, name, text) from None
    # What the physics refuses is an error now, and not after the flight.
    build_model(site, ("one", "other"))
    return site


def _build(file: SiteFile, text: str, name: str, folder: Path | None) -> Site:
    """Return the site of a file, with all places in metres."""
    kind = file.field.kind
    coordinates, area = resolve_area(file.area)
    unit = _resolve_unit(file.field.unit, kind)
    growth: dict[str, Distribution] = {}
    if file.field.growth == "unknown":
        growth = dict.fromkeys(BRIGGS, "unknown")
    sensor, sensors = _resolve_sensors(file, unit)
    obstacles, notes = resolve_obstacles(file.obstacle, coordinates, area, folder)
    site = Site(
        name=file.name,
        coordinates=coordinates,
        area=area,
        kind=kind,
        sources=numbers_of_sources(file.sources),
        unit=unit if file.sensor.reading == "value" else "",
        field_unit=unit,
        source=_resolve_source(file.area, area),
        gas=file.field.gas,
        options={option: getattr(file.field, option) for option in file.field.given(*KINDS[kind].options)},
        geofence=resolve_polygons(file.geofence, "geofence", coordinates, area),
        no_go=resolve_polygons(file.no_go, "no_go", coordinates, area),
        obstacles=obstacles,
        map=resolve_map(file.map, coordinates, area),
        paths=_resolve_paths(file.paths, coordinates, area, file.area.outside),
        prior={**growth, **check_prior(file.prior, kind, unit, file.wind.mode == "unknown")},
        wind=_resolve_wind(file.wind),
        sensor=sensor,
        sensors=sensors,
        step=_resolve_step(file.step, coordinates, area),
        search=file.search,
        outside=file.area.outside,
        columns=file.columns.model_dump(exclude_unset=True),
        notes=notes,
        file=name,
        text=write_out(text, name, file.obstacle, obstacles),
        **{same: getattr(file, same) for same in ("background", "noise", "budget", "flight", "rows")},
    )
    # First the polygons: where these are wrong, so is every start.
    check_polygons(site)
    site = replace(site, start=_resolve_start(file.start, site))
    return replace(site, searchers=resolve_searchers(file.searcher, site))


def refuse_unused(table: dict[str, Any], kind: str, reading: str) -> None:
    """Raise a Fault for the first key that has no effect for the kind and its type of reading."""
    for name, section in table.items():
        if name == "paths" and (words := why_unused(kind, name, "ends")) is not None:
            raise Fault(words, name, "1")
        for keys in _keys_of(name, section):
            words = why_unused(kind, name, keys[-1], reading)
            if words is not None:
                raise Fault(words, name, *keys)


def _keys_of(name: str, section: Any) -> list[tuple[str, ...]]:
    """Return the keys of a table; of [sensors] those of each sensor, of a list those of each entry."""
    if name in ("obstacle", "searcher"):
        return [(str(number + 1), key) for number, entry in enumerate(section) for key in entry]
    if not isinstance(section, dict):
        return []
    if name != "sensors":
        return [(key,) for key in section]
    return [(sensor, key) for sensor, constants in section.items() for key in constants]


def _resolve_sensors(file: SiteFile, unit: str) -> tuple[SensorSetting, dict[str, dict[str, float]]]:
    """Return the sensor with the names of all sensors, and what is known of each."""
    names = file.sensor.names
    constants = {name: entry.model_dump(exclude_none=True) for name, entry in file.sensors.items()}
    for name, known in constants.items():
        if names and name not in names:
            raise Fault(f"is none of `names` in [sensor], {', '.join(names)}; add it there.", "sensors", name)
        if "background" in known and file.background.mode not in ("usual", "measured"):
            words = f'is known here, and "{file.background.mode}" in [background]; leave one out.'
            raise Fault(words, "sensors", name, "background")
        if "heading" in known and file.sensor.beam is None:
            raise Fault("needs the `beam` of the antenna in [sensor].", "sensors", name, "heading")
        for quantity, number in known.items():
            if (words := quantity_fault(quantity, number, unit)) is not None:
                raise Fault(words, "sensors", name, quantity)
    known = {name for name, entry in constants.items() if "background" in entry}
    without = [name for name in names or constants if name not in known]
    if known and without and file.background.mode != "measured":
        words = f"the background of {without[0]!r} is missing; give it for every sensor, or for none, or set "
        raise Fault(f'{words}mode = "measured" in [background].', "sensors", min(known), "background")
    return file.sensor.model_copy(update={"names": names or tuple(constants)}), constants


def _resolve_unit(given: str | None, kind: str) -> str:
    """Return the unit of the readings, one that the kind can be read in."""
    unit = KINDS[kind].unit if given is None else known_unit(given) or given
    if unit not in KINDS[kind].units:
        known = " or ".join(map(repr, KINDS[kind].units))
        raise Fault(f"{kind} is read in {known}; got {given!r}.", "field", "unit")
    return unit


def _resolve_wind(wind: WindSetting) -> WindSetting:
    """Return the wind with its velocity, and with an error of the direction only where it is measured."""
    if wind.mode == "measured":
        return wind
    velocity = wind.velocity
    if wind.speed is not None and wind.from_ is not None:
        east, north = wind_from(wind.speed, wind.from_)
        velocity = float(east), float(north)
    return wind.model_copy(update={"velocity": velocity, "direction_error": 0.0})


def resolve_area(area: AreaSetting) -> tuple[LocalCoordinates, Area]:
    """Return the local coordinates and the box in metres."""
    if area.south is not None:
        return _resolve_degrees(area)
    coordinates = coordinates_at(area.origin, "area", "origin")
    assert area.low is not None
    assert area.high is not None
    if not (area.low[0] < area.high[0] and area.low[1] < area.high[1]):
        words = f"must be east and north of low = {list(area.low)}; got {list(area.high)}."
        raise Fault(words, "area", "high")
    if np.abs((area.low, area.high)).max() > _MAX_COORDINATE_M:
        words = "lies more than 1000 km from (0, 0), too far for single precision; take a round number off x "
        raise Fault(f"{words}and y, or give the area in degrees.", "area", "high")
    return coordinates, (area.low, area.high)


def _resolve_degrees(area: AreaSetting) -> tuple[LocalCoordinates, Area]:
    """Return the box in metres that holds the box in degrees; the default origin is its middle."""
    south, west, north, east = (getattr(area, side) for side in BOX)
    if not south < north:
        raise Fault(f"must be above south = {south}; got {north}.", "area", "north")
    # Across the 180th meridian east is the smaller number.
    beyond = east if west < east else east + 360
    if not 0 < beyond - west < _MAX_WIDTH_DEG:
        raise Fault(f"must be east of west = {west}; got {east}.", "area", "east")
    middle = (west + beyond) / 2
    middle = middle if middle <= 180 else middle - 360
    origin = area.origin or ((south + north) / 2, middle)
    coordinates = coordinates_at(origin, "area", "south" if area.origin is None else "origin")
    # Of the edges in the plane, which are curved, the middle ones reach farthest.
    places = [(lat, lon) for lat in (south, (south + north) / 2, north) for lon in (west, middle, east)]
    metres = coordinates.to_metres(*np.transpose(places))
    if np.abs(metres).max() > _MAX_COORDINATE_M:
        words = "lies more than 1000 km from a corner of the area; give a nearer one, or a smaller area."
        raise Fault(words, "area", "origin")
    (x_low, y_low), (x_high, y_high) = metres.min(axis=0).tolist(), metres.max(axis=0).tolist()
    return coordinates, ((x_low, y_low), (x_high, y_high))


def _resolve_source(setting: AreaSetting, area: Area) -> Area | None:
    """Return the part of the area in which the source lies, where the site file has one."""
    given = setting.given("source_low", "source_high")
    if not given:
        return None
    low, high = setting.source_low or area[0], setting.source_high or area[1]
    if not (low[0] < high[0] and low[1] < high[1]):
        words = f"encloses nothing: from {list(low)} to {list(high)}; give low and high corner."
        raise Fault(words, "area", given[-1])
    if (np.clip((low, high), *area) != (low, high)).any():
        raise Fault("is outside the area; the source lies in a part of it.", "area", given[-1])
    return low, high


def _resolve_paths(
    paths: Sequence[PathSetting], coordinates: LocalCoordinates, area: Area, outside: str
) -> tuple[ListedPath, ...]:
    """Return the paths with their ends in metres.

    Names must differ, no path may be a point, and none may leave the area unless `outside` is "allow".
    """
    resolved: dict[str, ListedPath] = {}
    for number, path in enumerate(paths, start=1):
        key, ends = resolve_places(path, "ends", coordinates, area, "paths", str(number))
        assert ends is not None
        if len(ends) != 2 or math.dist(*ends) < _MIN_PATH_M:
            words = f"must be two different places, [[1, 2], [3, 4]]; got {len(ends)}, or one place twice."
            raise Fault(words, "paths", str(number), key)
        if outside != "allow" and np.abs(np.clip(ends, *area) - ends).max() > TOUCH:
            words = f'{path.name!r} is outside the area; widen it, or set outside = "allow" in [area].'
            raise Fault(words, "paths", str(number), key)
        if path.name in resolved or not path.name.strip():
            words = f"must be a name that no other path has; got {path.name!r}."
            raise Fault(words, "paths", str(number), "name")
        (x1, y1), (x2, y2) = ends.tolist()
        resolved[path.name] = ListedPath(path.name, ((x1, y1), (x2, y2)), path.height)
    return tuple(resolved.values())


def _resolve_start(setting: StartSetting, site: Site) -> Corner | None:
    """Return where the search starts: inside the area unless readings outside it are allowed."""
    key, places = resolve_places(setting, "position", site.coordinates, site.area, "start")
    if places is None:
        return None
    x, y = places[0].tolist()
    words = site.coordinates.format_both((x, y))
    if site.outside != "allow" and (np.clip((x, y), *site.area) != (x, y)).any():
        words += ' is outside the area; start inside it, or set outside = "allow" in [area].'
        raise Fault(words, "start", key)
    if not site.bounds.allow(places).all():
        number = next((n for n, obstacle in enumerate(site.obstacles) if obstacle.covers((x, y))), None)
        where = "outside the geofence or in a no-go area"
        if number is not None:
            where = f"in the obstacle {site.obstacles[number].title(number)}"
        raise Fault(f"{words} is {where}; start elsewhere.", "start", key)
    return x, y


def _resolve_step(setting: StepSetting, coordinates: LocalCoordinates, area: Area) -> StepSetting:
    """Return the setting with its places in metres."""
    _, points = resolve_places(setting, "points", coordinates, area, "step")
    return setting.model_copy(update={"points": points, "points_degrees": None})
