"""Noise in proportion to what the source adds, and not to the background."""

import equinox as eqx

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Field, Sensor, Unsettled
from dowsax.world.sensors.passed_on import AsGiven


class AboveBackground(AsGiven):
    r"""$z - b$ has the law of the sensor at $c - b$, $b$ being the background.

    What makes a reading err by a share of itself is the plume: how it meanders, and how it differs from the
    model. Clean air is the same air everywhere, and how it is measured is the noise floor. By itself, without
    Θ, it is the sensor as it was given.
    """

    sensor: Sensor
    """With additive noise."""
    background: Field
    """$b$: the field without its source."""

    def settled(self, theta: Theta) -> "Above":
        sensor = self.sensor.settled(theta) if isinstance(self.sensor, Unsettled) else self.sensor
        return Above(sensor, self.background, theta)


class Above(eqx.Module):
    """A sensor above its background, were Θ the truth."""

    sensor: Sensor
    background: Field
    theta: Theta

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        background = self.background(self.theta, station)
        return background + self.sensor.sample(key, intensity - background, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        background = self.background(self.theta, station)
        return self.sensor.log_prob(reading - background, intensity - background, station)
