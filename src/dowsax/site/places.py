"""The places in a site file, in metres or in degrees: the area, the polygons, the start and the steps."""

from collections.abc import Sequence

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import Bounds, Polygon, crosses_itself, signed_area
from dowsax.site.errors import Fault
from dowsax.site.schema import BOX, MAX_CORNERS, AreaSetting, PolygonSetting, StartSetting, StepSetting

Corner = tuple[float, float]
Area = tuple[Corner, Corner]
"""[m], the south-western and the north-eastern corner."""
_MAX_WIDTH_DEG = 90.0
"""A box that is wider has its east and west exchanged."""
_MAX_OFFSET_M = 1e5
"""What is this far from the area, and a hundred times as far as it is wide, is not meant."""
_MAX_COORDINATE_M = 1e6
"""Beyond it single precision holds a position to a decimetre only."""


def resolve_area(area: AreaSetting) -> tuple[LocalCoordinates, Area]:
    """Return the local coordinates and the box in metres."""
    if area.south is not None:
        return _resolve_degrees(area)
    coordinates = _frame(area.origin, "area", "origin")
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
    """Return the box in metres that holds the box in degrees; the origin is its middle unless given."""
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
    coordinates = _frame(origin, "area", "south" if area.origin is None else "origin")
    # Of the edges in the plane, which are curved, the middle ones reach farthest.
    places = [(lat, lon) for lat in (south, (south + north) / 2, north) for lon in (west, middle, east)]
    metres = coordinates.to_metres(*np.transpose(places))
    if np.abs(metres).max() > _MAX_COORDINATE_M:
        words = "lies more than 1000 km from a corner of the area; give a nearer one, or a smaller area."
        raise Fault(words, "area", "origin")
    (x_low, y_low), (x_high, y_high) = metres.min(axis=0).tolist(), metres.max(axis=0).tolist()
    return coordinates, ((x_low, y_low), (x_high, y_high))


def resolve_source(setting: AreaSetting, area: Area) -> Area | None:
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


def _frame(origin: Corner | None, *keys: str) -> LocalCoordinates:
    try:
        return LocalCoordinates(origin)
    except ValueError as error:
        raise Fault(str(error), *keys) from None


def _resolve(
    setting: PolygonSetting | StartSetting | StepSetting,
    key: str,
    coordinates: LocalCoordinates,
    area: Area,
    *table: str,
) -> tuple[str, np.ndarray | None]:
    """Return the key of the places, `key` in metres or `key`_degrees, and the places (k, 2) in metres."""
    given = setting.given(key, f"{key}_degrees")
    if not given:
        return key, None
    if len(given) == 2:
        raise Fault(f"give {key} in metres or {key}_degrees, not both.", *table, key)
    places = np.reshape(getattr(setting, given[0]), (-1, 2))
    if given[0] == key:
        _require_metres(places, coordinates, area, *table, key)
        return key, places
    if not coordinates.is_geographic:
        words = "needs `origin = [latitude, longitude]` in [area], or an area in degrees."
        raise Fault(words, *table, given[0])
    for latitude, longitude in places.tolist():
        _frame((latitude, longitude), *table, given[0])
    if len(places):
        _require_near(places, coordinates, area, *table, given[0])
    return given[0], coordinates.to_metres(*places.T)


def _require_metres(places: np.ndarray, coordinates: LocalCoordinates, area: Area, *keys: str) -> None:
    """Raise a Fault where places that are said to be in metres are those of the area in degrees.

    That metres are by chance the latitude and longitude of the site to within its own size is next to
    impossible.
    """
    if not coordinates.is_geographic or len(places) == 0 or not np.all(np.abs(places) <= 180):
        return
    latitudes, longitudes = places.T
    ordered = _is_around(area, coordinates.to_metres(latitudes, longitudes)) and np.all(
        np.abs(latitudes) <= 90
    )
    swapped = _is_around(area, coordinates.to_metres(longitudes, latitudes)) and np.all(
        np.abs(longitudes) <= 90
    )
    if ordered or swapped:
        first = "" if ordered else ", latitude first"
        raise Fault(f"these are degrees, not metres: write {keys[-1]}_degrees instead{first}.", *keys)


