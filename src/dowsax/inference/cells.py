"""A square grid over the search area, for what is counted by place: entropy and the particle budget."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief
from dowsax.inference.weights import normalise


@dataclass(frozen=True)
class Grid:
    """Cells of side `cell` [m] that cover the area from `low` to `high` [m]."""

    low: tuple[float, float] = (0.0, 0.0)
    high: tuple[float, float] = (25.0, 25.0)
    cell: float = 1.0

    def __post_init__(self) -> None:
        if not self.cell > 0:
            raise ValueError(f"`cell` is a length in metres, above 0; got {self.cell}.")
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError(f"`low` lies below `high` on both axes; got {self.low} and {self.high}.")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of cells along x and along y."""
        sides = [high - low for low, high in zip(self.low, self.high, strict=True)]
        return math.ceil(sides[0] / self.cell), math.ceil(sides[1] / self.cell)

    @property
    def num_cells(self) -> int:
        return self.shape[0] * self.shape[1]


UNIT_CELLS = Grid()
"""The benchmark's square of 25 m in cells of 1 m."""


def cell_index(grid: Grid, locations: Float[Array, "n 2"]) -> Int[Array, " n"]:
    """The cell of each location, row by row; a location outside the area counts for the nearest cell."""
    low = jnp.asarray(grid.low, jnp.float32)
    steps = jnp.floor((locations - low[None, :]) / grid.cell)
    top = jnp.asarray(grid.shape, jnp.float32) - 1
    columns, rows = jnp.clip(steps, 0.0, top[None, :]).astype(jnp.int32).T
    return rows * grid.shape[0] + columns


def cell_mass(grid: Grid, belief: Belief) -> Float[Array, " cells"]:
    """The probability that the source, columns 0 and 1 of Θ, lies in each cell."""
    indices = cell_index(grid, belief.particles[:, :2])
    weights = jnp.exp(normalise(belief.log_weights))
    return jnp.zeros(grid.num_cells, jnp.float32).at[indices].add(weights)
