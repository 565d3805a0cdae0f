"""Action spaces: where the sensor can go next, what that costs, and what may still be spent."""

from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.geo.polygons import Bounds
from dowsax.types import OpenPath, Position, Scalar, Target, Waypoint
from dowsax.world.fence import Fence, length_of, place_on

_ROUNDING_M = 1e-3
"""[m], by which a way may exceed a limit."""
_MIN_SHARE = 1e-6
"""Of the budget."""
_RING_FACTOR = 2.0
"""Between the lengths of two rings."""


class Candidates(NamedTuple):
    """Places to read next; those outside the mask are not allowed."""

    places: Float[Array, "k axes"]
    """[m]; of paths, their middles."""
    way: Float[Array, " k"]
    """[m], from where the sensor is."""
    seconds: Float[Array, " k"]
    """Of the way and the reading."""
    mask: Bool[Array, " k"]
    paths: OpenPath | None = None
    """Of all candidates, where these are paths."""
    altitudes: Float[Array, " k"] | None = None
    """[m] above ground, where candidates are at several heights; else that of the station before."""

    @property
    def targets(self) -> "Float[Array, 'k axes'] | OpenPath | Waypoint":
        """Where to take a reading, for each candidate."""
        if self.altitudes is not None:
            return Waypoint(self.places, self.altitudes)
        return self.places if self.paths is None else self.paths

    def target(self, action: Int[Array, ""]) -> Target:
        """Return where to take the reading of one candidate."""
        return jax.tree.map(lambda leaf: leaf[action], self.targets)


class Budget(eqx.Module):
    """What may be spent, or what is left of it; infinite where there is no limit."""

    readings: float | Scalar = jnp.inf
    distance: float | Scalar = jnp.inf
    """[m]"""
    time: float | Scalar = jnp.inf
    """[s]"""

    def minus(self, readings: Scalar, distance: Scalar, time: Scalar) -> "Budget":
        """Return what is left after this much."""
        return Budget(self.readings - readings, self.distance - distance, self.time - time)

    def shares(self, candidates: Candidates, among: Candidates | None = None) -> Float[Array, " k"]:
        """Return which share of the budget each candidate takes: of the readings, and of way or time.

        Where only the readings are limited, the longest of the ways costs as much as a reading; where only
        way or time are, a reading costs as much as the shortest of the ways. These are ways of the
        candidates, or of those they are `among`.
        """
        among = candidates if among is None else among
        reading = 1.0 / jnp.maximum(self.readings, 1.0)
        longest = jnp.maximum(jnp.max(jnp.where(among.mask, among.way, 0.0)), _ROUNDING_M)
        scale = jnp.where(reading > 0, reading, 1.0) / longest
        shortest = jnp.min(jnp.where(among.mask, self._shares_of_ways(among, scale), 1.0))
        shares = jnp.where(reading > 0, reading, shortest) + self._shares_of_ways(candidates, scale)
        # Where nothing is limited, and nobody has to go anywhere, all cost the same.
        return jnp.maximum(shares, _MIN_SHARE)

    def _shares_of_ways(self, candidates: Candidates, scale: Scalar) -> Float[Array, " k"]:
        """Return the share of distance or time; where neither is limited, the way [m] times the scale."""
        way, seconds = candidates.way, candidates.seconds
        # To a path there is no way, and a reading may take no time: what costs nothing takes no share.
        distance, time = (
            jnp.maximum(jnp.maximum(left, spent), _ROUNDING_M)
            for left, spent in ((self.distance, way), (self.time, seconds))
        )
        going = jnp.maximum(way / distance, seconds / time)
        is_free = jnp.isinf(self.distance) & jnp.isinf(self.time)
        return jnp.where(is_free, scale * way, going)


