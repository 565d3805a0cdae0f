"""A sensor with additive noise that grows with the reading."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault


class Gaussian(eqx.Module):
    r"""$z \sim \mathcal N(c, \sigma^2)$ with $\sigma = \text{ratio} \cdot c + \text{floor}$."""

    noise_ratio: float
    noise_floor: float
    """In the unit of the reading, above zero."""

    def scale(self, intensity: Scalar) -> Scalar:
        r"""$\sigma(c)$, the standard deviation."""
        return self.noise_ratio * intensity + self.noise_floor

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del station
        return intensity + self.scale(intensity) * jax.random.normal(key)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del station
        return self.log_density(reading, intensity, self.scale(intensity))

    def log_density(self, reading: Scalar, intensity: Scalar, scale: Scalar) -> Scalar:
        """Return the log density for noise of this scale."""
        residual = (reading - intensity) / scale
        return -0.5 * residual * residual - jnp.log(scale) - 0.5 * math.log(2 * math.pi)

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(readings, np.zeros(readings.shape, bool), "")
