"""The beam of a directional antenna."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.fields.amounts import DB_PER_LOG_POWER
from dowsax.world.fields.angles import angle_of
from dowsax.world.ranges import as_number

_MIN_FRONT_TO_BACK_DB = 3.1
"""Below it the power at the back would be more than half of that in front."""


class Beam(eqx.Module):
    r"""$G(\psi) = 10 \log_{10}\!\big(b + (1 - b)\, 2^{-(2\psi/w)^2}\big)$ dB, ψ from the axis of the antenna.

    A normal main lobe, which has lost half of its power at half the beamwidth $w$, over what comes in from
    behind, $b = 10^{-F/10}$ with the front-to-back ratio $F$. It is 0 dB on the axis, and the same all around
    it. The antenna points horizontally: a source straight below is at a right angle.
    """

    width: Number = eqx.field(converter=as_number)
    """$w$ [°], between the half-power points, in (0, 180]."""
    front_to_back: Number = eqx.field(default=20.0, converter=as_number)
    """$F$ [dB]."""

    def __check_init__(self) -> None:
        if not 0 < self.width <= 180:
            raise ValueError(f"`beam` must be in (0, 180] °; got {self.width:g}.")
        if not _MIN_FRONT_TO_BACK_DB <= self.front_to_back <= 100:
            raise ValueError(
                f"`front_to_back` must be from {_MIN_FRONT_TO_BACK_DB} to 100 dB; got {self.front_to_back:g}."
            )

    def gain(self, theta: Theta, station: Station, distance: Scalar) -> Scalar:
        """Return the gain [dB] towards the source, which is this far [m] from the antenna in space."""
        if station.heading is None:
            raise ValueError("A directional antenna has a heading at each reading: give `Station.heading`.")
        heading = jnp.deg2rad(station.heading)
        east, north = theta[0] - station.position[0], theta[1] - station.position[1]
        along = (jnp.sin(heading) * east + jnp.cos(heading) * north) / distance
        turns = angle_of(1.0 - along) * (2 / jnp.deg2rad(self.width))
        behind = 10 ** (-self.front_to_back / 10)
        return DB_PER_LOG_POWER * jnp.log(behind + (1 - behind) * jnp.exp2(-turns * turns))