@runtime_checkable
class ActionSpace(Protocol):
    """Candidates of a fixed number, given where the sensor is and what is left of the budget."""

    @property
    def low(self) -> tuple[float | Scalar, ...]:
        """[m], the south-western corner of the area, at the bottom in three dimensions."""
        ...

    @property
    def high(self) -> tuple[float | Scalar, ...]:
        """[m], the north-eastern corner, at the top in three dimensions."""
        ...

    @property
    def num_actions(self) -> int:
        """The number of candidates, masked ones included."""
        ...

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places axes"]
    ) -> Candidates:
        """Return the candidates. `promising` are places that the belief proposes."""
        ...

    def seconds(self, way: Scalar) -> Scalar:
        """Return the time [s] of a way [m] and the reading after it."""
        ...


@runtime_checkable
class Limits(Protocol):
    """What limits the ways between readings."""

    @property
    def fence(self) -> Fence: ...
    @property
    def speed(self) -> float | Scalar: ...
    @property
    def legs(self) -> tuple[float, float]: ...
    @property
    def home(self) -> Position | None: ...
    def seconds(self, way: Float[Array, "*batch"]) -> Float[Array, "*batch"]: ...


def limit_ways(
    limits: Limits,
    position: Position,
    places: Float[Array, "k 2"],
    budget: Budget,
    is_inside: Bool[Array, " k"],
) -> Candidates:
    """Return the places as candidates: those inside, on shortest ways within all limits and the budget.

    Where there is a home, there is a way there from each candidate, within the budget.
    """
    way, home = limits.fence.way_lengths(position, places), limits.home
    straight = jnp.linalg.norm(places - position[None, :], axis=1)
    back = None if home is None else limits.fence.way_lengths(home, places)
    return limit_lengths(limits, places, (way, straight, back), budget, is_inside)


def limit_lengths(
    limits: Limits,
    places: Float[Array, "k 2"],
    lengths: tuple[Float[Array, " k"], Float[Array, " k"], Float[Array, " k"] | None],
    budget: Budget,
    is_inside: Bool[Array, " k"],
    climb: Float[Array, " k"] | None = None,
) -> Candidates:
    """Do what `limit_ways` does, for ways of known lengths [m].

    These are those of the ways, infinite where there is none, of the straight ways, and of those home.
    `climb` [m] is a change of height, which is way as well; the length of a leg is that without it.
    """
    leg, straight, back = lengths
    is_there = jnp.isfinite(leg)
    # What is masked has a finite way as well.
    leg = jnp.where(is_there, leg, straight)
    way = leg if climb is None else leg + climb
    seconds = limits.seconds(way)
    shortest, longest = limits.legs
    fits = is_inside & (way > _ROUNDING_M) & (leg >= shortest - _ROUNDING_M) & (leg <= longest + _ROUNDING_M)
    fits &= is_there
    back = jnp.zeros_like(way) if back is None else back
    fits &= (way + back <= budget.distance + _ROUNDING_M) & (seconds + back / limits.speed <= budget.time)
    return Candidates(places, way, seconds, fits & jnp.isfinite(back) & (budget.readings >= 1))


def fence_of(actions: ActionSpace) -> Fence:
    """Return the fence of an action space; one without borders where it has none."""
    fence = getattr(actions, "fence", None)
    return Fence.of(Bounds()) if fence is None else fence


