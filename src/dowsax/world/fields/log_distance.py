"""A level in decibel that falls with the logarithm of the distance: radio, sound, shaking."""

import math
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import Distribution
from dowsax.world.distributions import LogNormal, Normal, Uniform
from dowsax.world.fields.beam import Beam
from dowsax.world.fields.distance import squared_distance
from dowsax.world.fields.nothing import Flat
from dowsax.world.ranges import as_number
from dowsax.world.source import Parameter


class LogDistance(eqx.Module):
    r"""$L = L_0 - 10\, n \log_{10}(d / 1\,\text{m}) - a d + g \cdot (p - (x, y))/d$.

    $d^2 = |p - (x, y)|^2 + (z - h)^2 + s^2$. $n = 2$ in free space, less along corridors, more with
    obstacles. The gain g [dB], east and north, is that of a source that radiates more to one side. A
    directional antenna adds its own gain, and $L_0$ is the level on its axis.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("level", "dB", "level 1 m from the source"),
        Parameter("exponent", "", "path-loss exponent, 2 in free space"),
        Parameter("height", "m", "height of the source above ground"),
        Parameter("attenuation", "dB/m", "attenuation on the way to the sensor"),
        Parameter("gain_east", "dB", "how much more the source radiates to the east than on average"),
        Parameter("gain_north", "dB", "how much more the source radiates to the north than on average"),
    )

    altitude: Number = eqx.field(default=1.5, converter=as_number)
    """[m], of the sensor if the station has no altitude."""
    standoff: Number = eqx.field(default=0.1, converter=as_number)
    """$s$ [m], above zero: keeps the level finite and smooth at the source."""
    beam: Beam | None = None
    """Of a directional antenna, whose heading each station has."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        level, exponent, height, attenuation, gain_east, gain_north = theta[2:8]
        squared = squared_distance(theta, height, station, self.altitude, self.standoff)
        inverse = jax.lax.rsqrt(squared)
        east, north = station.position[0] - theta[0], station.position[1] - theta[1]
        gain = (gain_east * east + gain_north * north) * inverse
        lost = (5 / math.log(10)) * exponent * jnp.log(squared) + attenuation * squared * inverse
        direct = level - lost + gain
        return direct if self.beam is None else direct + self.beam.gain(theta, station, squared * inverse)

    def without_source(self) -> Flat:
        """Return the same level everywhere."""
        return Flat(2)


def default_distributions(
    level: tuple[float, float] = (-120.0, 120.0), height: float = 3.0
) -> tuple[Distribution, ...]:
    """Return the defaults: level [dB at 1 m] in this range, exponent 2 to 3, up to this height [m].

    Attenuation, if unknown, is that of sound of some kHz in air within a factor of 3. The gain of a source
    whose pattern is not known is 2 dB each way, so that its best and its worst side differ by some 5 dB: a
    device with a small antenna, a machine.
    """
    gain = Normal(0.0, 2.0)
    return Uniform(*level), LogNormal(2.4, 1.3), Uniform(0.0, height), LogNormal(0.02, 3.0), gain, gain
