"""Where a flight may be: the site's geometry at each height, the limits of `[flight]`, and ways within them.

There are two sets of bounds at each height. The site's own are never left. The clear ones are narrower by the
clearance of `[flight]`: places and ways are chosen within these, so that wind and rounding stay harmless.
"""

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import shapely
from shapely.geometry.base import BaseGeometry

from dowsax.geo.formatting import format_length
from dowsax.geo.polygons import Bounds, Polygon
from dowsax.geo.ways import union
from dowsax.mission.plan import Plan
from dowsax.mission.reach import Level
from dowsax.site.flight import FlightSetting
from dowsax.site.obstacles import Obstacle
from dowsax.site.site import Site

Place = tuple[float, float]
"""[m], east and north."""
SAME_HEIGHT_M = 1.0
"""[m], by which a vehicle may be off its height."""
_MAX_MOVED = 2.0
"""Clearances by which a place is moved to be clear: a little more than in the corner of a square."""
_RANGE_CORNERS = 64
_MITRE_LIMIT = 10.0


@dataclass(frozen=True)
class Waypoint:
    """A place with its height above the place of take-off."""

    place: Place
    height: float
    """[m]"""


@dataclass(frozen=True)
class Forbidden:
    """Why a waypoint is refused."""

    reason: str


@dataclass(frozen=True, eq=False)
class Airspace:
    """The geometry of a site and the limits of its flights."""

    fence: BaseGeometry
    """[m], the geofence within the area, or the area where there is none."""
    no_go: tuple[Polygon, ...]
    obstacles: tuple[Obstacle, ...]
    limits: FlightSetting
    height: float
    """[m], at which a flight goes where advice has no height."""
    heights: tuple[float, ...]
    """[m], all at which places are chosen."""
    _known: dict[tuple[bool, tuple[int, ...]], Bounds] = field(default_factory=dict)

    @classmethod
    def of(cls, site: Site) -> "Airspace":
        """Return the airspace of a site; a ValueError says why nothing can fly there."""
        if not site.coordinates.is_geographic:
            raise ValueError(
                f"{site.file}: a flight needs latitude and longitude: give `origin` of (0, 0) in [area]."
            )
        if site.paths or site.searchers:
            what = "[[paths]]" if site.paths else "[[searcher]]"
            raise ValueError(f"{site.file}: `dowsax fly` flies one vehicle from place to place: no {what}.")
        limits, height = site.flight, site.flight.height_for(site.sensor.height)
        heights = site.heights or (height,)
        for one in heights:
            if not limits.lowest <= one <= limits.highest:
                raise ValueError(
                    f"{site.file}: a height of {one:g} m is not from lowest = {limits.lowest:g} to highest = "
                    f"{limits.highest:g} m in [flight]: change one of them."
                )
        found = cls(_fence(site), site.no_go, site.obstacles, limits, height, heights)
        for one in heights:
            if _widen(found.fence, -limits.clearance).is_empty or len(found.clear(one).space.parts) == 0:
                raise ValueError(
                    f"{site.file}: with a clearance of {limits.clearance:g} m nothing of the geofence is "
                    f"left {one:g} m up: lower `clearance` in [flight]."
                )
        return found

    def plan(self, plan: Plan) -> Plan:
        """Return the plan of a mission with clear places, and the speed and stays of its flight."""
        levels = tuple(Level(level.height, self.clear(level.height)) for level in plan.reach.levels)
        stay = plan.reach.reading_time if self.limits.hold is None else self.limits.hold
        reach = replace(plan.reach, speed=self.limits.speed, reading_time=stay)
        return replace(plan, reach=replace(reach, bounds=self.clear(self.height), levels=levels))

    def hard(self, height: float) -> Bounds:
        """Return the bounds of the site at a height [m], which no flight leaves."""
        return self._bounds(height, is_clear=False)

    def clear(self, height: float) -> Bounds:
        """Return the bounds at a height [m] in which places and ways are chosen."""
        return self._bounds(height, is_clear=True)

    def _bounds(self, height: float, *, is_clear: bool) -> Bounds:
        over = height - (self.limits.clearance if is_clear else 0.0)
        standing = tuple(number for number, one in enumerate(self.obstacles) if one.stops(over))
        key = is_clear, standing
        if key not in self._known:
            clearance = self.limits.clearance if is_clear else 0.0
            solid = union((*self.no_go, *(self.obstacles[number].corners for number in standing)))
            self._known[key] = _bounds_of(_widen(self.fence, -clearance), _widen(solid, clearance))
        return self._known[key]

    def refuse(self, there: Waypoint, here: Waypoint, home: Place) -> Forbidden | None:
        """Return why the vehicle may not be sent to a waypoint; `None` where it may be.

        The straight way there is checked at the lower of the two heights. Wind may have carried the vehicle
        out of the bounds: then the way is checked from the nearest place inside.
        """
        if not all(map(math.isfinite, (*there.place, there.height, *here.place, here.height))):
            return Forbidden("it is no place: a number is missing")
        if not self.limits.lowest <= there.height <= self.limits.highest:
            low, high = self.limits.lowest, self.limits.highest
            return Forbidden(
                f"{there.height:.3g} m is not between {low:g} m and {high:g} m, the heights of [flight]"
            )
        if not self.hard(there.height).allow([there.place])[0]:
            return Forbidden("it is outside the geofence, or in a no-go area or an obstacle")
        away = math.dist(there.place, home)
        if self.limits.range is not None and away > self.limits.range:
            return Forbidden(
                f"it is {format_length(away)} from the place of take-off, beyond the range of [flight]"
            )
        bounds = self.hard(min(there.height, _height_of(here, there)))
        start = here.place if bounds.allow([here.place])[0] else tuple(bounds.nearest(here.place))
        if not bounds.allow_way(start, [there.place])[0]:
            return Forbidden("the straight way there meets the geofence, a no-go area or an obstacle")
        return None

    def refuse_home(self, home: Place) -> Forbidden | None:
        """Return why no search may begin from a home; `None` where all places it may choose are in range."""
        if self.limits.range is None:
            return None
        parts = [part for height in self.heights for part in self.clear(height).space.parts]
        away = max(math.dist(home, corner) for corner in shapely.get_coordinates(parts))
        if away <= self.limits.range:
            return None
        return Forbidden(
            f"places of the search are up to {format_length(away)} from the place of take-off, beyond the "
            f"range of {self.limits.range:g} m in [flight]: raise it, make the geofence smaller, or take off "
            "from nearer"
        )

    def way(self, here: Waypoint, there: Waypoint, home: Place) -> tuple[Waypoint, ...] | Forbidden:
        """Return the waypoints from here to a place: up, around what is in the way, and down.

        A place nearer to a border than the clearance is replaced by the nearest one that is clear.
        """
        height = max(_height_of(here, there), there.height)
        height = min(max(height, self.limits.lowest), self.limits.highest)
        clear, end = self.clear(height), self._clear_place(there)
        if end is None:
            return Forbidden("it is outside the geofence, or in a no-go area or an obstacle")
        begin = _pair(clear.nearest(here.place))
        # One that is clear at its own height may have less room above, never below.
        corners = clear.way(begin, end)
        if corners is None:
            return Forbidden(
                f"there is no way that stays {self.limits.clearance:g} m from what is in the way"
            )
        places = [_pair(corner) for corner in corners[1:]]
        first = Waypoint(begin, height)
        is_there = math.dist(begin, here.place) < 1e-6 and abs(here.height - height) <= SAME_HEIGHT_M
        way = [*([] if is_there else [first]), *(Waypoint(place, height) for place in places)]
        if abs(there.height - height) > 1e-6:
            way.append(Waypoint(end, there.height))
        for start, stop in pairwise((here, *way)):
            reason = self.refuse(stop, start, home)
            if reason is not None:
                return reason
        return tuple(way)

    def _clear_place(self, there: Waypoint) -> Place | None:
        """Return the nearest clear place, where the place is allowed and not far from it; else `None`."""
        if not all(map(math.isfinite, there.place)) or not self.hard(there.height).allow([there.place])[0]:
            return None
        place = _pair(self.clear(there.height).nearest(there.place))
        is_near = math.dist(place, there.place) <= _MAX_MOVED * self.limits.clearance + 0.1
        return place if is_near else None

    def stop(self, here: Waypoint) -> Waypoint:
        """Return where a vehicle can stay: where it is, or the nearest allowed place."""
        height = min(max(here.height, self.limits.lowest), self.limits.highest)
        bounds = self.hard(height)
        place = here.place if bounds.allow([here.place])[0] else _pair(self.clear(height).nearest(here.place))
        return Waypoint(place, height)

    def is_outside(self, here: Waypoint) -> bool:
        """Return whether a vehicle is where it may not be."""
        return not bool(self.hard(max(here.height, self.limits.lowest)).allow([here.place])[0])

    def polygons(self, home: Place) -> tuple[Polygon, tuple[Polygon, ...]]:
        """Return the polygon in which a flight from home stays, and those it stays out of, for an autopilot.

        What stops a flight only at some of its heights is left out: the autopilot knows one fence.
        """
        within = self.fence
        if self.limits.range is not None:
            circle = shapely.Point(home).buffer(self.limits.range, quad_segs=_RANGE_CORNERS // 4)
            within = within.intersection(circle)
        parts = [part for part in shapely.get_parts(within) if part.geom_type == "Polygon"]
        part = min(parts, key=lambda one: shapely.distance(one, shapely.Point(home)))
        standing = [one.corners for one in self.obstacles if one.stops(self.limits.highest)]
        solid = union((*self.no_go, *standing)).intersection(part)
        rings = [*part.interiors, *(one.exterior for one in _parts(solid))]
        return _corners(part.exterior), tuple(_corners(ring) for ring in rings)


def _height_of(here: Waypoint, there: Waypoint) -> float:
    """Return the height [m] of a vehicle; that of the waypoint where it flies at about that one."""
    return there.height if abs(here.height - there.height) <= SAME_HEIGHT_M else here.height


def _fence(site: Site) -> BaseGeometry:
    (west, south), (east, north) = site.area
    box = shapely.box(west, south, east, north)
    if not site.geofence:
        return box
    whole = union(site.geofence)
    return whole if site.outside == "allow" else whole.intersection(box)


def _bounds_of(fence: BaseGeometry, solid: BaseGeometry) -> Bounds:
    inside, blocked = _parts(fence), _parts(solid)
    holes = [ring for part in inside for ring in part.interiors]
    outer = [part.exterior for part in blocked]
    return Bounds(
        tuple(_corners(part.exterior) for part in inside), tuple(_corners(ring) for ring in (*holes, *outer))
    )


def _parts(area: BaseGeometry) -> list[shapely.Polygon]:
    return [part for part in shapely.get_parts(area) if part.geom_type == "Polygon" and not part.is_empty]


def _corners(ring: BaseGeometry) -> Polygon:
    return shapely.get_coordinates(ring)[:-1]


def _widen(area: BaseGeometry, by: float) -> BaseGeometry:
    return area if by == 0 else area.buffer(by, join_style="mitre", mitre_limit=_MITRE_LIMIT)


def _pair(place) -> Place:
    return float(place[0]), float(place[1])
