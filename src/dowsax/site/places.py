"""Places and polygons of a site file, in metres or degrees, checked and in metres."""

from collections.abc import Sequence

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import MIN_POLYGON_M2, Polygon, crosses_itself, signed_area
from dowsax.site.area import (
    MAX_CORNERS,
    MapImage,
    MapSetting,
    ObstacleSetting,
    PathSetting,
    PolygonSetting,
)
from dowsax.site.obstacles import Area, Corner
from dowsax.site.schema import StartSetting, StepSetting
from dowsax.site.searcher import SearcherSetting
from dowsax.site.text import Fault

_MAX_OFFSET_M = 1e5
"""What is this far from the area, and a hundred times as far as it is wide, is not meant."""


def coordinates_at(origin: Corner | None, *keys: str) -> LocalCoordinates:
    """Return the local coordinates of an origin, or raise a Fault."""
    try:
        return LocalCoordinates(origin)
    except ValueError as error:
        raise Fault(str(error), *keys) from None


def resolve_places(
    setting: MapSetting
    | PathSetting
    | PolygonSetting
    | ObstacleSetting
    | StartSetting
    | StepSetting
    | SearcherSetting,
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
        coordinates_at((latitude, longitude), *table, given[0])
    if len(places):
        _require_near(places, coordinates, area, *table, given[0])
    return given[0], coordinates.to_metres(*places.T)


def _require_metres(places: np.ndarray, coordinates: LocalCoordinates, area: Area, *keys: str) -> None:
    """Raise a Fault where places in metres are those of the area in degrees.

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
        key, corners = resolve_places(polygon, "corners", coordinates, area, name, str(number))
        assert corners is not None
        count += len(corners)
        if count > MAX_CORNERS:
            words = f"all polygons of [[{name}]] must have at most {MAX_CORNERS:,} corners; got {count:,}."
            raise Fault(words, name, str(number), key)
        resolved.append(check_polygon(corners, name, str(number), key))
    return tuple(resolved)


def resolve_map(setting: MapSetting, coordinates: LocalCoordinates, area: Area) -> MapImage | None:
    """Return the picture behind the map, with its four corners in metres where the site file has them."""
    image = setting.image
    if image is None:
        return None
    if len(given := setting.given("corners", "corners_degrees")) == 1:
        # Of two corners the others follow: in degrees, as a box of these is none in metres.
        corners = getattr(setting, given[0])
        if len(corners) == 2:
            (south, west), (north, east) = corners if given[0] == "corners_degrees" else corners[:, ::-1]
            four = np.array([[north, west], [north, east], [south, east], [south, west]])
            corners = four if given[0] == "corners_degrees" else four[:, ::-1]
            setting = setting.model_copy(update={given[0]: corners})
    key, places = resolve_places(setting, "corners", coordinates, area, "map")
    if places is not None and len(places) != 4:
        raise Fault(f"must be two corners, or four; got {len(places)}.", "map", key)
    if places is not None and (words := image_fault(places)) is not None:
        raise Fault(words, "map", key)
    return MapImage(image, places)


_MAX_BEND = 0.02
"""Of the diagonal: how far four corners may be from a parallelogram, as they are in most projections."""


def image_fault(corners: np.ndarray) -> str | None:
    """Return what is wrong with the four corners (4, 2) [m] of a picture; `None` where nothing is."""
    top_left, top_right, bottom_right, bottom_left = corners
    across, down = top_right - top_left, bottom_left - top_left
    diagonal = float(np.linalg.norm(bottom_right - top_left))
    size = float(across[1] * down[0] - across[0] * down[1])
    if abs(size) < MIN_POLYGON_M2:
        return "encloses no area; give different corners."
    if size < 0:
        return (
            "is the wrong way round: give the south-western and the north-eastern corner, or top left, "
            "top right, bottom right and bottom left."
        )
    if np.linalg.norm(top_left + across + down - bottom_right) > _MAX_BEND * diagonal:
        return "is no parallelogram: give top left, top right, bottom right, bottom left of a flat picture."
    return None


def check_polygon(corners: Polygon, *keys: str) -> Polygon:
    """Return the corners without the first at the end, or raise a Fault."""
    if len(corners) > 1 and np.allclose(corners[0], corners[-1], rtol=0, atol=1e-6):
        corners = corners[:-1]
    if len(corners) < 3:
        raise Fault(f"must have at least 3 different corners; got {len(corners)}.", *keys)
    if crosses_itself(corners):
        raise Fault("the border crosses itself; give the corners in order, one way round.", *keys)
    if abs(signed_area(corners)) < MIN_POLYGON_M2:
        raise Fault("encloses no area; give the corners of an area.", *keys)
    return corners
