"""Weights on the probability simplex, in log space. A particle outside the budget has log weight −∞."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.types import Scalar


def log_total(log_weights: Float[Array, " n"]) -> Scalar:
    r"""$\log \sum_i e^{\ell_i}$; −∞ when no particle is left."""
    return jax.nn.logsumexp(log_weights)


def alive(log_weights: Float[Array, " n"]) -> Bool[Array, ""]:
    """Whether any particle has weight; if none has, no particle explains the readings."""
    return jnp.max(log_weights) > -jnp.inf


def normalise(log_weights: Float[Array, " n"]) -> Float[Array, " n"]:
    r"""$\ell_i - \log \sum_j e^{\ell_j}$, so that the weights sum to one.

    If every entry is −∞ the result is −∞ throughout, never NaN; check with `log_total` or `alive`.
    """
    total = log_total(log_weights)
    return log_weights - jnp.where(jnp.isfinite(total), total, 0.0)


def ess(log_weights: Float[Array, " n"]) -> Scalar:
    r"""Effective sample size of normalised weights.

    $$\mathrm{ESS} = \Big(\sum_i w_i^2\Big)^{-1} \in [1, n].$$

    Computed in log space, so that one dominating weight gives 1 and not NaN. Zero when no particle is left.
    """
    size = jnp.exp(-jax.nn.logsumexp(2 * log_weights))
    return jnp.where(alive(log_weights), size, 0.0)


def members_at(log_weights: Float[Array, " n"], levels: Float[Array, " k"]) -> Int[Array, " k"]:
    """Return the numbers of the particles at these levels, from 0 to 1, of the running sum of weights."""
    running = jnp.cumsum(jnp.exp(normalise(log_weights)))
    return jnp.minimum(jnp.searchsorted(running, levels * running[-1]), running.shape[0] - 1)


def max_weight(log_weights: Float[Array, " n"]) -> Scalar:
    r"""$\max_i w_i \in [0, 1]$ of normalised weights."""
    return jnp.exp(jnp.max(log_weights))
