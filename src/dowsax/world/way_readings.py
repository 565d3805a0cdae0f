"""A sensor that reads while it moves: where on a way, and for how long."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Position, Scalar, Station
from dowsax.world.actions import Budget
from dowsax.world.fence import Way, length_of, place_on

_ROUNDING_SHARE = 1e-3
"""Of the spacing: a reading this near the end of a way is the one at its end."""


class WayReadings(eqx.Module):
    """Readings on the way, one each interval; the reading at the end of the way is none of them."""

    interval: float | Scalar
    """[s]"""
    speed: float | Scalar = 1.0
    """[m/s]"""

    @property
    def spacing(self) -> float | Scalar:
        """[m], between two readings."""
        return self.interval * self.speed

    def number(self, way: Scalar) -> Int[Array, ""]:
        """Return the number of readings on a way [m]."""
        passed = jnp.ceil(way / self.spacing - _ROUNDING_SHARE).astype(jnp.int32) - 1
        return jnp.maximum(passed, 0)

    def max_number(self, budget: Budget, longest: float) -> float:
        """Return how many readings a budget allows at most, where no way is longer than `longest` [m]."""
        way = min(float(budget.readings) * longest, float(budget.distance))
        return min(way / float(self.speed), float(budget.time)) / float(self.interval)

    def place(self, way: Way, number: Scalar | Int[Array, ""]) -> Position:
        """Return where the reading of this number is taken, counted from 1."""
        return place_on(way, number * self.spacing / jnp.maximum(length_of(way), self.spacing))

    def places(self, way: Way, most: int) -> tuple[Float[Array, "most 2"], Int[Array, ""]]:
        """Return the places of at most `most` readings, evenly spaced, and their number.

        Where there are more, `most` of them are evenly spaced over the whole way.
        """
        number = self.number(length_of(way))
        numbers = jnp.arange(1, most + 1)
        taken = jax.vmap(lambda count: self.place(way, count))(numbers)
        spread = jax.vmap(lambda count: place_on(way, count / (most + 1)))(numbers)
        return jnp.where(number > most, spread, taken), jnp.minimum(number, most)

    def station(self, station: Station) -> Station:
        """Return the station of a reading on the way, which counts no longer than the interval."""
        if station.dwell is None:
            return station
        return replace(station, dwell=jnp.minimum(station.dwell, self.interval))
