"""How the sensor moves: a few moves of fixed length inside a box."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Position

SIDE = 25.0
"""[m], the search area is [0, SIDE]²."""
START_SIDE = 5.0
"""[m], searches start uniformly in (0, START_SIDE)²."""
MOVES = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
"""[m], east, west, north, south."""

# A move that fits is clipped by rounding at the most.
_ROUNDING = 1e-3


class Motion(eqx.Module):
    """The moves there are, clipped at the border of the area."""

    moves: tuple[tuple[float, float], ...] = eqx.field(default=MOVES, static=True)
    """[m]"""
    low: tuple[float, float] = eqx.field(default=(0.0, 0.0), static=True)
    high: tuple[float, float] = eqx.field(default=(SIDE, SIDE), static=True)
    """[m], the corners of the area."""

    @property
    def num_actions(self) -> int:
        return len(self.moves)

    def reach(self, position: Position) -> Float[Array, "actions 2"]:
        """Where each move leads."""
        there = position[None, :] + jnp.array(self.moves)
        return jnp.clip(there, jnp.array(self.low)[None, :], jnp.array(self.high)[None, :])

    def __call__(self, position: Position, action: Int[Array, ""]) -> Position:
        """Where one move leads."""
        return self.reach(position)[action]

    def free(self, position: Position) -> Bool[Array, " actions"]:
        """Whether each move fits into the area as a whole."""
        wanted = position[None, :] + jnp.array(self.moves)
        return jnp.max(jnp.abs(self.reach(position) - wanted), axis=1) < _ROUNDING


FOUR_MOVES = Motion()
"""The benchmark's unit moves in its square."""
