"""Readings that come with an uncertainty of their own."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import NeedsTheta, Sensor
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.wrapper import SensorWrapper


class StatedUncertainty(SensorWrapper):
    r"""The noise floor is $\sqrt{\text{floor}^2 + u^2}$, with the station's uncertainty $u$.

    The floor stays what all readings share, and may be unknown: what an instrument states is a lower bound.
    Of Student's t it is the scale. Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """With a `noise_floor`, which may be unknown."""

    def bind(self, theta: Theta) -> "Stated":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT)
        return Stated(sensor)


class Stated(eqx.Module):
    """`StatedUncertainty` for one Θ."""

    sensor: Gaussian | StudentT

    def at(self, station: Station) -> Gaussian | StudentT:
        """Return the sensor at a station."""
        if station.uncertainty is None:
            raise ValueError("A stated uncertainty is one for each reading: give `Station.uncertainty`.")
        floor = jnp.hypot(jnp.asarray(self.sensor.noise_floor), station.uncertainty)
        return eqx.tree_at(lambda at: at.noise_floor, self.sensor, floor)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).log_prob(reading, intensity, station)
