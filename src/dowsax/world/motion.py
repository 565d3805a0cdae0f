"""Motion of the sensor: a few moves of fixed length inside a box."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Position, Scalar
from dowsax.world.actions import Budget, Candidates

AREA_SIDE_M = 25.0
"""[m], the search area is [0, SIDE]²."""
START_SIDE_M = 5.0
"""[m], searches start uniformly in (0, START_SIDE)²."""
UNIT_MOVES_M = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""[m], east, west, north, south."""

# A move that stays inside may still be clipped by rounding.
_ROUNDING_TOLERANCE_M = 1e-3


class Motion(eqx.Module):
    """A set of moves, clipped at the border of the area."""

    moves: tuple[tuple[float, float], ...] = eqx.field(default=UNIT_MOVES_M, static=True)
    """[m]"""
    low: tuple[float, float] = eqx.field(default=(0.0, 0.0), static=True)
    high: tuple[float, float] = eqx.field(default=(AREA_SIDE_M, AREA_SIDE_M), static=True)
    """[m], the corners of the area."""

    @property
    def num_actions(self) -> int:
        return len(self.moves)

    def reach(self, position: Position) -> Float[Array, "actions 2"]:
        """Return the position after each move."""
        there = position[None, :] + jnp.array(self.moves)
        return jnp.clip(there, jnp.array(self.low)[None, :], jnp.array(self.high)[None, :])

    def __call__(self, position: Position, action: Int[Array, ""]) -> Position:
        """Return the position after one move."""
        return self.reach(position)[action]

    def candidates(
        self, position: Position, budget: Budget, promising: Float[Array, "places 2"] | None = None
    ) -> Candidates:
        """Return the ends of the moves; those that the border cuts short are masked. A metre takes a second."""
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


FOUR_MOVES = Motion()
"""The benchmark's unit moves in its square."""
