"""A sensor with unknown noise."""

import equinox as eqx

from dowsax.types import Theta
from dowsax.world.base import Sensor
from dowsax.world.sensors.wrapper import SensorWrapper


class UnknownNoise(SensorWrapper):
    """The sensor with some of its numbers taken from Θ. Without Θ it is the inner sensor."""

    sensor: Sensor
    columns: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Pairs of a number of the sensor and its column of Θ."""

    def bind(self, theta: Theta) -> Sensor:
        names = [name for name, _ in self.columns]
        values = [theta[column] for _, column in self.columns]
        return eqx.tree_at(lambda at: [getattr(at, name) for name in names], self.sensor, values)
