"""A sensor whose noise is not known."""

import equinox as eqx
import numpy as np

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Sensor
from dowsax.world.sensors import passed_on


class UnknownNoise(eqx.Module):
    """The sensor with some of its numbers taken from Θ; by itself it is the sensor as it was given."""

    sensor: Sensor
    columns: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Which number of the sensor is which column of Θ."""

    def settled(self, theta: Theta) -> Sensor:
        names = [name for name, _ in self.columns]
        values = [theta[column] for _, column in self.columns]
        return eqx.tree_at(lambda at: [getattr(at, name) for name in names], self.sensor, values)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob(reading, intensity, station)

    def log_unit(self, reading: Scalar) -> Scalar:
        return passed_on.log_unit(self.sensor, reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return passed_on.fault(self.sensor, readings)
