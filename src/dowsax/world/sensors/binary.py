"""A sensor that only detects: a hit or none in an interval, with an unknown threshold."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault

DEFAULT_DWELL_S = 1.0
"""Where neither the reading nor the site says how long it lasted."""
_MIN_SPREAD = 1e-3
_TINY = 1e-37
_SEEN_SPREADS = 2.0
"""In plumes this many standard deviations weaker than the threshold, hits are still to be expected."""


class Binary(eqx.Module):
    r"""1 where the concentration rises above the threshold θ at least once in the interval T, else 0.

    In a turbulent plume the concentration C fluctuates about its mean c. It is taken as log-normal with the
    intensity i, its standard deviation over its mean, so that
    $p = P(C > \theta) = \Phi\big((\log(c/\theta) - s^2/2)/s\big)$ with $s^2 = \log(1 + i^2)$. An interval has
    $1 + T/\tau$ independent looks, with the correlation time τ of the fluctuations, and false alarms come at
    the rate λ:

    $$P(0) = (1 - p)^{1 + T/\tau}\, e^{-\lambda T} .$$

    Only the ratio of c to θ matters: without knowing the threshold, hits tell the strength of a source only
    relative to it.
    """

    threshold: float | Scalar
    """θ > 0, in the unit of the field."""
    fluctuation: float | Scalar
    """i > 0"""
    correlation_time: float | Scalar
    """τ [s] > 0"""
    false_alarms: float | Scalar
    """λ [1/s], at least zero."""

    def at(self, station: Station) -> "BinaryAt":
        """Return the sensor at a station, with its interval; default: 1 s."""
        dwell = jnp.float32(DEFAULT_DWELL_S) if station.dwell is None else station.dwell
        spread = jnp.sqrt(jnp.log1p(jnp.asarray(self.fluctuation) ** 2))
        return BinaryAt(
            jnp.log(self.threshold),
            jnp.maximum(spread, _MIN_SPREAD),
            1.0 + dwell / self.correlation_time,
            -self.false_alarms * dwell,
        )

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        log_hit = self.at(station).log_density(jnp.ones(()), intensity)
        return (jnp.log(jax.random.uniform(key, minval=_TINY)) < log_hit).astype(jnp.float32)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.at(station).log_density(reading, intensity)

    def fault(self, readings: np.ndarray) -> str | None:
        reason = "this sensor reads 1 for a hit and 0 for none."
        return first_fault(readings, (readings != 0) & (readings != 1), reason)


class BinaryAt(eqx.Module):
    """`Binary` at one station, in the form in which `SwayingWind` averages over directions."""

    log_threshold: Scalar
    spread: Scalar
    """s"""
    num_looks: Scalar
    log_no_alarm: Scalar

    @property
    def noise_floor(self) -> Scalar:
        """The mean concentration of which little is seen, in the unit of the field."""
        return jnp.exp(self.log_threshold - _SEEN_SPREADS * self.spread)

    def scale(self, intensity: Scalar) -> Scalar:
        """Return the range of concentrations at one: none."""
        return jnp.zeros_like(intensity)

    def log_density(self, reading: Scalar, intensity: Scalar, scale: Scalar | float = 0.0) -> Scalar:
        """Return the log probability of a reading.

        With a `scale` the concentration is anywhere in a range of this width about the given one; its
        logarithm is then taken as normal, with mean and variance of a uniform distribution between the ends.
        """
        low, high = (jnp.log(jnp.maximum(intensity + part * jnp.abs(scale), _TINY)) for part in (-0.5, 0.5))
        spread = jnp.sqrt(self.spread * self.spread + (high - low) ** 2 / 12)
        above = 0.5 * (low + high) - 0.5 * self.spread * self.spread - self.log_threshold
        score = above / spread
        # The smaller of p and 1 − p, so that neither is lost to rounding.
        smaller = 0.5 * jax.lax.erfc(math.sqrt(0.5) * jnp.abs(score))
        log_below = jnp.where(score > 0, jnp.log(jnp.maximum(smaller, _TINY)), jnp.log1p(-smaller))
        log_silence = self.num_looks * log_below + self.log_no_alarm
        log_hit = jnp.log(jnp.maximum(-jnp.expm1(log_silence), _TINY))
        return jnp.where(reading > 0.5, log_hit, log_silence)
