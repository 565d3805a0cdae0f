r"""Features of particles for attention: $[\Theta_i;\, \log p(o_k | \Theta_i);\, \log(w_i + \epsilon)]$."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.weights import normalise

WEIGHT_FLOOR = 1e-12
"""ε of the features: the floor of a weight, and of a likelihood relative to the largest one."""


def particle_features(
    particles: Float[Array, "n d"], log_likelihoods: Float[Array, " n"], log_weights: Float[Array, " n"]
) -> Float[Array, "n f"]:
    """Return one row of d + 2 features for each particle, finite even if a likelihood or weight is zero.

    `log_likelihoods` are those of the new reading only.
    """
    best = jnp.max(log_likelihoods, initial=-jnp.inf, where=log_weights > -jnp.inf)
    best = jnp.where(jnp.isfinite(best), best, 0.0)
    floored = jnp.maximum(log_likelihoods, best + jnp.log(WEIGHT_FLOOR))
    columns = [particles, floored[:, None], jnp.log(jnp.exp(log_weights) + WEIGHT_FLOOR)[:, None]]
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
    """Take the moments under the weights; default: all active particles count alike."""

    def __call__(self, features: Float[Array, "n f"], log_weights: Float[Array, " n"]) -> Float[Array, "n f"]:
        counted = log_weights if self.weighted else jnp.where(log_weights > -jnp.inf, 0.0, -jnp.inf)
        weights = jnp.exp(normalise(counted))
        # Twice, because float32 weights sum to one only up to a few millionths: the rounding error of a
        # constant feature must not be scaled up to a spread of one.
        centred = features - (weights @ features)[None, :]
        centred = centred - (weights @ centred)[None, :]
        spread = jnp.sqrt(weights @ centred**2)
        varies = spread > 1e-6 * jnp.max(jnp.abs(features), axis=0)
        return centred * jnp.where(varies, 1 / jnp.where(varies, spread, 1.0), 0.0)[None, :]
