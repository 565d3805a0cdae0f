"""How much of the newest reading to take in before the particles are moved again."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference.weights import ess, normalise
from dowsax.types import Scalar

# Each pass looks at this many exponents at once; three passes leave an error of a thousandth of a decade.
_GRID = 16
_PASSES = 3


def next_exponent(
    log_weights: Float[Array, " n"], newest: Float[Array, " n"], exponent: Scalar, wanted_ess: Scalar
) -> Scalar:
    r"""The largest $\beta' \le 1$ for which $w_i\, p(z \mid \Theta_i)^{\beta' - \beta}$ keeps the wanted ESS.

    One when the whole rest can be taken at once. Otherwise the step is searched on a logarithmic grid, from
    one so small that it cannot hurt: over it the log weights change by less than a tenth.
    """
    rest = 1.0 - exponent
    carried = log_weights > -jnp.inf
    highest = jnp.max(jnp.where(carried, newest, -jnp.inf))
    lowest = jnp.min(jnp.where(carried & (newest > -jnp.inf), newest, highest))
    harmless = jnp.log(0.1 / jnp.maximum(highest - lowest, 0.1 / rest))

    def size(log_step: Scalar) -> Scalar:
        # Zero times a log likelihood of −∞ cannot occur: the step is never zero.
        return ess(normalise(log_weights + jnp.exp(log_step) * newest))

    def refine(bracket: tuple[Scalar, Scalar], _) -> tuple[tuple[Scalar, Scalar], None]:
        low, high = bracket
        steps = low + (high - low) * jnp.linspace(0.0, 1.0, _GRID)
        kept = jax.vmap(size)(steps) >= wanted_ess
        first_lost = jnp.clip(jnp.argmin(kept), 1, _GRID - 1)
        return (steps[first_lost - 1], steps[first_lost]), None

    def search() -> Scalar:
        start = (harmless, jnp.log(rest))
        (low, _), _ = jax.lax.scan(refine, start, length=_PASSES)
        return jnp.minimum(exponent + jnp.exp(low), 1.0)

    return jax.lax.cond(size(jnp.log(rest)) >= wanted_ess, lambda: jnp.ones_like(exponent), search)