def _require_near(degrees: np.ndarray, coordinates: LocalCoordinates, area: Area, *keys: str) -> None:
    """Raise a Fault where places in degrees are nowhere near the area."""
    metres, sides = coordinates.to_metres(*degrees.T), np.subtract(area[1], area[0])
    away = np.linalg.norm(metres - np.mean(area, axis=0), axis=1).max()
    if away <= max(_MAX_OFFSET_M, 100 * float(np.hypot(*sides))):
        return
    swapped = np.all(np.abs(degrees[:, 1]) <= 90) and _is_around(
        area, coordinates.to_metres(*degrees.T[::-1])
    )
    hint = "exchange the two numbers of each, latitude first" if swapped else "give latitude and longitude"
    metres_hint = "" if swapped else f", or write {keys[-1].removesuffix('_degrees')} where they are metres"
    raise Fault(f"lies {away / 1000:,.0f} km from the area; {hint}{metres_hint}.", *keys)


def _is_around(area: Area, places: np.ndarray) -> bool:
    """Return whether all places lie in the area, or no farther off than it is wide."""
    low, high = np.array(area)
    return bool(np.all((places >= 2 * low - high) & (places <= 2 * high - low)))


def resolve_polygons(
    polygons: Sequence[PolygonSetting], name: str, coordinates: LocalCoordinates, area: Area
) -> tuple[Polygon, ...]:
    """Return the corners of each polygon in metres; `name` is that of the list in the site file."""
    resolved, count = [], 0
    for number, polygon in enumerate(polygons, start=1):
        key, corners = _resolve(polygon, "corners", coordinates, area, name, str(number))
        assert corners is not None
        count += len(corners)
        if count > MAX_CORNERS:
            words = f"all polygons of [[{name}]] must have at most {MAX_CORNERS:,} corners; got {count:,}."
            raise Fault(words, name, str(number), key)
        resolved.append(_check_polygon(corners, name, str(number), key))
    return tuple(resolved)


def _check_polygon(corners: Polygon, *keys: str) -> Polygon:
    if len(corners) > 1 and np.allclose(corners[0], corners[-1], rtol=0, atol=1e-6):
        corners = corners[:-1]
    if len(corners) < 3:
        raise Fault(f"must have at least 3 corners; got {len(corners)}.", *keys)
    if crosses_itself(corners):
        raise Fault("the border crosses itself; give the corners in order, one way round.", *keys)
    if abs(signed_area(corners)) < 1e-6:
        raise Fault("encloses no area; give the corners of an area.", *keys)
    return corners


def resolve_start(
    setting: StartSetting, coordinates: LocalCoordinates, area: Area, bounds: Bounds, outside: str
) -> Corner | None:
    """Return where the search starts: inside the area unless readings outside it are allowed."""
    key, places = _resolve(setting, "position", coordinates, area, "start")
    if places is None:
        return None
    x, y = places[0].tolist()
    words = coordinates.format_position((x, y))
    if not bounds.allow(places).all():
        words += " is outside the geofence or in a no-go area; start elsewhere."
        raise Fault(words, "start", key)
    if outside != "allow" and (np.clip((x, y), *area) != (x, y)).any():
        words += ' is outside the area; start inside it, or set outside = "allow" in [area].'
        raise Fault(words, "start", key)
    return x, y


def resolve_step(setting: StepSetting, coordinates: LocalCoordinates, area: Area) -> StepSetting:
    """Return the setting with its places in metres."""
    _, points = _resolve(setting, "points", coordinates, area, "step")
    return setting.model_copy(update={"points": points, "points_degrees": None})
