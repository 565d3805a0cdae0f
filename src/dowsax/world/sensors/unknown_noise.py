"""A sensor whose noise is not known."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Checked, Mixed, Sensor


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
        return self.sensor.log_unit(reading) if isinstance(self.sensor, Mixed) else jnp.zeros_like(reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return self.sensor.fault(readings) if isinstance(self.sensor, Checked) else None
