"""A sensor whose noise is not known."""

import equinox as eqx

from dowsax.types import Theta
from dowsax.world.base import Sensor
from dowsax.world.sensors.passed_on import AsGiven


class UnknownNoise(AsGiven):
    """The sensor with some of its numbers taken from Θ; by itself it is the sensor as it was given."""

    sensor: Sensor
    columns: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Which number of the sensor is which column of Θ."""

    def settled(self, theta: Theta) -> Sensor:
        names = [name for name, _ in self.columns]
        values = [theta[column] for _, column in self.columns]
        return eqx.tree_at(lambda at: [getattr(at, name) for name in names], self.sensor, values)
