"""A sensor that counts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault

_TINY = 1e-30


class Poisson(eqx.Module):
    r"""$z \sim \text{Poisson}(T (c + b))$: counts in the dwell time $T$ over a background rate $b$."""

    background: float = 1.0
    """Counts per second without a source, at least zero."""

    def rate(self, intensity: Scalar, station: Station) -> Scalar:
        """Return the mean count; default dwell time: 1 s."""
        total = intensity + self.background
        return total if station.dwell is None else station.dwell * total

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return jax.random.poisson(key, self.rate(intensity, station)).astype(jnp.float32)

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        r"""Draw an approximate count: $\mu + \sqrt\mu\,n + (n^2 - 1)/6$, rounded (Cornish and Fisher).

        Exact draws need a rejection loop, in which a batch waits for its slowest member.
        """
        rate = self.rate(intensity, station)
        normal = jax.random.normal(key)
        return jnp.maximum(jnp.round(rate + jnp.sqrt(rate) * normal + (normal * normal - 1) / 6), 0.0)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        rate = self.rate(intensity, station)
        possible = (reading >= 0) & (reading == jnp.floor(reading))
        constant = jnp.where(possible, -jax.lax.lgamma(jnp.maximum(reading, 0.0) + 1.0), -jnp.inf)
        return constant + reading * jnp.log(jnp.maximum(rate, _TINY)) - rate

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(
            readings,
            (readings < 0) | (readings != np.floor(readings)),
            "a count is a whole number, 0 or more.",
        )
