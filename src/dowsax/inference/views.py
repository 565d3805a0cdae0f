"""A search in numbers of about the size of one, whatever the field: what learners are shown."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief, History
from dowsax.inference.summaries import mean, std
from dowsax.types import Position, Scalar, Theta
from dowsax.world import Prior

_NUM_DRAWS = 4096
# Readings span many decades: the inverse hyperbolic sine is linear about zero and a logarithm far from it.
_LARGEST_READING = 10.0
_WIDTH = 4.0
"""Standard deviations of the prior on either side of its mean that are told apart."""


def scaled_place(position: Position, low: Position, high: Position) -> Position:
    """The position in [−1, 1]² of the area."""
    return 2 * (position - low) / (high - low) - 1


def scaled_reading(reading: Scalar) -> Scalar:
    """The reading in [−1, 1]: asinh(z)/10, which tells readings up to ±11,000 apart."""
    return jnp.clip(jnp.arcsinh(reading) / _LARGEST_READING, -1, 1)


def scaled_moments(belief: Belief, centre: Theta, scale: Theta) -> Float[Array, " two_d"]:
    """[μ, σ] in [−1, 1]: four standard deviations of the prior are one."""
    middle = (mean(belief) - centre) / (_WIDTH * scale)
    spread = std(belief) / (_WIDTH * scale)
    return jnp.concatenate([jnp.clip(middle, -1, 1), jnp.clip(spread, 0, 1)])


def prior_draws(prior: Prior) -> Float[Array, "draws d"]:
    """Draws with a key of their own, so that what is scaled by their moments is the same in every run."""
    return jax.vmap(prior.sample)(jax.random.split(jax.random.key(0), _NUM_DRAWS))


def newest_reading(history: History) -> Scalar:
    """The reading taken last; zero before the first."""
    return history.readings[jnp.clip(history.size - 1, 0, history.readings.shape[0] - 1)]
