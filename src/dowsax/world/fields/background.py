"""Background: added to the field, the same for all sensors or one for each."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.nothing import remove_source

_DB_PER_LOG_POWER = 10 / math.log(10)


class Background(eqx.Module):
    r"""$c + b$, or for levels the level of both powers together, $10 \log_{10}(10^{c/10} + 10^{b/10})$.

    $b$ is a column of Θ in the unit of the reading. With several sensors it is the one of the station's
    sensor, in as many columns from there on.
    """

    field: Field
    column: int = eqx.field(static=True)
    num_sensors: int = eqx.field(default=1, static=True)
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        intensity, background = self.field(theta, station), self._background(theta, station)
        if not self.levels:
            return intensity + background
        return _DB_PER_LOG_POWER * jnp.logaddexp(
            intensity / _DB_PER_LOG_POWER, background / _DB_PER_LOG_POWER
        )

    def _background(self, theta: Theta, station: Station) -> Scalar:
        if self.num_sensors == 1:
            return theta[self.column]
        if station.sensor is None:
            raise ValueError(
                "A background for each sensor needs the sensor of each reading: give `Station.sensor`."
            )
        return jax.lax.dynamic_index_in_dim(theta, self.column + station.sensor, keepdims=False)

    def without_source(self) -> Field:
        return Background(remove_source(self.field), self.column, self.num_sensors, self.levels)
