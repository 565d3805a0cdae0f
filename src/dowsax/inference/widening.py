r"""A belief in which κ readings count as one is $\sqrt\kappa$ times as wide.

Every particle goes $\sqrt\kappa$ times as far from the mean, in the coordinates of the prior: positions in
metres, amounts by factors. Where it would leave the range of the prior it is reflected, so that a parameter
of which the readings say nothing stays as it was. For a normal belief within a wide prior that is the belief
given a κ-th of the readings; for others it is an approximation.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.belief import Belief
from dowsax.inference.prior_draws import draw_prior
from dowsax.inference.summaries import weighted_mean
from dowsax.programs import stored_jit
from dowsax.types import Scalar, Theta
from dowsax.world import Prior
from dowsax.world.base import Coordinates

_NUM_DRAWS = 2048
"""Of the prior, for its range: a share of 1 / 2048 is beyond either end, on average."""
_MIN_WIDTH = 1e-30


class Widening(eqx.Module):
    """The range of a prior in its coordinates, within which beliefs are widened."""

    coordinates: Coordinates
    low: Theta
    high: Theta

    @classmethod
    def of(cls, prior: Prior) -> "Widening":
        low, high = _range(prior.coordinates, draw_prior(prior)[:_NUM_DRAWS])
        return cls(prior.coordinates, low, high)

    def __call__(self, belief: Belief, redundancy: float | Scalar) -> Belief:
        """Return the belief that is reported where κ readings count as one; for κ = 1 as it is."""
        points = jax.vmap(self.coordinates.forward)(belief.particles)
        middle = _middles(points, belief)
        low = jnp.minimum(self.low, jnp.min(points, axis=0))[None, :]
        high = jnp.maximum(self.high, jnp.max(points, axis=0))[None, :]
        wide = _reflect(middle + jnp.sqrt(redundancy) * (points - middle), low, high)
        particles = jax.vmap(self.coordinates.inverse)(wide)
        if belief.number_column is not None:
            # Rounding must not change a number of sources.
            numbers = belief.particles[:, belief.number_column]
            particles = particles.at[:, belief.number_column].set(numbers)
        return replace(belief, particles=jnp.where(redundancy > 1, particles, belief.particles))


def _middles(points: Float[Array, "n d"], belief: Belief) -> Float[Array, "m d"]:
    """Return the mean of the points; for each that of its number of sources, where that is unknown."""
    if belief.number_column is None:
        return weighted_mean(points, belief.log_weights)[None, :]
    numbers, middles = belief.particles[:, belief.number_column], points
    for number in range(1, len(belief.other_columns) + 2):
        is_such = numbers == number
        middle = weighted_mean(points, jnp.where(is_such, belief.log_weights, -jnp.inf))
        middles = jnp.where(is_such[:, None], middle[None, :], middles)
    return middles


@stored_jit
def _range(coordinates: Coordinates, draws: Float[Array, "n d"]) -> tuple[Theta, Theta]:
    """Return the least and the greatest of draws from a prior, in its coordinates."""
    points = jax.vmap(coordinates.forward)(draws)
    return jnp.min(points, axis=0), jnp.max(points, axis=0)


def _reflect(
    points: Float[Array, "n d"], low: Float[Array, "1 d"], high: Float[Array, "1 d"]
) -> Float[Array, "n d"]:
    """Return the points, reflected at both ends of a range until they lie in it."""
    width = jnp.maximum(high - low, _MIN_WIDTH)
    beyond = jnp.mod(points - low, 2 * width)
    return low + jnp.minimum(beyond, 2 * width - beyond)