class NearAndFar(eqx.Module):
    """Rings of places around the sensor, from near to far, and the places that the belief proposes.

    Or, with `points`, these and nothing else. Ways are the shortest around what the fence forbids.
    """

    fence: Fence
    low: tuple[float | Scalar, float | Scalar]
    high: tuple[float | Scalar, float | Scalar]
    lengths: tuple[float | Scalar, ...]
    """[m], of the rings. These are leaves, so that problems of several sizes can be stacked."""
    directions: int = eqx.field(default=8, static=True)
    num_promising: int = eqx.field(default=16, static=True)
    points: Float[Array, "points 2"] | None = None
    """[m], the only places to choose from."""
    speed: float | Scalar = 1.0
    """[m/s]"""
    reading_time: float | Scalar = 0.0
    """[s], that a reading takes."""
    legs: tuple[float, float] = eqx.field(default=(0.0, float("inf")), static=True)
    """[m], the shortest and the longest way between two readings."""
    home: Position | None = None
    """[m], the place to which the budget must suffice to return."""

    @property
    def num_actions(self) -> int:
        if self.points is not None:
            return self.points.shape[0]
        return len(self.lengths) * self.directions + self.num_promising

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places 2"]
    ) -> Candidates:
        """Return the candidates; `promising` has `num_promising` places."""
        places, is_inside = self.places(position, promising)
        return limit_ways(self, position, places, budget, is_inside)

    def places(
        self, position: Position, promising: Float[Array, "places 2"]
    ) -> tuple[Float[Array, "k 2"], Bool[Array, " k"]]:
        """Return the places of all candidates [m], and whether each is inside the area."""
        places = self.points
        if places is None:
            places = jnp.concatenate([self._rings(position), self._within_legs(position, promising)])
        low, high = jnp.array(self.low), jnp.array(self.high)
        # A place that misses the area by less than the rounding of positions is moved to its border.
        inside = jnp.clip(places, low[None, :], high[None, :])
        return inside, jnp.max(jnp.abs(places - inside), axis=1) <= _ROUNDING_M

    def seconds(self, way: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Return the time [s] of a way [m] and the reading after it."""
        return way / self.speed + self.reading_time

    def _within_legs(self, position: Position, places: Float[Array, "places 2"]) -> Float[Array, "places 2"]:
        """Return the places; those too near or too far are moved on the way to them."""
        offsets = places - position[None, :]
        ways = jnp.maximum(jnp.linalg.norm(offsets, axis=1), _ROUNDING_M)
        legs = jnp.clip(ways, *self.legs)
        moved = jnp.where(
            (legs == ways)[:, None], places, position[None, :] + (legs / ways)[:, None] * offsets
        )
        longest = self.legs[1]
        if self.fence.nodes.shape[0] == 0 or longest == float("inf"):
            return moved

        def within(place: Position, otherwise: Position) -> Position:
            way = self.fence.way(position, place)
            length = length_of(way)
            is_bent = length > jnp.linalg.norm(place - position) + _ROUNDING_M
            shortened = place_on(way, jnp.minimum(longest / jnp.maximum(length, _ROUNDING_M), 1.0))
            return jnp.where(is_bent, shortened, otherwise)

        return jax.vmap(within)(places, moved)

    def _rings(self, position: Position) -> Float[Array, "places 2"]:
        """Return the ends of the rings, each turned by half an angle against the one before."""
        turns = np.arange(len(self.lengths))[:, None] % 2 / 2
        angles = 2 * np.pi * (np.arange(self.directions)[None, :] + turns) / self.directions
        # Cosines of right angles are rounded to zero, so that a walk on a lattice stays on it.
        offsets = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=-1), 12)
        rings = zip(self.lengths, offsets, strict=True)
        offsets = [jnp.asarray(length * ring, jnp.float32) for length, ring in rings]
        return position[None, :] + jnp.concatenate(offsets)


class OpenPaths(eqx.Module):
    """Open paths of instruments that stand there: nobody goes to them, and one may be read again at once."""

    low: tuple[float, float] = eqx.field(static=True)
    high: tuple[float, float] = eqx.field(static=True)
    paths: OpenPath
    """One entry each."""
    reading_time: float | Scalar = 0.0
    """[s], that a reading takes."""

    @property
    def num_actions(self) -> int:
        return self.paths.start.shape[0]

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places 2"]
    ) -> Candidates:
        """Return all paths, while the budget lasts."""
        del position, promising
        ways = jnp.zeros(self.num_actions)
        seconds = self.seconds(ways)
        middles = 0.5 * (self.paths.start + self.paths.end)
        fits = (seconds <= budget.time) & (budget.readings >= 1)
        return Candidates(middles, ways, seconds, fits, self.paths)

    def seconds(self, way: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Return the time [s] of a reading; it takes no way."""
        return jnp.zeros_like(way) + self.reading_time


def ring_lengths(shortest: float, longest: float) -> tuple[float, ...]:
    """Return the lengths [m] of rings, each twice the one before; at least one."""
    number = max(int(np.floor(np.log(longest / shortest) / np.log(_RING_FACTOR) + 1e-9)) + 1, 1)
    return tuple(float(shortest * _RING_FACTOR**ring) for ring in range(number))
