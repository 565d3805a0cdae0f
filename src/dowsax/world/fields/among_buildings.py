"""Gas among buildings: a table of what each place reads of a source at each other place."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dowsax.types import Position, Scalar, Station, Theta
from dowsax.world.base import Distribution
from dowsax.world.dispersion import Grid, find_free, nearest_numbers, solve_responses, solve_wind, transport
from dowsax.world.distributions import LogUniform
from dowsax.world.fields.distance import require_point
from dowsax.world.fields.nothing import Nothing
from dowsax.world.obstacles import Obstacle
from dowsax.world.source import Parameter

SPREADS_M = (1.0, 8.0)
"""The range of the diffusivity over the wind speed: of plumes that widen by a seventh to a half in 100 m."""
_SPREADS = np.geomspace(*SPREADS_M, 4)
_CELLS, _MARGIN = 48, 12


class AmongBuildings(eqx.Module):
    r"""$c = g\, \frac{q}{u H}\, G_\ell(p, s)$ with the response $G$ between sensor and source.

    $G$ solves advection and diffusion in the potential flow of a given steady wind around the buildings,
    mixed over a layer of depth $H$, with the diffusivity $\ell u$. Between the middles of cells it is
    interpolated linearly, between spreads ℓ its logarithm in that of ℓ. Spreads below half a cell are not
    resolved. Left out: wakes and eddies, turbulence that differs from place to place, heights, buoyancy, and
    changes of the wind.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("q", "g/s", "release rate"),
        Parameter("spread", "m", "diffusivity over the speed of the wind"),
    )

    table: Float[Array, "spreads stations sources"]
    """[1/m], of a release of 1 g/s in a wind of 1 m/s."""
    cells: Int[Array, "columns rows"]
    """The number of the free cell at, or nearest to, each cell."""
    spreads: Float[Array, " spreads"]
    """ln ℓ"""
    low: tuple[float, float] = eqx.field(static=True)
    """[m], the middle of the first cell."""
    cell: float = eqx.field(static=True)
    """[m]"""
    gain: float
    """[unit per g/m³], over wind speed and depth of the layer."""

    @classmethod
    def of(
        cls,
        low: Sequence[float],
        high: Sequence[float],
        obstacles: Sequence[Obstacle],
        wind: Sequence[float],
        *,
        depth: float = 3.0,
        gain: float = 1.0,
        cells: int = _CELLS,
    ) -> "AmongBuildings":
        """Return the field in a box [m], with `cells` along its longer side.

        Parameters
        ----------
        wind
            (east, north) [m/s], where the air goes.
        depth
            [m], of the layer in which the gas is mixed. Release rates are in proportion to it.
        gain
            [unit per g/m³] of the readings.
        """
        speed = math.hypot(*wind)
        if speed < 0.1:
            raise ValueError("Gas among buildings needs a wind of at least 0.1 m/s, which carries it.")
        if depth <= 0:
            raise ValueError(f"`depth` of the mixed layer must be > 0 m; got {depth:g}.")
        direction = float(wind[0]) / speed, float(wind[1]) / speed
        borders = tuple(tuple(map(tuple, np.asarray(one.corners, float).tolist())) for one in obstacles)
        table, numbers, west_south, cell = _solve(tuple(low), tuple(high), borders, direction, cells)
        spreads = jnp.asarray(np.log(_SPREADS), jnp.float32)
        return cls(table, numbers, spreads, west_south, cell, gain / (speed * depth))

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        require_point(station)
        rate, spread = theta[2], jnp.log(theta[3])
        at = jnp.clip(jnp.searchsorted(self.spreads, spread) - 1, 0, len(self.spreads) - 2)
        share = jnp.clip((spread - self.spreads[at]) / (self.spreads[at + 1] - self.spreads[at]), 0.0, 1.0)
        # Of the station first, which all particles share.
        sensors, of_sensors = self._around(station.position)
        rows = jnp.sum(self.table[:, sensors] * of_sensors[None, :, None], axis=1)
        sources, of_sources = self._around(theta[:2])
        low, high = (jnp.sum(rows[number, sources] * of_sources) for number in (at, at + 1))
        tiny = jnp.finfo(low.dtype).tiny
        response = jnp.exp((1 - share) * jnp.log(low + tiny) + share * jnp.log(high + tiny))
        return self.gain * rate * response

    def _around(self, place: Position) -> tuple[Int[Array, "4"], Float[Array, "4"]]:
        """Return the four cells around a place, and the weight of each."""
        columns, rows = self.cells.shape
        steps = (place[:2] - jnp.array(self.low)) / self.cell
        steps = jnp.clip(steps, 0.0, jnp.array([columns - 1.0, rows - 1.0]))
        corner = jnp.minimum(jnp.floor(steps), jnp.array([columns - 2.0, rows - 2.0]))
        east, north = steps - corner
        column, row = corner.astype(jnp.int32)
        numbers = jnp.stack([self.cells[column + dx, row + dy] for dx in (0, 1) for dy in (0, 1)])
        weights = jnp.stack([(1 - east) * (1 - north), (1 - east) * north, east * (1 - north), east * north])
        return numbers, weights

    def without_source(self) -> Nothing:
        return Nothing()


# Solving takes seconds, and a command builds the model of its site several times.
@lru_cache(maxsize=4)
def _solve(
    low: tuple[float, ...],
    high: tuple[float, ...],
    borders: tuple[tuple[tuple[float, float], ...], ...],
    direction: tuple[float, float],
    cells: int,
) -> tuple[Float[Array, "spreads stations sources"], Int[Array, "columns rows"], tuple[float, float], float]:
    """Return the responses among these obstacles, the cells, the middle of the first one and their size."""
    grid = Grid.over(low, high, cells, _MARGIN)
    free = find_free(grid, [Obstacle(np.asarray(corners)) for corners in borders])
    around = solve_wind(grid, free, np.asarray(direction))
    kept = grid.is_near(low, high)[free]
    numbers = np.flatnonzero(kept)
    tables = [solve_responses(transport(grid, free, around, each), numbers)[:, kept] for each in _SPREADS]
    west, south = (end + 0.5 * grid.cell for end in grid.low)
    numbers = nearest_numbers(free & grid.is_near(low, high))
    table = jnp.asarray(np.stack(tables), jnp.float32)
    return table, jnp.asarray(numbers, jnp.int32), (west, south), grid.cell


def default_distributions(rate: tuple[float, float] = (1e-3, 1e3)) -> tuple[Distribution, ...]:
    """Return the defaults: release rate [g/s], and a spread from a stable night to a turbulent yard."""
    return LogUniform(*rate), LogUniform(*SPREADS_M)
