"""The benchmark field: a steady plume from a point source in a uniform wind."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.fields.distance import require_point
from dowsax.world.source import unpack

# Inside the prior's support the exponent is never positive. Outside it a proposal may ask for more than
# float32 holds; capped, the intensity stays finite and the proposal is rejected without a NaN.
_MAX_EXPONENT = 60.0
# Shorter decay lengths give an intensity of zero in float32 anyway; the floor keeps gradients finite.
_MIN_DECAY_LENGTH_M = 1e-6
# [m²/s], far below that of air; keeps proposals at or below zero from dividing by zero.
_MIN_DIFFUSIVITY = 1e-6
_TINY = 1e-30


class Plume(eqx.Module):
    r"""$\phi(p) = \frac{q}{4\pi\alpha d} \exp\big(-\frac{d}{\lambda} + \frac{\Delta\cdot u}{2\alpha}\big)$.

    $\Delta = p - (x, y)$ and $d^2 = |\Delta|^2 + h^2$. The wind $u$ is where the air goes: the plume lies
    along $+u$. Away from the source $\phi$ solves $\alpha\nabla^2\phi - u\cdot\nabla\phi - k\phi = 0$ in
    three dimensions, with $1/\lambda^2 = |u|^2/4\alpha^2 + k/\alpha$.

    This is the innermost loop of inference. Terms of Θ alone are kept apart, so that they are not recomputed
    for every reading; the rest is one rsqrt and one exp.
    """

    standoff: float = 0.1
    """$h$ [m]: keeps the field finite and smooth at the source."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        source = unpack(theta)
        rate = jnp.maximum(source.strength, 0.0) / (
            4 * math.pi * jnp.maximum(source.diffusivity, _MIN_DIFFUSIVITY)
        )
        inverse_distance, exponent = self._shape(theta, station)
        return rate * inverse_distance * jnp.exp(jnp.minimum(exponent, _MAX_EXPONENT))

    def log_intensity(self, theta: Theta, station: Station) -> Scalar:
        r"""$\log \phi$, exact where $\phi$ itself is too small for float32."""
        source = unpack(theta)
        rate = jnp.maximum(source.strength, _TINY) / jnp.maximum(source.diffusivity, _MIN_DIFFUSIVITY)
        inverse_distance, exponent = self._shape(theta, station)
        return jnp.log(rate) - math.log(4 * math.pi) + jnp.log(inverse_distance) + exponent

    def _shape(self, theta: Theta, station: Station) -> tuple[Scalar, Scalar]:
        r"""$1/d$ and $-d/\lambda + \Delta\cdot u/2\alpha$."""
        require_point(station)
        source = unpack(theta)
        inverse_length = 1.0 / jnp.maximum(source.decay_length, _MIN_DECAY_LENGTH_M)
        half_inverse = 0.5 / jnp.maximum(source.diffusivity, _MIN_DIFFUSIVITY)
        drift_x, drift_y = source.wind_x * half_inverse, source.wind_y * half_inverse

        east = station.position[0] - source.x
        north = station.position[1] - source.y
        squared = east * east + north * north + self.standoff**2
        inverse_distance = jax.lax.rsqrt(squared)
        distance = squared * inverse_distance
        return inverse_distance, east * drift_x + north * drift_y - distance * inverse_length
