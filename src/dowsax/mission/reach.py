"""Where the sensor of a site may read: the bounds and the area, its steps, points or paths, and its speed."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from dowsax.geo.polygons import Bounds, Polygon
from dowsax.site.area import ListedPath
from dowsax.types import OpenPath
from dowsax.world import (
    FOUR_MOVES,
    Budget,
    Fence,
    FencedMoves,
    FencesByHeight,
    Motion,
    NearAndFar,
    OpenPaths,
    PlacesAtHeights,
    WayReadings,
    ring_lengths,
)

_MIN_DIRECTIONS = 8
"""Of the rings of far places, where the steps have fewer."""
_ROUNDING_M = 1e-6
_ROUNDING_SHARE = 1e-6


@dataclass(frozen=True)
class Steps:
    """Steps of one length [m] in evenly spaced directions, the first to the east."""

    length: float
    directions: int = 8

    def __post_init__(self) -> None:
        if not self.length > 0:
            raise ValueError(f"`length` of a step must be > 0 m; got {self.length}.")
        if self.directions < 3:
            raise ValueError(f"`directions` must be at least 3; got {self.directions}.")

    @property
    def moves(self) -> tuple[tuple[float, float], ...]:
        """[m], the offsets of the steps."""
        angles = 2 * np.pi * np.arange(self.directions) / self.directions
        # Cosines of right angles are rounded to zero, so that a walk on a lattice stays on it.
        offsets = self.length * np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), 12)
        return tuple((float(x), float(y)) for x, y in offsets)


class Level(NamedTuple):
    """A height above ground at which a searcher reads, and where it may be there."""

    height: float
    """[m]"""
    bounds: Bounds
    """Obstacles that are lower are none of them."""


@dataclass(frozen=True)
class Reach:
    """Steps in every direction, or a list of places, within bounds and an area; or a list of paths."""

    bounds: Bounds
    area: tuple[tuple[float, float], tuple[float, float]]
    """[m], the low and the high corner."""
    steps: Steps | None = None
    points: tuple[tuple[float, float], ...] = ()
    """[m], the only places to choose from; empty where there are steps."""
    paths: tuple[ListedPath, ...] = ()
    """The only readings to choose from, each with its height; empty where there are steps or points."""
    speed: float = 1.0
    """[m/s], between readings."""
    reading_time: float = 0.0
    """[s], that a reading takes."""
    shortest: float | None = None
    """[m], way between two readings; `None` without a limit."""
    longest: float | None = None
    """[m], way between two readings; `None` without a limit."""
    reading_interval: float | None = None
    """[s], between two readings of a sensor that reads while it moves; `None` where it does not."""
    home: tuple[float, float] | None = None
    """[m], the place to which the budget must suffice to return."""
    sees_walls: bool = False
    """Whether walls may be added to the bounds as a mission goes."""
    levels: tuple[Level, ...] = ()
    """The heights at which places are read, from the lowest; none where they are read at one height."""

    def __post_init__(self) -> None:
        if bool(self.steps) + bool(self.points) + bool(self.paths) != 1:
            raise ValueError("Give either steps or a list of points or paths to choose from.")

    @property
    def way_readings(self) -> WayReadings | None:
        """The readings on the way, where the sensor takes any."""
        return None if self.reading_interval is None else WayReadings(self.reading_interval, self.speed)

    @property
    def is_benchmark(self) -> bool:
        """Whether area and steps are those of the benchmark."""
        return self.steps == Steps(1.0, 4) and self.area == (FOUR_MOVES.low, FOUR_MOVES.high)

    @property
    def motion(self) -> Motion:
        """The steps as moves, for policies that know no other."""
        if self.steps is None:
            raise ValueError(
                "With a list of points or paths only planners can choose, such as location-gain."
            )
        return FOUR_MOVES if self.is_benchmark else Motion(self.steps.moves, *self.area)

    def moves(self) -> FencedMoves:
        """Return the action space of single steps."""
        return FencedMoves(self._fence, self.motion, **self._limits())

    def near_and_far(self, radius: float) -> NearAndFar | PlacesAtHeights:
        """Return the action space of places from the shortest way to the longest, at each of the heights.

        Default: from half the radius of the stop rule to half the diagonal of the area.
        """
        places = self._near_and_far(radius)
        if not self.levels:
            return places
        heights, bounds = zip(*self.levels, strict=True)
        return PlacesAtHeights(places, FencesByHeight.of(heights, bounds, has_room=self.sees_walls))

    def _near_and_far(self, radius: float) -> NearAndFar:
        directions = _MIN_DIRECTIONS if self.steps is None else max(self.steps.directions, _MIN_DIRECTIONS)
        return NearAndFar(
            self._fence,
            *self.area,
            lengths=self._lengths(radius),
            directions=directions,
            points=jnp.asarray(self.points, jnp.float32) if self.points else None,
            **self._limits(),
        )

    def open_paths(self) -> OpenPaths:
        """Return the action space of the listed paths."""
        ends = jnp.asarray([path.ends for path in self.paths], jnp.float32)
        heights = jnp.asarray([path.height for path in self.paths], jnp.float32)
        return OpenPaths(*self.area, OpenPath(ends[:, 0], ends[:, 1], heights), self.reading_time)

    @property
    def _fence(self) -> Fence:
        return Fence.of(self.bounds, has_room=self.sees_walls)

    def with_walls(self, walls: Callable[[float | None], Sequence[Polygon]]) -> "Reach":
        """Return the same with walls as further obstacles: those that stop a sensor at a height [m].

        `None` is the usual height of the sensor.
        """
        levels = tuple(Level(height, _with_obstacles(at, walls(height))) for height, at in self.levels)
        bounds = _with_obstacles(self.bounds, walls(None))
        return replace(self, bounds=bounds, levels=levels) if any(map(walls, (None, *self.heights))) else self

    @property
    def heights(self) -> tuple[float, ...]:
        """[m] above ground, at which places are read; none where that is the height of the sensor."""
        return tuple(level.height for level in self.levels)

    def at(self, *heights: float | None) -> "Reach":
        """Return what can be reached at the highest of these heights [m], with what is in the way there."""
        if not self.levels:
            return self
        known = [height for height in heights if height is not None]
        altitude = max(known, default=self.levels[0].height) + _ROUNDING_M
        reached = [level for level in self.levels if level.height <= altitude]
        level = reached[-1] if reached else self.levels[0]
        return replace(self, bounds=level.bounds, levels=())

    def allow_heights(
        self, here: tuple[float, float], height: float, places: np.ndarray, heights: np.ndarray
    ) -> np.ndarray:
        """Return what `allow_ways` does, from one height to places (k, 2) each at its own (k,) [m].

        A way goes at the higher of its two heights.
        """
        allowed = np.zeros(len(places), bool)
        for there in np.unique(heights):
            chosen, level = heights == there, self.at(float(there))
            ways = self.at(height, float(there)).bounds.way_lengths(here, places[chosen])
            allowed[chosen] = np.isfinite(ways) & level.bounds.allow(places[chosen])
            if self.home is not None:
                allowed[chosen] &= np.isfinite(level.bounds.way_lengths(self.home, places[chosen]))
        return allowed

    def flown_length(self, places: np.ndarray, heights: Sequence[float]) -> float:
        """Return the length [m] of the ways from each of the places (k, 2) to the next, climbs included."""
        legs = zip(pairwise(places), pairwise(heights), strict=True)
        return sum(
            float(self.at(low, high).bounds.space.leg_lengths(np.stack(ends))[0]) + abs(high - low)
            for ends, (low, high) in legs
        )

    def _limits(self) -> dict[str, Any]:
        """Return what limits the ways, as arguments of both action spaces."""
        legs = 0.0 if self.shortest is None else self.shortest, self.longest or math.inf
        home = None if self.home is None else jnp.asarray(self.home, jnp.float32)
        return {"speed": self.speed, "reading_time": self.reading_time, "legs": legs, "home": home}

    def _lengths(self, radius: float) -> tuple[float, ...]:
        """Return the lengths [m] of the rings; the last is the longest way, where that fits into the area."""
        diagonal = float(np.linalg.norm(np.subtract(*self.area)))
        last = diagonal / 2 if self.longest is None else min(self.longest, diagonal)
        first = min(radius / 2, last) if self.shortest is None else self.shortest
        lengths = ring_lengths(first, last)
        is_short = self.longest is not None and lengths[-1] < last * (1 - _ROUNDING_SHARE)
        return (*lengths, last) if is_short else lengths

    def allow_ways(self, position: tuple[float, float], places: np.ndarray) -> np.ndarray:
        """Return whether there is a way to each of the places (k, 2) [m], and on home."""
        allowed = np.isfinite(self.bounds.way_lengths(position, places))
        return (
            allowed
            if self.home is None
            else allowed & np.isfinite(self.bounds.way_lengths(self.home, places))
        )

    def can_go(
        self, here: tuple[float, float], place: tuple[float, float], budget: Budget, climb: float = 0.0
    ) -> bool:
        """Return whether one can go to a place and read there, within the budget that is left.

        `climb` [m] is a change of height on the way.
        """
        leg = float(self.bounds.way_lengths(here, np.array([place]))[0])
        back = 0.0 if self.home is None else float(self.bounds.way_lengths(self.home, np.array([place]))[0])
        longest = math.inf if self.longest is None else self.longest
        way = leg + climb
        return (
            math.isfinite(way + back)
            and (self.shortest or 0.0) - _ROUNDING_M <= leg <= longest + _ROUNDING_M
            and way + back <= float(budget.distance) + _ROUNDING_M
            and (way + back) / self.speed + self.reading_time <= float(budget.time)
            and float(budget.readings) >= 1
        )

    def bends(
        self, position: tuple[float, float], place: tuple[float, float]
    ) -> tuple[tuple[float, float], ...]:
        """Return the corners [m] at which the shortest way to a place bends."""
        way = self.bounds.way(position, place) if self.bounds.has_borders else None
        return () if way is None else tuple((float(x), float(y)) for x, y in way[1:-1])

    def is_outside(self, position: tuple[float, float]) -> bool:
        """Whether the position is forbidden."""
        return not bool(self.bounds.allow(np.asarray(position, np.float64)[None])[0])

    def way_back(self, position: tuple[float, float], distance: float) -> tuple[float, float] | None:
        """Return the nearest allowed place, if it is within the distance [m]."""
        back = np.clip(self.bounds.nearest(position), *np.asarray(self.area, np.float64))
        is_near = np.linalg.norm(back - np.asarray(position)) <= distance + _ROUNDING_M
        x, y = back
        return (float(x), float(y)) if is_near and self.bounds.allow(back[None])[0] else None


def _with_obstacles(bounds: Bounds, walls: Sequence[Polygon]) -> Bounds:
    return replace(bounds, obstacles=(*bounds.obstacles, *walls)) if walls else bounds
