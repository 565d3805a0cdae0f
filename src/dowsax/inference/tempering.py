"""Tempering: how much of the new reading to assimilate before the particles are moved again."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.weights import ess, normalise
from dowsax.types import Scalar

# Exponents evaluated in each pass; three passes leave an error of a thousandth of a decade.
_NUM_EXPONENTS = 16
_NUM_PASSES = 3


def next_exponent(
    log_weights: Float[Array, " n"],
    new_log_likelihood: Float[Array, " n"],
    exponent: Scalar,
    wanted_ess: Scalar,
) -> Scalar:
    r"""Return the largest $\beta' \le 1$ with `wanted_ess` for $w_i\, p(z \mid \Theta_i)^{\beta' - \beta}$.

    One if the whole rest can be assimilated at once. Otherwise the step is searched on a logarithmic grid,
    from one over which the log weights change by less than a tenth.
    """
    rest = 1.0 - exponent
    carried = log_weights > -jnp.inf
    highest = jnp.max(jnp.where(carried, new_log_likelihood, -jnp.inf))
    lowest = jnp.min(jnp.where(carried & (new_log_likelihood > -jnp.inf), new_log_likelihood, highest))
    harmless = jnp.log(0.1 / jnp.maximum(highest - lowest, 0.1 / rest))

    def size(log_step: Scalar) -> Scalar:
        # Zero times a log likelihood of −∞ cannot occur: the step is never zero.
        return ess(normalise(log_weights + jnp.exp(log_step) * new_log_likelihood))

    def refine(bracket: tuple[Scalar, Scalar], _) -> tuple[tuple[Scalar, Scalar], None]:
        low, high = bracket
        steps = low + (high - low) * jnp.linspace(0.0, 1.0, _NUM_EXPONENTS)
        is_enough = jax.vmap(size)(steps) >= wanted_ess
        first_below = jnp.clip(jnp.argmin(is_enough), 1, _NUM_EXPONENTS - 1)
        return (steps[first_below - 1], steps[first_below]), None

    def search() -> Scalar:
        start = (harmless, jnp.log(rest))
        (low, _), _ = jax.lax.scan(refine, start, length=_NUM_PASSES)
        return jnp.minimum(exponent + jnp.exp(low), 1.0)

    return jax.lax.cond(size(jnp.log(rest)) >= wanted_ess, lambda: jnp.ones_like(exponent), search)
