"""Policies of the olfactory search: infotaxis, its space-aware variant, and gain for the location per step."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_search import After, Belief, Place

_LEAST = float(np.finfo(np.float32).tiny)


def infotaxis(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, "moves"]:
    """Return the expected entropy of the belief after each move (Vergassola et al. 2007)."""
    chances, entropies = chances_and_entropies(after.joint)
    return jnp.sum(chances * entropies, axis=-1)


def space_aware(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, "moves"]:
    r"""Return the expected $\log_2(D + 2^{H-1} - 1/2)$ after each move (Loisy and Eloy 2022)."""
    chances, times = chances_and_times(case, after)
    return jnp.sum(chances * jnp.log2(times), axis=-1)


def chances_and_times(
    case: Case, after: After
) -> tuple[Float[Array, "moves hits"], Float[Array, "moves hits"]]:
    r"""Return the probability of each reading, and $D + 2^{H-1} - 1/2$ [steps] of the belief after it.

    D is the mean distance of the source in steps, and H the entropy [bit]. At least 1, as it is for any
    source that is elsewhere.
    """
    chances, entropies = chances_and_entropies(after.joint)
    distances = _distances(case, after) / jnp.maximum(chances, _LEAST)
    return chances, jnp.maximum(distances + 2 ** (entropies - 1) - 0.5, 1.0)


def chances_and_entropies(
    joint: Float[Array, "*any nx ny"],
) -> tuple[Float[Array, "*any"], Float[Array, "*any"]]:
    """Return the probability of each reading, and the entropy [bit] of the belief after it."""
    chances = joint.sum(axis=(-2, -1))
    beliefs = joint / jnp.maximum(chances, _LEAST)[..., None, None]
    return chances, -jnp.sum(beliefs * jnp.log2(jnp.maximum(beliefs, _LEAST)), axis=(-2, -1))


def _distances(case: Case, after: After) -> Float[Array, "moves hits"]:
    """Return the mean distance of the source in steps, times the probability of the reading."""
    columns, rows = after.joint.sum(axis=3), after.joint.sum(axis=2)
    east = jnp.abs(jnp.arange(case.shape[0]) - after.places[:, None, :1])
    north = jnp.abs(jnp.arange(case.shape[1]) - after.places[:, None, 1:])
    return jnp.sum(columns * east, axis=-1) + jnp.sum(rows * north, axis=-1)
