"""A magnetic dipole in the ground, read by a total-field magnetometer."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import Distribution
from dowsax.world.distributions import LogUniform, Normal
from dowsax.world.fields.distance import require_point
from dowsax.world.fields.nothing import Nothing
from dowsax.world.ranges import as_number
from dowsax.world.source import Parameter

# μ0/4π in nT·m³/(A·m²).
_MU0_OVER_4PI = 100.0


class Dipole(eqx.Module):
    r"""$\Delta T = \frac{\mu_0}{4\pi d^3}\,\big(3 (m\cdot\hat d)\,\hat d - m\big)\cdot\hat F$ [nT].

    The part of the dipole's field along the earth's, $\hat F$: what a total-field magnetometer reads as long
    as the anomaly is small against the 25,000 to 65,000 nT of the earth. $d$ leads from the dipole, `depth`
    below ground, to the sensor. Axes are east, north, up.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        Parameter("mx", "A·m²", "magnetic moment, east"),
        Parameter("my", "A·m²", "magnetic moment, north"),
        Parameter("mz", "A·m²", "magnetic moment, up"),
        Parameter("depth", "m", "depth of the source below ground"),
    )

    inclination: Number = eqx.field(default=65.0, converter=as_number)
    """[°], how steeply the earth's field points down; 65° in central Europe."""
    declination: Number = eqx.field(default=0.0, converter=as_number)
    """[°], of the earth's field east of north."""
    altitude: Number = eqx.field(default=1.0, converter=as_number)
    """[m], of the sensor if the station has no altitude."""
    standoff: Number = eqx.field(default=0.1, converter=as_number)
    """$s$ [m], above zero: $s^2$ is added to $d^2$."""

    @property
    def ambient(self) -> tuple[Scalar, Scalar, Scalar]:
        r"""$\hat F$: east, north, up."""
        dip, turn = jnp.deg2rad(self.inclination), jnp.deg2rad(self.declination)
        return jnp.cos(dip) * jnp.sin(turn), jnp.cos(dip) * jnp.cos(turn), -jnp.sin(dip)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        require_point(station)
        moment, depth = theta[2:5], theta[5]
        east, north = station.position[0] - theta[0], station.position[1] - theta[1]
        rise = (self.altitude if station.altitude is None else station.altitude) + depth
        squared = east * east + north * north + rise * rise + self.standoff**2
        inverse = jax.lax.rsqrt(squared)
        east_part, north_part, up_part = self.ambient
        along_moment = moment[0] * east + moment[1] * north + moment[2] * rise
        along_ambient = east_part * east + north_part * north + up_part * rise
        aligned = moment[0] * east_part + moment[1] * north_part + moment[2] * up_part
        squares = inverse * inverse
        return _MU0_OVER_4PI * inverse * squares * (3 * along_moment * along_ambient * squares - aligned)

    def without_source(self) -> Nothing:
        return Nothing()


def default_distributions(
    moment: float = 10.0, depth: tuple[float, float] = (0.1, 10.0)
) -> tuple[Distribution, ...]:
    """Return the defaults: moments of this size [A·m²] in any direction, in this range of depths [m]."""
    return Normal(0.0, moment), Normal(0.0, moment), Normal(0.0, moment), LogUniform(*depth)
