"""Hits that come in runs: the gust that was there a moment ago may still be there."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Earlier, Key, Scalar, Station, Theta
from dowsax.world.base import Field, NeedsTheta, Sensor
from dowsax.world.sensors.binary import DEFAULT_DWELL_S
from dowsax.world.sensors.correlated import MAX_CORRELATION
from dowsax.world.sensors.wrapper import SensorWrapper

GUST_SPEED_M_S = 1.0
"""A distance counts as the time that a slow wind needs for it."""
_TINY = 1e-37


class Persistent(SensorWrapper):
    r"""Readings 0 or 1 of which each depends on the nearest earlier one, with unchanged probabilities.

    With probability ρ the air is the same as at the earlier reading: both are hits if the same uniform number
    is below $p$ and below $p'$. Else the two are independent:

    $$P(1, 1) = (1 - \rho)\, p\, p' + \rho \min(p, p'),\qquad
      \rho = 0.95\, e^{-(\Delta t + \Delta x / v)/\tau} .$$

    Δt is the time between the two, at least as long as the earlier one lasted, Δx their distance, and v =
    1 m/s. Readings without times follow one another. Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """Whose readings are 0 or 1."""
    field: Field
    correlation_time: float
    """τ [s] > 0"""
    column: int | None = eqx.field(static=True)
    """Of Θ, where τ is unknown."""
    num_earlier: int = eqx.field(default=1, static=True)

    def bind(self, theta: Theta) -> "PersistentFor":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        time = jnp.asarray(self.correlation_time) if self.column is None else theta[self.column]
        return PersistentFor(sensor, self.field, theta, time)

    def gaps(self, station: Station, stations: Station, ages: Float[Array, " k"]) -> Float[Array, " k"]:
        """Return the time apart [s], distances included; only the latest counts where there are no times."""
        if station.time is None:
            return jnp.where(ages == 1, 0.0, jnp.inf)
        return jax.vmap(lambda earlier: time_apart(station, earlier))(stations)

    def condense(self, station: Station, earlier: Earlier) -> Earlier:
        del station
        return earlier


class PersistentFor(eqx.Module):
    """`Persistent` for one Θ."""

    sensor: Sensor
    field: Field
    theta: Theta
    correlation_time: Scalar

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        log_hit = self.log_prob(jnp.ones(()), intensity, station)
        return (jnp.log(jax.random.uniform(key, minval=_TINY)) < log_hit).astype(jnp.float32)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        log_own = self.sensor.log_prob(reading, intensity, station)
        if station.earlier is None:
            return log_own
        before = jax.tree.map(lambda leaf: leaf[0], station.earlier)
        expected = self.field(self.theta, before.stations)
        log_before = self.sensor.log_prob(before.readings, expected, before.stations)
        # Of two equal readings min(x, x′)/x′, of two different ones max(x + x′ − 1, 0)/x′.
        differs = -jnp.expm1(log_own) / jnp.maximum(jnp.exp(log_before), _TINY)
        is_same = reading == before.readings
        log_shared = jnp.where(
            is_same, jnp.minimum(log_own - log_before, 0.0), jnp.log(jnp.maximum(1.0 - differs, _TINY))
        )
        apart = time_apart(station, before.stations)
        correlation = MAX_CORRELATION * jnp.exp(-apart / self.correlation_time)
        correlation = jnp.where(before.is_taken, correlation, 0.0)
        log_correlation = jnp.log(jnp.maximum(correlation, _TINY))
        return jnp.logaddexp(jnp.log1p(-correlation) + log_own, log_correlation + log_shared)


def time_apart(station: Station, earlier: Station) -> Scalar:
    """Return the time [s] between two readings, with that of a gust from one to the other."""
    lapse = jnp.float32(DEFAULT_DWELL_S) if earlier.dwell is None else earlier.dwell
    if station.time is not None and earlier.time is not None:
        lapse = jnp.maximum(jnp.abs(station.time - earlier.time), lapse)
    away = jnp.sqrt(jnp.sum((station.place - earlier.place) ** 2))
    return lapse + away / GUST_SPEED_M_S
