"""A counter of particles or rays, with a dead time after each."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Number, Scalar, Station
from dowsax.world.ranges import as_number
from dowsax.world.sensors.faults import first_fault

_TINY = 1e-30
# From here on Stirling's series for log k! is exact in float32.
_MIN_STIRLING_COUNT = 16.0


class Counting(eqx.Module):
    r"""$z \sim \text{Poisson}(T m)$ with $m = c/(1 + c\tau)$: counts in the dwell time $T$.

    $c$ is the rate of events [1/s], background included, and τ the time after each in which the counter is
    blind (non-paralysable). With a dead time counts vary a little less than Poisson; that is left out.
    """

    dead_time: Number = eqx.field(default=0.0, converter=as_number)
    """τ [s], at least zero."""

    def __check_init__(self) -> None:
        if not 0 <= self.dead_time < 1:
            raise ValueError(f"`dead_time` must be in [0, 1) s; got {self.dead_time:g}.")

    def mean(self, intensity: Scalar, station: Station) -> Scalar:
        """Return the mean count; default dwell time: 1 s."""
        rate = jnp.maximum(intensity, _TINY)
        rate = rate / (1.0 + rate * self.dead_time)
        return rate if station.dwell is None else rate * station.dwell

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return jax.random.poisson(key, self.mean(intensity, station)).astype(jnp.float32)

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        """Draw an approximate count (Cornish and Fisher); exact draws need a slow loop."""
        mean = self.mean(intensity, station)
        normal = jax.random.normal(key)
        return jnp.maximum(jnp.round(mean + jnp.sqrt(mean) * normal + (normal * normal - 1) / 6), 0.0)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        r"""$\log p(k) = \log p(k \mid \mu = k) - k (u - \log(1 + u))$ with $u = (\mu - k)/k$.

        In float32 the usual $k \log\mu - \mu - \log k!$ is off by one for a million counts; this is not.
        """
        mean = self.mean(intensity, station)
        possible = (reading >= 0) & (reading == jnp.floor(reading))
        count = jnp.maximum(reading, 1.0)
        excess = (mean - count) / count
        # For large u the logarithm of the ratio itself: 1 + u would round where the mean is next to nothing.
        logarithm = jnp.where(excess > -0.5, jnp.log1p(jnp.maximum(excess, -0.5)), jnp.log(mean / count))
        deviance = jnp.where(reading == 0, mean, count * (excess - logarithm))
        return jnp.where(possible, _log_mode(reading), -jnp.inf) - deviance

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(
            readings,
            (readings < 0) | (readings != np.floor(readings)),
            "a count is a whole number, 0 or more.",
        )


def _log_mode(reading: Scalar) -> Scalar:
    r"""$\log p(k \mid \mu = k) = k \log k - k - \log k!$, and 0 for $k = 0$."""
    count = jnp.maximum(reading, 1.0)
    few = jnp.minimum(count, _MIN_STIRLING_COUNT)
    exact = few * jnp.log(few) - few - jax.lax.lgamma(few + 1.0)
    inverse = 1.0 / jnp.maximum(count, _MIN_STIRLING_COUNT)
    series = -0.5 * (math.log(2 * math.pi) + jnp.log(count)) - inverse * (1 / 12 - inverse * inverse / 360)
    return jnp.where(reading < 1, 0.0, jnp.where(count < _MIN_STIRLING_COUNT, exact, series))
