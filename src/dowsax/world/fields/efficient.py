"""What sensors of different sensitivity read of the same source."""

import equinox as eqx

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, Field
from dowsax.world.fields.amounts import multiply_amount
from dowsax.world.fields.nothing import remove_source


def efficiency_at(station: Station) -> Scalar:
    """Return the relative sensitivity of the sensor, or fail at trace time where it was not measured."""
    if station.efficiency is None:
        raise ValueError("Sensors that differ need the efficiency of each: give `Station.efficiency`.")
    return station.efficiency


class Efficient(eqx.Module):
    r"""$\varepsilon c$ with the station's efficiency ε; of levels, ε times the power."""

    field: Field
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return multiply_amount(self.field(theta, station), efficiency_at(station), self.levels)

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        assert isinstance(self.field, DirectionDependent)
        profile, factor = self.field.direction_profile(theta, station, spread), efficiency_at(station)
        return profile._replace(value=lambda turn: multiply_amount(profile.value(turn), factor, self.levels))

    def without_source(self) -> Field:
        return Efficient(remove_source(self.field), self.levels)
