"""A sensor that reads a level in decibel."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault


class Decibel(eqx.Module):
    r"""$z \sim \mathcal N(10 \log_{10}(c + \text{offset}), \text{spread}^2)$, in decibel."""

    spread: float = 1.0
    """Standard deviation [dB]."""
    offset: float = 0.001
    """Background in the unit of the field, above zero."""

    def level(self, intensity: Scalar) -> Scalar:
        """The mean reading [dB]."""
        return (10 / math.log(10)) * jnp.log(intensity + self.offset)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del station
        return self.level(intensity) + self.spread * jax.random.normal(key)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del station
        residual = (reading - self.level(intensity)) / self.spread
        return -0.5 * residual * residual - jnp.log(self.spread) - 0.5 * math.log(2 * math.pi)

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(readings, np.zeros(readings.shape, bool), "")
