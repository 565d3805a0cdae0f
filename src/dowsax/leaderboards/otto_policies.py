"""Policies of the olfactory search: infotaxis, space-aware infotaxis, and a planner of far places."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_search import LEAST, MOVES, After, Belief, Place, evidence

_REACHES = (1, 3, 6)


def infotaxis(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, " moves"]:
    """Return the expected entropy of the belief after each move (Vergassola et al. 2007)."""
    chances, entropies = chances_and_entropies(after.joint)
    return jnp.sum(chances * entropies, axis=-1)


def space_aware(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, " moves"]:
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
    distances = _distances(case, after) / jnp.maximum(chances, LEAST)
    return chances, jnp.maximum(distances + 2 ** (entropies - 1) - 0.5, 1.0)


def chances_and_entropies(
    joint: Float[Array, "*any nx ny"],
) -> tuple[Float[Array, "*any"], Float[Array, "*any"]]:
    """Return the probability of each reading, and the entropy [bit] of the belief after it."""
    chances = joint.sum(axis=(-2, -1))
    beliefs = joint / jnp.maximum(chances, LEAST)[..., None, None]
    return chances, -jnp.sum(beliefs * jnp.log2(jnp.maximum(beliefs, LEAST)), axis=(-2, -1))


def _distances(case: Case, after: After) -> Float[Array, "moves hits"]:
    """Return the mean distance of the source in steps, times the probability of the reading."""
    columns, rows = after.joint.sum(axis=3), after.joint.sum(axis=2)
    east = jnp.abs(jnp.arange(case.shape[0])[None, None] - after.places[:, None, :1])
    north = jnp.abs(jnp.arange(case.shape[1])[None, None] - after.places[:, None, 1:])
    return jnp.sum(columns * east, axis=-1) + jnp.sum(rows * north, axis=-1)


def planner(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, " moves"]:
    r"""Return the steps to the source by way of the best place that begins with each move.

    As the planner of sites has it, some places are far: eight directions, one, three or six cells along each
    axis. The time is that of the way, and of $D + 2^{H-1} - 1/2$ after the reading there.
    """
    offsets = jnp.asarray(_offsets())
    there, limits = place[None] + offsets, jnp.array(case.shape)[None] - 1
    possible = jnp.all((there >= 0) & (there <= limits), axis=1)
    there = jnp.clip(there, 0, limits)
    joint = belief[None, None] * jax.vmap(lambda at: evidence(case, at))(there)
    chances, times = chances_and_times(case, After(possible, there, joint))
    total = jnp.abs(offsets).sum(axis=1) + jnp.sum(chances * times, axis=1)
    total = jnp.where(possible, total, jnp.inf)
    begins = offsets @ jnp.asarray(MOVES).T > 0
    return jnp.min(jnp.where(begins, total[:, None], jnp.inf), axis=0)


def _offsets() -> np.ndarray:
    """Return the offsets of the planner's places [cells]."""
    directions = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
    return np.concatenate([reach * np.array(directions) for reach in _REACHES])
