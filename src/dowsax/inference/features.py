r"""What attention compares: $[\Theta_i;\, \log p(o_k | \Theta_i);\, \log(w_i + \epsilon)]$, projected."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.weights import normalise

FLOOR = 1e-12
"""ε of the features: a weight, or a likelihood over the largest one, below this counts as this."""


def particle_features(
    particles: Float[Array, "n d"], log_likelihoods: Float[Array, " n"], log_weights: Float[Array, " n"]
) -> Float[Array, "n f"]:
    """One row a particle, d + 2 columns, finite also where a likelihood or a weight is zero.

    `log_likelihoods` are those of the newest reading alone.
    """
    best = jnp.max(log_likelihoods, initial=-jnp.inf, where=log_weights > -jnp.inf)
    best = jnp.where(jnp.isfinite(best), best, 0.0)
    floored = jnp.maximum(log_likelihoods, best + jnp.log(FLOOR))
    columns = [particles, floored[:, None], jnp.log(jnp.exp(log_weights) + FLOOR)[:, None]]
    return jnp.concatenate(columns, axis=1)


@runtime_checkable
class Projection(Protocol):
    """The map g from features to the embeddings in which particles are compared."""

    def __call__(
        self, features: Float[Array, "n f"], log_weights: Float[Array, " n"]
    ) -> Float[Array, "n e"]: ...


class Standardise(eqx.Module):
    """Each feature with mean zero and standard deviation one over the active particles.

    A feature that does not vary, such as the weights just after resampling, becomes zero.
    """

    weighted: bool = eqx.field(default=False, static=True)
    """Take the moments under the weights instead of counting every active particle alike."""

    def __call__(self, features: Float[Array, "n f"], log_weights: Float[Array, " n"]) -> Float[Array, "n f"]:
        counted = log_weights if self.weighted else jnp.where(log_weights > -jnp.inf, 0.0, -jnp.inf)
        weights = jnp.exp(normalise(counted))
        # Twice, because float32 weights sum to one only up to a few millionths: what rounding leaves of a
        # constant must not be blown up to a spread of one.
        centred = features - (weights @ features)[None, :]
        centred = centred - (weights @ centred)[None, :]
        spread = jnp.sqrt(weights @ centred**2)
        varies = spread > 1e-6 * jnp.max(jnp.abs(features), axis=0)
        return centred * jnp.where(varies, 1 / jnp.where(varies, spread, 1.0), 0.0)[None, :]
