"""Where the sensor of a site may read: the bounds and the area, its steps, points or paths, and its speed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from dowsax.geo.polygons import Bounds, Polygon
from dowsax.site.site import ListedPath
from dowsax.types import OpenPath
from dowsax.world import (
    FOUR_MOVES,
    Budget,
    Fence,
    FencedMoves,
    Motion,
    NearAndFar,
    OpenPaths,
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

    def near_and_far(self, radius: float) -> NearAndFar:
        """Return the action space of places from the shortest way to the longest.

        Default: from half the radius of the stop rule to half the diagonal of the area.
        """
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

    def with_walls(self, walls: Sequence[Polygon]) -> "Reach":
        """Return the same with these walls as further obstacles."""
        bounds = replace(self.bounds, obstacles=(*self.bounds.obstacles, *walls))
        return replace(self, bounds=bounds) if walls else self

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

    def can_go(self, here: tuple[float, float], place: tuple[float, float], budget: Budget) -> bool:
        """Return whether one can go to a place and read there, within the budget that is left."""
        way = float(self.bounds.way_lengths(here, np.array([place]))[0])
        back = 0.0 if self.home is None else float(self.bounds.way_lengths(self.home, np.array([place]))[0])
        longest = math.inf if self.longest is None else self.longest
        return (
            math.isfinite(way + back)
            and (self.shortest or 0.0) - _ROUNDING_M <= way <= longest + _ROUNDING_M
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
