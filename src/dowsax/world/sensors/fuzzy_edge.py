"""Noise of a plume whose edges are not those of the model."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Field, Sensor, Unsettled
from dowsax.world.ranges import number
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.passed_on import AsGiven
from dowsax.world.sensors.student_t import StudentT


class FuzzyEdge(AsGiven):
    r"""$\sigma = \text{ratio} \cdot (|c| + \text{share} \cdot c_0) + \text{floor}$ $c_0$ on the axis.

    A normal density falls to nothing at the edge of a plume; the mean of a few minutes of real wind does not.
    With noise in proportion to the reading alone, readings at the edge would outweigh those in the middle by
    which the source is found. By itself, without Θ, it is the sensor as it was given.
    """

    sensor: Sensor
    """With a `noise_ratio` and a `noise_floor`, which may be unknown."""
    axis: Field
    r"""$c_0$: the field at the distance of the station, were it on the axis."""
    share: float = eqx.field(converter=number, static=True)

    def __check_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ValueError(f"The share of a fuzzy edge is between 0 and 1; got {self.share:g}.")

    def settled(self, theta: Theta) -> "Edged":
        sensor = self.sensor.settled(theta) if isinstance(self.sensor, Unsettled) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT)
        return Edged(sensor, self.axis, theta, self.share)


class Edged(eqx.Module):
    """A fuzzy edge, were Θ the truth."""

    sensor: Gaussian | StudentT
    axis: Field
    theta: Theta
    share: float = eqx.field(static=True)

    def at(self, station: Station) -> Gaussian | StudentT:
        """The sensor there."""
        sensor = self.sensor
        edge = self.share * sensor.noise_ratio * jnp.abs(self.axis(self.theta, station))
        return eqx.tree_at(lambda at: at.noise_floor, sensor, sensor.noise_floor + edge)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).sample(key, intensity, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).log_prob(reading, intensity, station)
