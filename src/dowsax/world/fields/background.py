"""Background: added to the field, the same for all sensors, one for each, or measured with each reading."""

import equinox as eqx
import jax

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.amounts import add_amounts, multiply_amount
from dowsax.world.fields.efficient import efficiency_at
from dowsax.world.fields.nothing import remove_source


class Background(eqx.Module):
    r"""$c + b$, or for levels the level of both powers together.

    $b$ is a column of Θ in the unit of the reading. With several sensors it is the one of the station's
    sensor, in as many columns from there on.

    One background for all sensors is that of the place, and each sensor sees it with its own efficiency ε as
    it sees the source: $\varepsilon (c + b)$ in all, where the field has a factor ε already.
    """

    field: Field
    column: int = eqx.field(static=True)
    num_sensors: int = eqx.field(default=1, static=True)
    levels: bool = eqx.field(default=False, static=True)
    is_scaled: bool = eqx.field(default=False, static=True)
    """Whether sensors differ in their efficiency."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return add_amounts(self.field(theta, station), self._background(theta, station), self.levels)

    def _background(self, theta: Theta, station: Station) -> Scalar:
        if self.num_sensors == 1:
            shared = theta[self.column]
            return multiply_amount(shared, efficiency_at(station), self.levels) if self.is_scaled else shared
        if station.sensor is None:
            raise ValueError(
                "A background for each sensor needs the sensor of each reading: give `Station.sensor`."
            )
        return jax.lax.dynamic_index_in_dim(theta, self.column + station.sensor, keepdims=False)

    def without_source(self) -> Field:
        return Background(
            remove_source(self.field), self.column, self.num_sensors, self.levels, self.is_scaled
        )


class MeasuredBackground(eqx.Module):
    """$c + b$, with the background $b$ that is known at each station: as it was read, whatever the sensor."""

    field: Field
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        if station.background is None:
            raise ValueError("A measured background is one for each reading: give `Station.background`.")
        return add_amounts(self.field(theta, station), station.background, self.levels)

    def without_source(self) -> Field:
        return MeasuredBackground(remove_source(self.field), self.levels)
