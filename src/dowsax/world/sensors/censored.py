"""A sensor that reports nothing below its threshold, and sometimes nothing at all."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station
from dowsax.world.sensors.faults import first_fault


class Censored(eqx.Module):
    r"""With probability $p$ draw $y \sim \mathcal N(c, \sigma^2)$ and report it if $y > \tau$; else report 0.

    `log_prob` is with respect to a mixed measure: at zero it is the log of a probability,
    $P(z = 0) = (1 - p) + p\,\Phi((\tau - c)/\sigma)$; above τ of a density, $p\,\mathcal N(z; c, \sigma^2)$.
    Anything else never happens and has −∞.
    """

    detection_probability: float = 0.9
    threshold: float = 0.005
    """τ, in the unit of the reading, at least zero."""
    noise_ratio: float = 0.20
    noise_floor: float = 0.001

    def scale(self, intensity: Scalar) -> Scalar:
        r"""$\sigma(c) = \text{ratio} \cdot c + \text{floor}$."""
        return self.noise_ratio * intensity + self.noise_floor

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del station
        noise_key, detect_key = jax.random.split(key)
        level = intensity + self.scale(intensity) * jax.random.normal(noise_key)
        detected = jax.random.uniform(detect_key) < self.detection_probability
        return jnp.where(detected & (level > self.threshold), level, 0.0)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del station
        silent = reading == 0
        possible = silent | (reading > self.threshold)
        inverse_scale = 1.0 / self.scale(intensity)
        residual = (jnp.where(silent, self.threshold, reading) - intensity) * inverse_scale
        missed = 1.0 - self.detection_probability
        below = missed + 0.5 * self.detection_probability * jax.lax.erfc(-math.sqrt(0.5) * residual)
        peak = (self.detection_probability / math.sqrt(2 * math.pi)) * inverse_scale
        # Both cases share one log: this is the price of every reading of every particle.
        log_mass = jnp.log(jnp.where(silent, below, peak))
        return jnp.where(possible, log_mass - jnp.where(silent, 0.0, 0.5) * residual * residual, -jnp.inf)

    def log_unit(self, reading: Scalar) -> Scalar:
        """Return the log of the threshold, the unit of the densities; 0 for a silent reading."""
        return jnp.where(reading == 0, 0.0, jnp.log(self.threshold))

    def fault(self, readings: np.ndarray) -> str | None:
        return first_fault(readings, readings < 0, "this sensor never reads below zero.") or first_fault(
            readings,
            (readings > 0) & (readings <= self.threshold),
            f"this sensor reports nothing up to its threshold {self.threshold:g}; record it as 0.",
        )
