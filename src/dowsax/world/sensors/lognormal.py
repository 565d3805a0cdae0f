"""A sensor whose error is a factor: concentrations over many decades."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault

_TINY = 1e-30


class LogNormal(eqx.Module):
    r"""$\log z \sim \mathcal N(\log(c + \text{offset}), \text{spread}^2)$, as a density of $z > 0$ itself."""

    spread: float = 0.25
    """Standard deviation of log z."""
    offset: float = 0.001
    """Background in the unit of the reading, above zero."""

    def location(self, intensity: Scalar) -> Scalar:
        """The mean of log z."""
        return jnp.log(intensity + self.offset)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del station
        return jnp.exp(self.location(intensity) + self.spread * jax.random.normal(key))

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del station
        log_reading = jnp.log(jnp.maximum(reading, _TINY))
        residual = (log_reading - self.location(intensity)) / self.spread
        # The part that depends on the reading alone; the last term is the density of z and not of log z.
        constant = jnp.where(
            reading > 0, -jnp.log(self.spread) - 0.5 * math.log(2 * math.pi) - log_reading, -jnp.inf
        )
        return constant - 0.5 * residual * residual

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(readings, readings <= 0, "a concentration with a factor error is above zero.")
