"""Noise in proportion to the field above its background."""

import equinox as eqx

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Field, NeedsTheta, Sensor
from dowsax.world.sensors.wrapper import SensorWrapper


class AboveBackground(SensorWrapper):
    r"""$z - b$ has the distribution of the sensor at $c - b$, with the background $b$.

    Proportional noise comes from the plume: its meandering, and its difference from the model. The background
    is the same everywhere and has the noise floor only. Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """With additive noise."""
    background: Field
    """$b$: the field without its source."""

    def bind(self, theta: Theta) -> "Above":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        return Above(sensor, self.background, theta)


class Above(eqx.Module):
    """`AboveBackground` for one Θ."""

    sensor: Sensor
    background: Field
    theta: Theta

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        background = self.background(self.theta, station)
        return background + self.sensor.sample(key, intensity - background, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        background = self.background(self.theta, station)
        return self.sensor.log_prob(reading - background, intensity - background, station)
