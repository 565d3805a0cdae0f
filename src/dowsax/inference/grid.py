"""A square grid over the search area, for the entropy of the position and the particle budget."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief
from dowsax.inference.weights import normalise


@dataclass(frozen=True)
class Grid:
    """Grid cells of side `cell` [m] over the area from `low` to `high` [m]."""

    low: tuple[float, float] = (0.0, 0.0)
    high: tuple[float, float] = (25.0, 25.0)
    cell: float = 1.0

    def __post_init__(self) -> None:
        if not self.cell > 0:
            raise ValueError(f"`cell`, a length in metres, must be > 0; got {self.cell}.")
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise ValueError(f"`low` must be below `high` on both axes; got {self.low} and {self.high}.")

    @property
    def shape(self) -> tuple[int, int]:
        """Number of cells along x and along y."""
        sides = [high - low for low, high in zip(self.low, self.high, strict=True)]
        return math.ceil(sides[0] / self.cell), math.ceil(sides[1] / self.cell)

    @property
    def num_cells(self) -> int:
        return self.shape[0] * self.shape[1]


BENCHMARK_GRID = Grid()
"""The benchmark's square of 25 m in cells of 1 m."""


def cell_index(grid: Grid, locations: Float[Array, "n 2"]) -> Int[Array, " n"]:
    """Return the cell index of each location, row by row; outside the area, that of the nearest cell."""
    low = jnp.asarray(grid.low, jnp.float32)
    steps = jnp.floor((locations - low[None, :]) / grid.cell)
    top = jnp.asarray(grid.shape, jnp.float32) - 1
    columns, rows = jnp.clip(steps, 0.0, top[None, :]).astype(jnp.int32).T
    return rows * grid.shape[0] + columns


def cell_mass(grid: Grid, belief: Belief) -> Float[Array, " cells"]:
    """Return the probability that the source lies in each cell; in three dimensions, that it is above it.

    Of several sources it is that of any one of them: the map of their density.
    """
    number = 1 + len(belief.other_columns)
    positions = (
        belief.positions if number == 1 else belief.source_positions.reshape(-1, len(belief.position_columns))
    )
    if positions.shape[1] > len(grid.low):
        positions = positions[:, : len(grid.low)]
    indices = cell_index(grid, positions)
    weights = jnp.exp(normalise(belief.log_weights))
    if number > 1:
        weights = jnp.repeat(weights / number, number)
    if belief.number_column is not None:
        present = belief.particles[:, belief.number_column][:, None] > jnp.arange(number)[None, :]
        weights = weights * present.reshape(-1)
        weights = weights / jnp.maximum(jnp.sum(weights), jnp.finfo(weights.dtype).tiny)
    return jnp.zeros(grid.num_cells, jnp.float32).at[indices].add(weights)
