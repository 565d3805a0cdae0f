"""Draws from a prior, the same in every run, by one program for all who need some."""

import jax
from jaxtyping import Array, Float

from dowsax.programs import stored_jit
from dowsax.world import Prior

NUM_DRAWS = 4000


@stored_jit
def draw_prior(prior: Prior) -> Float[Array, "n d"]:
    """Return `NUM_DRAWS` independent draws."""
    return jax.vmap(prior.sample)(jax.random.split(jax.random.key(0), NUM_DRAWS))
