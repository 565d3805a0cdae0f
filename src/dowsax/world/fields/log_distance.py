"""A level in decibel that falls with the logarithm of the distance: radio, sound, shaking."""

import math
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Distribution
from dowsax.world.distributions import LogNormal, Uniform
from dowsax.world.fields.beam import Beam
from dowsax.world.fields.distance import squared_distance
from dowsax.world.fields.nothing import Flat
from dowsax.world.ranges import number
from dowsax.world.source import Parameter


class LogDistance(eqx.Module):
    r"""$L = L_0 - 10\, n \log_{10}(d / 1\,\text{m}) - a d$ with $d^2 = |p - (x, y)|^2 + (z - h)^2 + s^2$.

    $n = 2$ in free space, less along corridors, more with obstacles. A directional antenna adds its gain,
    and $L_0$ is the level on its axis.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("level", "dB", "level 1 m from the source"),
        Parameter("exponent", "", "path-loss exponent, 2 in free space"),
        Parameter("height", "m", "height of the source above ground"),
        Parameter("attenuation", "dB/m", "attenuation on the way to the sensor"),
    )

    altitude: float = eqx.field(default=1.5, converter=number, static=True)
    """[m], of the sensor if the station has no altitude."""
    standoff: float = eqx.field(default=0.1, converter=number, static=True)
    """$s$ [m], above zero: keeps the level finite and smooth at the source."""
    beam: Beam | None = None
    """Of a directional antenna, whose heading each station has."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        level, exponent, height, attenuation = theta[2:6]
        squared = squared_distance(theta, height, station, self.altitude, self.standoff)
        direct = level - (5 / math.log(10)) * exponent * jnp.log(squared) - attenuation * jnp.sqrt(squared)
        return direct if self.beam is None else direct + self.beam.gain(theta, station, jnp.sqrt(squared))

    def without_source(self) -> Flat:
        """Return the same level everywhere."""
        return Flat(2)


def default_distributions(
    level: tuple[float, float] = (-120.0, 120.0), height: float = 3.0
) -> tuple[Distribution, ...]:
    """Return the defaults: level [dB at 1 m] in this range, exponent 2 to 3, up to this height [m].

    Attenuation, if unknown, is that of sound of some kHz in air within a factor of 3.
    """
    return Uniform(*level), LogNormal(2.4, 1.3), Uniform(0.0, height), LogNormal(0.02, 3.0)
