"""Noise of a plume whose edges differ from the model's."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Key, Number, Scalar, Station, Theta
from dowsax.world.base import Field, NeedsTheta, Sensor
from dowsax.world.ranges import as_number
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.stated_uncertainty import Stated
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.wrapper import SensorWrapper


class FuzzyEdge(SensorWrapper):
    r"""$\sigma = \text{ratio} \cdot (|c| + \text{share} \cdot c_0) + \text{floor}$, with $c_0$ on the axis.

    A normal density falls to nothing at the edge of a plume; the mean of a few minutes of real wind does not.
    With noise in proportion to the reading alone, readings at the edge would outweigh those in the middle,
    which locate the source. Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """With a `noise_ratio` and a `noise_floor`, which may be unknown."""
    axis: Field
    r"""$c_0$: the field on the axis, at the distance of the station."""
    share: Number = eqx.field(converter=as_number)

    def __check_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"`share` of a fuzzy edge must be in (0, 1); got {self.share:g}.")

    def bind(self, theta: Theta) -> "Edged":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT | Stated)
        return Edged(sensor, self.axis, theta, self.share)


class Edged(eqx.Module):
    """`FuzzyEdge` for one Θ."""

    sensor: Gaussian | StudentT | Stated
    axis: Field
    theta: Theta
    share: Number

    def at(self, station: Station) -> Gaussian | StudentT:
        """Return the sensor at a station."""
        sensor = self.sensor.at(station) if isinstance(self.sensor, Stated) else self.sensor
        edge = self.share * sensor.noise_ratio * jnp.abs(self.axis(self.theta, station))
        return eqx.tree_at(lambda at: at.noise_floor, sensor, sensor.noise_floor + edge)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).log_prob(reading, intensity, station)
