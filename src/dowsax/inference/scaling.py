"""Scaling of positions, readings and moments to about [−1, 1], for learners."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief, History
from dowsax.inference.summaries import mean, std
from dowsax.types import Position, Scalar, Theta
from dowsax.world import Prior

_NUM_DRAWS = 4096
# Readings span many decades: the inverse hyperbolic sine is linear about zero and a logarithm far from it.
_MAX_ASINH_READING = 10.0
_PRIOR_STDS = 4.0
"""Prior standard deviations that are scaled to one; beyond them values are clipped."""


def scale_position(position: Position, low: Position, high: Position) -> Position:
    """Return the position relative to the area, in [−1, 1]."""
    return 2 * (position - low) / (high - low) - 1


def scale_reading(reading: Scalar) -> Scalar:
    """Return asinh(z)/10 of a reading, clipped to [−1, 1], which is reached at ±11,000."""
    return jnp.clip(jnp.arcsinh(reading) / _MAX_ASINH_READING, -1, 1)


def scale_moments(belief: Belief, centre: Theta, scale: Theta) -> Float[Array, " two_d"]:
    """Return [μ, σ] in units of four prior standard deviations, clipped to [−1, 1]."""
    middle = (mean(belief) - centre) / (_PRIOR_STDS * scale)
    spread = std(belief) / (_PRIOR_STDS * scale)
    return jnp.concatenate([jnp.clip(middle, -1, 1), jnp.clip(spread, 0, 1)])


def prior_draws(prior: Prior) -> Float[Array, "draws d"]:
    """Return samples of the prior with a fixed key, so that their moments are the same in every run."""
    return jax.vmap(prior.sample)(jax.random.split(jax.random.key(0), _NUM_DRAWS))


def latest_reading(history: History) -> Scalar:
    """Return the last reading; zero before the first."""
    return history.readings[jnp.clip(history.size - 1, 0, history.readings.shape[0] - 1)]
