"""The places in a site file, in metres or in degrees: the area, the polygons, the start and the steps."""

import numpy as np

from dowsax.geo.local import Frame
from dowsax.geo.polygons import Bounds, signed_area
from dowsax.site.settings import Pair, StepSetting
from dowsax.site.site import Polygon
from dowsax.site.text import Keys

_BOX = ("south", "west", "north", "east")
_SOURCE = ("source_low", "source_high")
_WIDEST = 90.0
"""[degrees], a box that is wider has its east and west exchanged."""
Area = tuple[Pair, Pair]
_ELSEWHERE = 1e5
"""[m]: what is this far from the area, and a hundred times as far as it is wide, is not meant."""
MAX_POLYGONS, MAX_CORNERS, MAX_POINTS = 200, 2000, 2000
"""Areas of a geofence or of no-go areas, corners of these in all, and places to go."""
_FARTHEST = 1e6
"""[m]: beyond it single precision holds a position to a decimetre only."""


def area_of(top: Keys) -> tuple[Frame, Area, str, Area | None]:
    """The frame, the box in metres, what becomes of readings outside of it, and the part with the source."""
    keys = top.table("area", "low", "high", *_BOX, "origin", "outside", *_SOURCE)
    outside = keys.word("outside", "refuse", ("refuse", "leave-out", "allow"))
    origin = keys.pair("origin")
    if any(side in keys for side in _BOX):
        for key in ("low", "high"):
            if key in keys:
                raise keys.error(
                    key, f"give low and high in metres, or {', '.join(_BOX)} in degrees, not both."
                )
        frame, area = _box_in_degrees(keys, origin)
    else:
        keys.require("low", "high")
        frame = _frame(keys, "origin", origin)
        area = keys.pair("low") or (0.0, 0.0), keys.pair("high") or (0.0, 0.0)
        _require_box(keys, area)
    return frame, area, outside, _source(keys, area)


def _source(keys: Keys, area: Area) -> Area | None:
    """The part of the area in which the source lies, if given; a corner that is not given is the area's."""
    given = [keys.pair(key) for key in _SOURCE]
    if given == [None, None]:
        return None
    low, high = given[0] or area[0], given[1] or area[1]
    key = _SOURCE[given[1] is not None]
    if not (low[0] < high[0] and low[1] < high[1]):
        raise keys.error(
            key, f"encloses nothing: from {list(low)} to {list(high)}; give low and high corner."
        )
    if (np.clip((low, high), *area) != (low, high)).any():
        raise keys.error(key, "is outside the area; the source lies in a part of it.")
    return low, high


def _require_box(keys: Keys, area: Area) -> None:
    low, high = area
    if not (low[0] < high[0] and low[1] < high[1]):
        raise keys.error("high", f"must be east and north of low = {list(low)}; got {list(high)}.")
    if np.abs(area).max() > _FARTHEST:
        raise keys.error(
            "high",
            "lies more than 1000 km from (0, 0), too far for single precision; take a round number off x "
            "and y, or give the area in degrees.",
        )


def _box_in_degrees(keys: Keys, origin: Pair | None) -> tuple[Frame, Area]:
    """The box in metres that holds the box in degrees; the origin is its middle unless given."""
    keys.require(*_BOX)
    south, north = (keys.number(side, least=-90.0, most=90.0) or 0.0 for side in ("south", "north"))
    west, east = (keys.number(side, least=-180.0, most=180.0) or 0.0 for side in ("west", "east"))
    if not south < north:
        raise keys.error("north", f"must be above south = {south}; got {north}.")
    # Across the 180th meridian east is the smaller number.
    beyond = east if west < east else east + 360
    if not 0 < beyond - west < _WIDEST:
        raise keys.error("east", f"must be east of west = {west}; got {east}.")
    middle = (west + beyond) / 2
    middle = middle if middle <= 180 else middle - 360
    frame = _frame(keys, "south" if origin is None else "origin", origin or ((south + north) / 2, middle))
    # Of the edges in the plane, which are curved, the middle ones reach farthest.
    places = [(lat, lon) for lat in (south, (south + north) / 2, north) for lon in (west, middle, east)]
    metres = frame.to_metres(*np.transpose(places))
    low, high = metres.min(axis=0), metres.max(axis=0)
    area = (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))
    if np.abs(area).max() > _FARTHEST:
        words = "lies more than 1000 km from a corner of the area; give a nearer one, or a smaller area."
        raise keys.error("origin", words)
    return frame, area


