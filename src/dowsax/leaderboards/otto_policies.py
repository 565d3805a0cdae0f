"""Policies of the olfactory search: infotaxis, space-aware infotaxis, and gain for the location."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_search import LEAST, MOVES, After, Belief, Place, evidence

_REACHES = (1, 3, 6)
_RESOLUTION = 0.5
"""[cells], of the location: more is not worth knowing."""
_TURN = 1.0
"""[steps], what any way costs besides its length."""


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


def location_gain(case: Case, belief: Belief, place: Place, after: After) -> Float[Array, " moves"]:
    """Return minus the gain for the location per step, of the best place that begins with each move.

    As the planner of sites, but on the grid: places in eight directions, some of them far. The gain is half
    the expected fall of the logarithm of the determinant of the location's covariance.
    """
    there = place[None] + jnp.asarray(_offsets())
    limits = jnp.array(case.shape)[None] - 1
    inside = jnp.all((there >= 0) & (there <= limits), axis=1)
    joint = belief[None, None] * jax.vmap(lambda at: evidence(case, at))(jnp.clip(there, 0, limits))
    chances = joint.sum(axis=(2, 3))
    spreads = jnp.sum(chances * _log_spread(case, joint), axis=1)
    found = jnp.maximum(1 - chances.sum(axis=1), 0.0)
    gains = _log_spread(case, belief) - spreads - found * jnp.log(_RESOLUTION**4)
    steps = jnp.abs(jnp.asarray(_offsets())).sum(axis=1)
    rates = jnp.where(inside, 0.5 * gains / (steps + _TURN), -jnp.inf)
    begins = jnp.asarray(_offsets()) @ jnp.asarray(MOVES).T > 0
    return -jnp.max(jnp.where(begins, rates[:, None], -jnp.inf), axis=0)


def _offsets() -> np.ndarray:
    """Return the offsets of places [cells]: eight directions, some distances."""
    directions = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if (x, y) != (0, 0)]
    return np.concatenate([reach * np.array(directions) for reach in _REACHES])


def _log_spread(case: Case, joint: Float[Array, "*any nx ny"]) -> Float[Array, "*any"]:
    """Return the logarithm of the determinant of the location's covariance [cells⁴], at a resolution."""
    shares = joint / jnp.maximum(joint.sum(axis=(-2, -1)), LEAST)[..., None, None]
    x, y = jnp.arange(case.shape[0]) - case.start[0], jnp.arange(case.shape[1]) - case.start[1]
    columns, rows = shares.sum(axis=-1), shares.sum(axis=-2)
    mean_x, mean_y = columns @ x, rows @ y
    square_x, square_y = columns @ x**2 - mean_x**2, rows @ y**2 - mean_y**2
    cross = (shares @ y) @ x - mean_x * mean_y
    return jnp.log((square_x + _RESOLUTION**2) * (square_y + _RESOLUTION**2) - cross**2)
