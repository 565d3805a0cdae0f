"""Conditional distributions of some columns of Θ given the others, under any prior."""

import jax
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Conditional, Prior


def sample_given(key: Key, prior: Prior, theta: Theta, columns: tuple[int, ...]) -> Theta:
    """Redraw these columns given the others; a prior that is not `Conditional` takes them as independent."""
    if isinstance(prior, Conditional):
        return prior.sample_given(key, theta, columns)
    at = jnp.array(columns)
    return theta.at[at].set(prior.sample(key)[at])


def log_prob_given(prior: Prior, theta: Theta, columns: tuple[int, ...]) -> Scalar:
    """Return the log density of these columns given the others, up to a constant."""
    if isinstance(prior, Conditional):
        return prior.log_prob_given(theta, columns)
    # For independent columns p(J, K) / p(J₀, K) = p(J) / p(J₀), at any place J₀ of the support.
    at = jnp.array(columns)
    elsewhere = theta.at[at].set(prior.sample(jax.random.key(0))[at])
    log_prob, reference = prior.log_prob(theta), prior.log_prob(elsewhere)
    return jnp.where(reference > -jnp.inf, log_prob - reference, -jnp.inf)
