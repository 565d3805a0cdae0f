"""Places at several heights above ground, and what is in the way at each height.

A way goes straight up where it begins, over ground at the higher of its two heights, and straight down where
it ends: so it passes over what is lower, and its length is that over ground and the change of height.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.geo.polygons import Bounds
from dowsax.types import OpenPath, Position, Scalar, Station, Target, Waypoint
from dowsax.world.actions import ActionSpace, Budget, Candidates, NearAndFar, fence_of, limit_lengths
from dowsax.world.fence import Fence, length_of, stack_fences
from dowsax.world.trails import height_of, way_to

_ROUNDING_M = 1e-3
"""[m], by which a height may miss a listed one."""


class FencesByHeight(eqx.Module):
    """The fence at each of several heights, from the lowest."""

    heights: tuple[float, ...] = eqx.field(static=True)
    """[m], ascending."""
    fences: Fence
    """The different ones, stacked."""
    numbers: tuple[int, ...] = eqx.field(static=True)
    """Of the fence at each height."""

    @classmethod
    def of(
        cls, heights: Sequence[float], bounds: Sequence[Bounds], *, has_room: bool = False
    ) -> "FencesByHeight":
        """Return the fences of the bounds at each height; `has_room` as for `Fence.of`."""
        different: dict[tuple[int, ...], Bounds] = {}
        keys = [tuple(map(id, each.obstacles)) for each in bounds]
        for key, each in zip(keys, bounds, strict=True):
            different.setdefault(key, each)
        found = list(different.values())
        if len(found) > 1:
            # Where something is in the way at one height, ways end at the area; so they do at the others.
            found = [each.with_area_border() for each in found]
        fences = stack_fences([Fence.of(each, has_room=has_room) for each in found])
        return cls(tuple(map(float, heights)), fences, tuple(list(different).index(key) for key in keys))

    def at(self, altitude: Scalar) -> Fence:
        """Return the fence at a height: that of the listed one which it reaches, or of the lowest."""
        number = self._number(altitude)
        return jax.tree.map(lambda leaf: leaf[number], self.fences)

    def way_lengths(
        self, start: Position, ends: Float[Array, "k 2"], altitudes: Float[Array, " k"]
    ) -> Float[Array, " k"]:
        """Return the lengths [m] of the shortest ways over ground to the ends, each at its height."""
        if len(set(self.numbers)) == 1:
            return self.at(altitudes[0]).way_lengths(start, ends)
        lengths = jax.vmap(lambda fence: fence.way_lengths(start, ends))(self.fences)
        return jnp.take_along_axis(lengths, jax.vmap(self._number)(altitudes)[None, :], axis=0)[0]

    def allow(self, places: Float[Array, "k 2"], altitudes: Float[Array, " k"]) -> Bool[Array, " k"]:
        """Return whether each place is allowed at its height."""
        return jax.vmap(lambda place, altitude: self.at(altitude).allow(place))(places, altitudes)

    def _number(self, altitude: Scalar):
        reached = jnp.sum(jnp.asarray(self.heights) <= altitude + _ROUNDING_M)
        return jnp.asarray(np.asarray(self.numbers, np.int32))[jnp.maximum(reached - 1, 0)]


class PlacesAtHeights(eqx.Module):
    """Places near and far, each at several heights, and that where the sensor is at the other heights."""

    near_and_far: NearAndFar
    """The places."""
    fences: FencesByHeight

    @property
    def low(self) -> tuple[float | Scalar, float | Scalar]:
        return self.near_and_far.low

    @property
    def high(self) -> tuple[float | Scalar, float | Scalar]:
        return self.near_and_far.high

    @property
    def heights(self) -> tuple[float, ...]:
        """[m] above ground, ascending."""
        return self.fences.heights

    @property
    def num_actions(self) -> int:
        return len(self.heights) * (self.near_and_far.num_actions + int(self._stays))

    @property
    def _stays(self) -> bool:
        """Whether the place where the sensor is is added."""
        return len(self.heights) > 1 and self.near_and_far.points is None

    def seconds(self, way: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Return the time [s] of a way [m], climbs included, and the reading after it."""
        return self.near_and_far.seconds(way)

    def candidates(
        self,
        position: Position,
        budget: Budget,
        promising: Float[Array, "places 2"],
        altitude: float | Scalar | None = None,
    ) -> Candidates:
        """Return all places at the lowest height, then all at the next one, and so on.

        `altitude` [m] is that of the sensor. Default: the lowest.
        """
        places, is_inside = self.near_and_far.places(position, promising)
        if self._stays:
            places = jnp.concatenate([places, position[None, :]])
            is_inside = jnp.concatenate([is_inside, jnp.ones(1, bool)])
        number = len(self.heights)
        altitudes = jnp.repeat(jnp.asarray(self.heights, jnp.float32), places.shape[0])
        start = Waypoint(position, jnp.asarray(self.heights[0] if altitude is None else altitude))
        ends = Waypoint(jnp.tile(places, (number, 1)), altitudes)
        return self.limit(start, ends, budget, jnp.tile(is_inside, number))

    def limit(
        self, start: Waypoint, ends: Waypoint, budget: Budget, is_inside: Bool[Array, " k"]
    ) -> Candidates:
        """Return the ends as candidates, those that can be reached from the start within all limits.

        The lengths of legs are limited over ground. The way home is flown at the height of the candidate.
        """
        limits, places, altitudes = self.near_and_far, ends.position, ends.altitude
        flown = jnp.maximum(start.altitude, altitudes)
        way = self.fences.way_lengths(start.position, places, flown)
        if len(set(self.fences.numbers)) > 1:
            is_inside &= self.fences.allow(places, altitudes)
        straight = jnp.linalg.norm(places - start.position[None, :], axis=1)
        home = limits.home
        back = None if home is None else self.fences.way_lengths(home, places, altitudes)
        climb = jnp.abs(altitudes - start.altitude)
        found = limit_lengths(limits, places, (way, straight, back), budget, is_inside, climb)
        return found._replace(altitudes=altitudes)


def candidates_from(
    actions: ActionSpace, station: Station, budget: Budget, promising: Float[Array, "places axes"]
) -> Candidates:
    """Return the candidates of an action space for a sensor at a station, and at its height."""
    if isinstance(actions, PlacesAtHeights):
        return actions.candidates(station.position, budget, promising, height_of(station))
    return actions.candidates(station.position, budget, promising)


def fence_to(actions: ActionSpace, station: Station, target: Target) -> Fence:
    """Return the fence that stands in the way from a station to a target."""
    if isinstance(actions, PlacesAtHeights):
        return actions.fences.at(flown_height(station, target))
    return fence_of(actions)


def way_length(actions: ActionSpace, station: Station, target: Target) -> Scalar:
    """Return the length [m] of the shortest way from a station to a target, climbs included."""
    fence = fence_to(actions, station, target)
    if isinstance(target, OpenPath) or fence.sides.shape[0] == 0:
        return way_to(station, target)
    if not isinstance(target, Waypoint):
        return length_of(fence.way(station.position, target))
    climb = jnp.abs(target.altitude - height_of(station))
    return length_of(fence.way(station.position, target.position)) + climb


def flown_height(station: Station, target: Target) -> Scalar:
    """Return the height [m] at which one goes from a station to a target: the higher one."""
    height = height_of(station)
    return jnp.maximum(height, target.altitude) if isinstance(target, Waypoint) else height
