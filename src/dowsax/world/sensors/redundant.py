"""Readings that err together: neighbours in time or space share most of the model's error."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import NeedsTheta, Sensor
from dowsax.world.sensors import wrapper


class Redundant(eqx.Module):
    r"""$\log p$ of the sensor divided by κ, the number of readings that count as one.

    A composite likelihood: 4 κ readings move the belief as 4 independent ones. Unless κ = 1 it is not
    normalised; readings are drawn from the inner sensor.
    """

    sensor: Sensor
    count: Scalar = eqx.field(converter=lambda count: jnp.asarray(count, jnp.float32))
    """κ >= 1. It is traced: another value does not recompile."""

    def __check_init__(self) -> None:
        if not isinstance(self.count, Tracer) and not np.asarray(self.count) >= 1:
            raise ValueError(
                f"`count`, the number of readings that count as one, must be at least 1; got {self.count:g}."
            )

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob(reading, intensity, station) / self.count

    def bind(self, theta: Theta) -> "Redundant":
        if not isinstance(self.sensor, NeedsTheta):
            return self
        return Redundant(self.sensor.bind(theta), self.count)

    def log_unit(self, reading: Scalar) -> Scalar:
        return wrapper.log_unit(self.sensor, reading)

    def fault(self, readings: np.ndarray) -> str | None:
        return wrapper.fault(self.sensor, readings)
