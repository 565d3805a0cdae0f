"""A sensor with outliers: noise that grows with the reading and has heavy tails."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.ranges import number
from dowsax.world.sensors.faults import first_fault


class StudentT(eqx.Module):
    r"""$(z - c)/\sigma \sim t_\nu$ with $\sigma = \text{ratio} \cdot |c| + \text{floor}$.

    One reading far off costs $(\nu + 1) \log$ of its distance and not the square of it.
    """

    noise_ratio: float
    noise_floor: float
    """In the unit of the reading, above zero."""
    degrees: float = eqx.field(default=4.0, converter=number, static=True)
    """ν, above zero; the smaller the more outliers, and normal noise as it grows."""

    def __check_init__(self) -> None:
        if not self.degrees > 0:
            raise ValueError(f"`degrees` of freedom must be > 0; got {self.degrees:g}.")

    def scale(self, intensity: Scalar) -> Scalar:
        r"""$\sigma(c)$; the standard deviation is $\sqrt{\nu/(\nu - 2)}$ times it for ν > 2."""
        return self.noise_ratio * jnp.abs(intensity) + self.noise_floor

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        r"""By Bailey's polar method: $t = \sqrt{\nu (u^{-2/\nu} - 1)} \cos 2\pi v$, exact and no loop."""
        del station
        first, second = jax.random.uniform(key, (2,))
        radius = jnp.sqrt(self.degrees * jnp.expm1((-2 / self.degrees) * jnp.log1p(-first)))
        return intensity + self.scale(intensity) * radius * jnp.cos(2 * math.pi * second)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del station
        return self.log_density(reading, intensity, self.scale(intensity))

    def log_density(self, reading: Scalar, intensity: Scalar, scale: Scalar) -> Scalar:
        """Return the log density for noise of this scale."""
        half = 0.5 * (self.degrees + 1)
        residual = (reading - intensity) / scale
        return self._log_middle - jnp.log(scale) - half * jnp.log1p(residual * residual / self.degrees)

    def density(self, reading: Scalar, intensity: Scalar, scale: Scalar) -> Scalar:
        """Return the density itself, which for whole ν needs no logarithm; it may vanish far off."""
        power = self.degrees + 1
        residual = (reading - intensity) / scale
        falling = jax.lax.rsqrt(1.0 + residual * residual / self.degrees)
        tail = jax.lax.integer_pow(falling, int(power)) if power == int(power) else falling**power
        return math.exp(self._log_middle) * tail / scale

    @property
    def _log_middle(self) -> float:
        """The logarithm of the density in the middle, for a scale of one."""
        constant = math.lgamma(0.5 * (self.degrees + 1)) - math.lgamma(0.5 * self.degrees)
        return constant - 0.5 * math.log(math.pi * self.degrees)

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(readings, np.zeros(readings.shape, bool), "")
