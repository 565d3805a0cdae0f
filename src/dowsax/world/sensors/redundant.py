"""Readings that err together: neighbours in time or space share most of what the model gets wrong."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Sensor, Unsettled
from dowsax.world.sensors import passed_on


class Redundant(eqx.Module):
    r"""$\log p$ of the sensor divided by κ, the number of readings that count as one.

    A composite likelihood: 4 κ readings move the belief as 4 independent ones. It is no law of a reading
    unless κ = 1; a single reading is drawn from the law of the sensor itself.
    """

    sensor: Sensor
    count: Scalar = eqx.field(converter=lambda count: jnp.asarray(count, jnp.float32))
    """κ, at least one. It is traced: another one does not compile again."""

    def __check_init__(self) -> None:
        if not isinstance(self.count, Tracer) and not np.asarray(self.count) >= 1:
            raise ValueError(f"`count` is how many readings count as one, at least 1; got {self.count:g}.")

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob(reading, intensity, station) / self.count

    def settled(self, theta: Theta) -> "Redundant":
        if not isinstance(self.sensor, Unsettled):
            return self
        return Redundant(self.sensor.settled(theta), self.count)

    def log_unit(self, reading: Scalar) -> Scalar:
        return passed_on.log_unit(self.sensor, reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return passed_on.fault(self.sensor, readings)
