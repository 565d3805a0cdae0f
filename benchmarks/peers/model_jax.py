"""The pinned model in JAX for one particle, float32, for engines that trace their target.

A second writing of `benchmarks.peers.model`; a test holds one against the other.
"""

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import gammaln, ndtr

from benchmarks.peers import model

# Proposals outside the support may have any intensity: e^20 keeps the arithmetic finite.
MAX_LOG_INTENSITY = 20.0


def log_field(theta: Array, position: Array) -> Array:
    """As `model.log_field`, with Θ in the coordinates (x, y, log q, ux, uy, log α, log λ)."""
    offset = position - theta[:2]
    distance = jnp.sqrt(jnp.sum(offset**2) + model.STAND_OFF**2)
    drift = 0.5 * jnp.sum(offset * theta[3:5]) * jnp.exp(-theta[5])
    log_phi = theta[2] - theta[5] - jnp.log(4 * jnp.pi * distance) - distance * jnp.exp(-theta[6]) + drift
    return jnp.minimum(log_phi, MAX_LOG_INTENSITY)


def normal_log_prob(value: Array, mean: Array, scale: Array | float) -> Array:
    """Log density of Normal(mean, standard deviation)."""
    return -0.5 * ((value - mean) / scale) ** 2 - jnp.log(scale) - 0.5 * jnp.log(2 * jnp.pi)


def gas_log_prob(reading: Array, c: Array) -> Array:
    """As `model.gas_log_prob`, for readings that the sensor can give."""
    scale = 0.20 * c + 0.001
    missed = (1 - model.GAS_DETECTION) + model.GAS_DETECTION * ndtr((model.GAS_THRESHOLD - c) / scale)
    detected = jnp.log(model.GAS_DETECTION) + normal_log_prob(reading, c, scale)
    return jnp.where(reading == 0, jnp.log(missed), detected)


SENSORS = {
    "temperature": lambda z, c: normal_log_prob(z, c, 0.10 * c + 0.01),
    "concentration": lambda z, c: normal_log_prob(jnp.log(z), jnp.log(c + 0.001), 0.25) - jnp.log(z),
    "magnetic": lambda z, c: normal_log_prob(z, c, 0.05 * c + 0.001),
    "electric": lambda z, c: normal_log_prob(z, c, 0.10 * c + 0.10),
    "gas": gas_log_prob,
    "energy": lambda z, c: z * jnp.log(c + 1.0) - (c + 1.0) - gammaln(z + 1.0),
    "noise": lambda z, c: normal_log_prob(z, 10 * jnp.log10(c + 0.001), 1.0),
}


def log_likelihood(field: str, theta: Array, positions: Array, readings: Array) -> Array:
    r"""$\sum_t \log p(z_t \mid \Theta)$ of one particle in the coordinates."""
    intensities = jnp.exp(jax.vmap(log_field, in_axes=(None, 0))(theta, positions))
    return jnp.sum(SENSORS[field](readings, intensities))


def log_prior(theta: Array) -> Array:
    """As `model.log_prior_coordinates`, without the normalising constant."""
    strength, diffusivity, decay_length = jnp.exp(theta[2]), jnp.exp(theta[5]), jnp.exp(theta[6])
    speed = jnp.sqrt(jnp.sum(theta[3:5] ** 2))
    inside = (
        jnp.all((theta[:2] > model.POSITION_RANGE[0]) & (theta[:2] < model.POSITION_RANGE[1]))
        & (strength > model.STRENGTH_RANGE[0])
        & (strength < model.STRENGTH_RANGE[1])
        & (speed < model.MAX_SPEED)
        & (diffusivity > model.DIFFUSIVITY_RANGE[0])
        & (diffusivity < model.DIFFUSIVITY_RANGE[1])
        & (decay_length < model.MAX_DECAY_LENGTH)
        & (decay_length * speed <= 2 * diffusivity)
    )
    return jnp.where(inside, theta[2] + theta[5] + theta[6] - jnp.log(speed), -jnp.inf)
