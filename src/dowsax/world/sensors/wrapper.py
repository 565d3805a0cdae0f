"""Sensors around another sensor, and the optional methods they pass on."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.base import Checked, Mixed, Sensor


def log_unit(sensor: Sensor, reading: Scalar) -> Scalar:
    """Return the log unit of a mixed sensor; 0 for others, which have densities only."""
    return sensor.log_unit(reading) if isinstance(sensor, Mixed) else jnp.zeros_like(reading)


def fault(sensor: Sensor, readings: np.ndarray) -> str | None:
    """Return what is wrong with the readings, if the sensor can tell."""
    return sensor.fault(readings) if isinstance(sensor, Checked) else None


class SensorWrapper(eqx.Module):
    """A sensor around another one that depends on Θ. Without Θ it is the inner sensor."""

    sensor: eqx.AbstractVar[Sensor]

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob(reading, intensity, station)

    def log_unit(self, reading: Scalar) -> Scalar:
        return log_unit(self.sensor, reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return fault(self.sensor, readings)
