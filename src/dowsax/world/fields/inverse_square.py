"""Radiation from a point: the inverse square of the distance, with attenuation."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import Distribution
from dowsax.world.distributions import LogNormal, LogUniform, Uniform
from dowsax.world.fields.distance import squared_distance
from dowsax.world.fields.nothing import Nothing
from dowsax.world.ranges import as_number
from dowsax.world.source import Parameter

_MAX_EXPONENT = 60.0


class InverseSquare(eqx.Module):
    r"""$c = q\, e^{-\mu d}/d^2$ with $d^2 = |p - (x, y)|^2 + (z - h)^2 + s^2$, $q$ in counts/s at 1 m.

    μ = 0.0093/m is air for 662 keV (caesium). Shielding on all sides of the source is part of $q$.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("q", "counts/s", "count rate 1 m from the source, without attenuation"),
        Parameter("attenuation", "1/m", "attenuation on the way to the sensor"),
        Parameter("height", "m", "height of the source above ground"),
    )

    altitude: Number = eqx.field(default=1.0, converter=as_number)
    """[m], of the sensor if the station has no altitude."""
    standoff: Number = eqx.field(default=0.1, converter=as_number)
    """$s$ [m], above zero: keeps the field finite and smooth at the source."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        strength, attenuation, height = theta[2:5]
        squared = squared_distance(theta, height, station, self.altitude, self.standoff)
        inverse = jax.lax.rsqrt(squared)
        exponent = jnp.minimum(-attenuation * squared * inverse, _MAX_EXPONENT)
        return jnp.maximum(strength, 0.0) * inverse * inverse * jnp.exp(exponent)

    def without_source(self) -> Nothing:
        return Nothing()


def default_distributions(
    strength: tuple[float, float] = (1.0, 1e7), height: float = 2.0
) -> tuple[Distribution, ...]:
    """Return the defaults: strength [counts/s at 1 m], air within a factor 1.5, up to this height [m]."""
    return LogUniform(*strength), LogNormal(0.0093, 1.5), Uniform(0.0, height)
