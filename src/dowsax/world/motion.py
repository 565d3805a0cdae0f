"""Motion of the sensor: a few moves of fixed length inside a box."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Position, Scalar
from dowsax.world.actions import ActionSpace, Budget, Candidates, limit_ways
from dowsax.world.fence import Fence

AREA_SIDE_M = 25.0
"""[m], the search area is [0, SIDE]²."""
START_SIDE_M = 5.0
"""[m], searches start uniformly in (0, START_SIDE)²."""
UNIT_MOVES_M = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""[m], east, west, north, south."""

# A move that stays inside may still be clipped by rounding.
_ROUNDING_TOLERANCE_M = 1e-3
_STEP_SHARES = (1.0, 0.5, 0.25, 0.125)
"""Shares of a step to try, the longest first, where whole steps lead nowhere allowed."""


class Motion(eqx.Module):
    """A set of moves in the plane or in space, clipped at the border of the area."""

    moves: tuple[tuple[float, ...], ...] = eqx.field(default=UNIT_MOVES_M, static=True)
    """[m]"""
    low: tuple[float, ...] = eqx.field(default=(0.0, 0.0), static=True)
    high: tuple[float, ...] = eqx.field(default=(AREA_SIDE_M, AREA_SIDE_M), static=True)
    """[m], the corners of the area."""

    def __check_init__(self) -> None:
        sizes = {len(self.low), len(self.high), *map(len, self.moves)}
        if len(sizes) > 1 or not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError(
                "`moves`, `low` and `high` must have the same number of coordinates, each of `low` < `high`."
            )

    @property
    def num_actions(self) -> int:
        return len(self.moves)

    def reach(self, position: Position) -> Float[Array, "actions axes"]:
        """Return the position after each move."""
        there = position[None, :] + jnp.array(self.moves)
        return jnp.clip(there, jnp.array(self.low)[None, :], jnp.array(self.high)[None, :])

    def __call__(self, position: Position, action: Int[Array, ""]) -> Position:
        """Return the position after one move."""
        return self.reach(position)[action]

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places axes"] | None = None
    ) -> Candidates:
        """Return the ends of the moves; those that the border cuts short are masked. A metre takes 1 s."""
        del budget, promising
        there = self.reach(position)
        way = jnp.linalg.norm(there - position[None, :], axis=1)
        return Candidates(there, way, way, self.free(position))

    def seconds(self, way: Scalar) -> Scalar:
        """Return the time [s] of a way [m] and the reading after it."""
        return way

    def free(self, position: Position) -> Bool[Array, " actions"]:
        """Return whether each move stays inside the area without being clipped."""
        wanted = position[None, :] + jnp.array(self.moves)
        return jnp.max(jnp.abs(self.reach(position) - wanted), axis=1) < _ROUNDING_TOLERANCE_M


class FencedMoves(eqx.Module):
    """Straight moves, cut by a fence. Where all are too long they are shortened, by halves."""

    fence: Fence
    motion: Motion
    speed: float | Scalar = 1.0
    """[m/s]"""
    reading_time: float | Scalar = 0.0
    """[s], that a reading takes."""
    legs: tuple[float, float] = eqx.field(default=(0.0, float("inf")), static=True)
    """[m], the shortest and the longest way between two readings."""
    home: Position | None = None
    """[m], the place to which the budget must suffice to return."""

    @property
    def low(self) -> tuple[float, ...]:
        return self.motion.low

    @property
    def high(self) -> tuple[float, ...]:
        return self.motion.high

    @property
    def num_actions(self) -> int:
        return self.motion.num_actions

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places axes"] | None = None
    ) -> Candidates:
        """Return the ends of the moves; those that are not allowed are masked."""
        del promising

        def shortened(share: Scalar) -> Candidates:
            wanted = position[None, :] + share * jnp.array(self.motion.moves)
            there = jnp.clip(wanted, jnp.array(self.low)[None, :], jnp.array(self.high)[None, :])
            fits = jnp.max(jnp.abs(there - wanted), axis=1) < _ROUNDING_TOLERANCE_M
            # A move is straight.
            fits &= jax.vmap(lambda place: self.fence.allow_way(position, place))(there)
            return limit_ways(self, position, there, budget, fits)

        all_ = jax.vmap(shortened)(jnp.array(_STEP_SHARES))
        first = jnp.argmax(jnp.any(all_.mask, axis=1))
        return jax.tree.map(lambda leaf: leaf[first], all_)

    def seconds(self, way: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Return the time [s] of a way [m] and the reading after it."""
        return way / self.speed + self.reading_time


class PolicyMismatch(ValueError):
    """A policy, or a method of training, that does not fit a model or its actions; `needs` says why."""

    def __init__(self, needs: str, who: str = "This policy") -> None:
        super().__init__(needs, who)
        self.needs = needs
        self.who = who

    def __str__(self) -> str:
        return f"{self.who} needs {self.needs}"


def moves_of(actions: ActionSpace) -> Motion:
    """Return the moves of an action space; raise a PolicyMismatch where it has none."""
    motion = actions.motion if isinstance(actions, FencedMoves) else actions
    if not isinstance(motion, Motion):
        raise PolicyMismatch(
            "moves of fixed lengths, and here the candidates are places: choose one that "
            "can go anywhere, such as location-gain or infotaxis; to train, pfrl-candidates."
        )
    return motion


FOUR_MOVES = Motion()
"""The benchmark's unit moves in its square."""