def _frame(keys: Keys, key: str, origin: Pair | None) -> Frame:
    try:
        return Frame(origin)
    except ValueError as error:
        raise keys.error(key, str(error)) from None


def _places(keys: Keys, key: str, frame: Frame, area: Area) -> np.ndarray | None:
    """Places (k, 2) [m], given in metres under `key` or in degrees under `key`_degrees."""
    in_degrees = f"{key}_degrees"
    if in_degrees not in keys:
        places = keys.points(key)
        if places is not None:
            _require_metres(keys, key, frame, area, places)
        return places
    if key in keys:
        raise keys.error(key, f"give {key} in metres or {in_degrees}, not both.")
    degrees = keys.points(in_degrees)
    if not frame.is_geographic:
        raise keys.error(
            in_degrees, "needs `origin = [latitude, longitude]` in [area], or an area in degrees."
        )
    for place in [] if degrees is None else degrees:
        _frame(keys, in_degrees, (float(place[0]), float(place[1])))
    if degrees is None or len(degrees) == 0:
        return degrees
    _require_near(keys, in_degrees, frame, area, degrees)
    return frame.to_metres(*degrees.T)


def _require_metres(keys: Keys, key: str, frame: Frame, area: Area, places: np.ndarray) -> None:
    """An error where places that are said to be in metres are those of the area in degrees.

    That metres are by chance the latitude and longitude of the site to within its own size is next to
    impossible.
    """
    if not frame.is_geographic or len(places) == 0 or not np.all(np.abs(places) <= 180):
        return
    latitudes, longitudes = places.T
    ordered = _around(area, frame.to_metres(latitudes, longitudes)) and np.all(np.abs(latitudes) <= 90)
    swapped = _around(area, frame.to_metres(longitudes, latitudes)) and np.all(np.abs(longitudes) <= 90)
    if ordered or swapped:
        first = "" if ordered else ", latitude first"
        raise keys.error(key, f"these are degrees, not metres: write {key}_degrees instead{first}.")


def _require_near(keys: Keys, key: str, frame: Frame, area: Area, degrees: np.ndarray) -> None:
    """An error where places in degrees are nowhere near the area."""
    metres, sides = frame.to_metres(*degrees.T), np.subtract(area[1], area[0])
    away = np.linalg.norm(metres - np.mean(area, axis=0), axis=1).max()
    if away <= max(_ELSEWHERE, 100 * float(np.hypot(*sides))):
        return
    swapped = np.all(np.abs(degrees[:, 1]) <= 90) and _around(area, frame.to_metres(*degrees.T[::-1]))
    hint = "exchange the two numbers of each, latitude first" if swapped else "give latitude and longitude"
    metres_hint = "" if swapped else f", or write {key.removesuffix('_degrees')} where they are metres"
    raise keys.error(key, f"lies {away / 1000:,.0f} km from the area; {hint}{metres_hint}.")


def _around(area: Area, places: np.ndarray) -> bool:
    """Whether all places lie in the area, or no farther off than it is wide."""
    low, high = np.array(area)
    return bool(np.all((places >= 2 * low - high) & (places <= 2 * high - low)))


def polygons(top: Keys, key: str, frame: Frame, area: Area) -> tuple[Polygon, ...]:
    tables = top.tables(key, "name", "corners", "corners_degrees")
    if len(tables) > MAX_POLYGONS:
        raise top.error(key, f"{len(tables):,} areas; at most {MAX_POLYGONS} may be given: join some.")
    found, count = [], 0
    for keys in tables:
        corners_key, corners = _corners(keys, frame, area)
        count += len(corners)
        if count > MAX_CORNERS:
            words = f"{count:,} corners; all areas of [[{key}]] may have {MAX_CORNERS:,} together: use fewer."
            raise keys.error(corners_key, words)
        found.append(_polygon(keys, corners_key, corners))
    return tuple(found)


