"""A source behind obstacles: what stands between it and the sensor takes a part of the field."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.amounts import multiply_amount
from dowsax.world.fields.nothing import remove_source
from dowsax.world.obstacles import Obstacles

_MAX_DEPTH = 46.0
"""Of opaque obstacles, as a natural logarithm: 1e-20 of the field, 200 dB, passes."""
_NEPERS_PER_DB = math.log(10) / 10


class Shielded(eqx.Module):
    r"""$c\, e^{-\sum_j \mu_j \ell_j}$ with the length $\ell_j$ [m] of the line of sight in each obstacle.

    Attenuations μ are in 1/m, or in dB/m for levels.
    """

    field: Field
    """Of one source at the first two columns of Θ."""
    obstacles: Obstacles
    attenuations: Float[Array, " polygons"]
    """Of each obstacle, infinite for opaque ones; zero where it is unknown."""
    unknown: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """The numbers of obstacles of unknown attenuation, and the column of it."""
    height: int = eqx.field(static=True)
    """The column of the height [m] of the source above ground."""
    altitude: Number
    """[m], of the sensor if the station has no altitude."""
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        passed = jnp.exp(-self._depth(theta, station))
        return multiply_amount(self.field(theta, station), passed, self.levels)

    def _depth(self, theta: Theta, station: Station) -> Scalar:
        """Return the natural logarithm of what is lost, at most `_MAX_DEPTH`."""
        altitude = self.altitude if station.altitude is None else station.altitude
        attenuations = self.attenuations
        if self.unknown:
            numbers, columns = (jnp.array(each) for each in zip(*self.unknown, strict=True))
            attenuations = attenuations.at[numbers].set(theta[columns])
        depth, is_hidden = self.obstacles.depth(
            attenuations, station.position, theta[:2], altitude, theta[self.height]
        )
        depth = depth * _NEPERS_PER_DB if self.levels else depth
        return jnp.where(is_hidden, _MAX_DEPTH, jnp.minimum(depth, _MAX_DEPTH))

    def without_source(self) -> Field:
        return remove_source(self.field)
