"""What a sensor around another one passes on: what only some sensors know of themselves."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.base import Checked, Mixed, Sensor


def log_unit(sensor: Sensor, reading: Scalar) -> Scalar:
    """That of a mixed sensor; others have densities alone, in one unit."""
    return sensor.log_unit(reading) if isinstance(sensor, Mixed) else jnp.zeros_like(reading)


def fault(sensor: Sensor, readings: np.ndarray) -> str | None:
    """What a sensor that knows says of readings that it can never give."""
    return sensor.fault(readings) if isinstance(sensor, Checked) else None


class AsGiven(eqx.Module):
    """A sensor around another one whose law depends on Θ: by itself, without Θ, it is the other one."""

    sensor: eqx.AbstractVar[Sensor]

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob(reading, intensity, station)

    def log_unit(self, reading: Scalar) -> Scalar:
        return log_unit(self.sensor, reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return fault(self.sensor, readings)