def _corners(keys: Keys, frame: Frame, area: Area) -> tuple[str, Polygon]:
    """The key under which the corners stand, and the corners as they are given."""
    keys.text("name", "")
    key = "corners_degrees" if "corners_degrees" in keys else "corners"
    keys.require(key)
    corners = _places(keys, "corners", frame, area)
    assert corners is not None
    return key, corners


def _polygon(keys: Keys, key: str, corners: Polygon) -> Polygon:
    if len(corners) > 1 and np.allclose(corners[0], corners[-1], rtol=0, atol=1e-6):
        corners = corners[:-1]
    if len(corners) < 3:
        raise keys.error(key, f"must have at least 3 corners; got {len(corners)}.")
    if _crosses_itself(corners):
        raise keys.error(key, "the border crosses itself; give the corners in order, one way round.")
    if abs(signed_area(corners)) < 1e-6:
        raise keys.error(key, "encloses no area; give the corners of an area.")
    return corners


def _crosses_itself(corners: Polygon) -> bool:
    """Whether two sides that are no neighbours meet."""
    ends = np.roll(corners, -1, axis=0)

    def turns(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> np.ndarray:
        way, to_point = end - start, point - start
        return np.sign(way[..., 0] * to_point[..., 1] - way[..., 1] * to_point[..., 0])

    for side in range(len(corners) - 2):
        start, end = corners[side], ends[side]
        others = slice(side + 2, len(corners) - (side == 0))
        starts, stops = corners[others], ends[others]
        splits = turns(start, end, starts) * turns(start, end, stops)
        split = turns(starts, stops, start) * turns(starts, stops, end)
        if ((splits < 0) & (split < 0)).any():
            return True
    return False


def start(top: Keys, frame: Frame, bounds: Bounds, area: Area, outside: str) -> Pair | None:
    """Where a search starts: where one may be, and in the area unless readings outside are allowed."""
    keys = top.table("start", "position", "position_degrees")
    key = "position_degrees" if "position_degrees" in keys else "position"
    if key not in keys:
        return None
    if "position" in keys and key != "position":
        raise keys.error(key, "give position in metres or position_degrees, not both.")
    x, y = keys.pair(key) or (0.0, 0.0)
    if key == "position_degrees":
        if not frame.is_geographic:
            raise keys.error(key, "needs `origin = [latitude, longitude]` in [area], or an area in degrees.")
        _frame(keys, key, (x, y))
        _require_near(keys, key, frame, area, np.array([[x, y]]))
        x, y = (float(number) for number in frame.to_metres(x, y)[0])
    else:
        _require_metres(keys, key, frame, area, np.array([[x, y]]))
    words = frame.words((x, y))
    if not bounds.allow(np.array([[x, y]])).all():
        raise keys.error(key, f"{words} is outside the geofence or in a no-go area; start elsewhere.")
    if outside != "allow" and (np.clip((x, y), *area) != (x, y)).any():
        raise keys.error(
            key, f'{words} is outside the area; start inside it, or set outside = "allow" in [area].'
        )
    return x, y


def step(top: Keys, frame: Frame, area: Area) -> StepSetting:
    keys = top.table("step", "length", "directions", "points", "points_degrees")
    points = _places(keys, "points", frame, area)
    if points is not None and len(points) == 0:
        raise keys.error("points", "must name at least one place; leave the key out to go anywhere.")
    if points is not None and len(points) > MAX_POINTS:
        raise keys.error("points", f"{len(points):,} places; at most {MAX_POINTS:,} may be given.")
    for key in () if points is None else ("length", "directions"):
        if key in keys:
            raise keys.error(
                key, "is for steps of one length, and points are the only places; leave one out."
            )
    return StepSetting(keys.number("length", above=0.0), keys.whole("directions", 8, least=3) or 8, points)
