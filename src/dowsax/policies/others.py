"""The other searchers of a team: where they are on their way to, and candidates apart from these places."""

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.pending import Pending
from dowsax.types import Scalar
from dowsax.world import Candidates


def pending_at(
    places: Sequence[tuple[float, float]], room: int, heights: Sequence[float] | None = None
) -> Pending:
    """Return the readings that others are about to take, with room for `room` of them.

    They are at these places [m] and, where these are given, heights above ground [m].
    """
    number = len(places)
    filled = np.zeros((room, 2), np.float32)
    filled[:number] = np.reshape(places, (-1, 2))
    altitudes = None
    if heights is not None:
        altitudes = jnp.asarray(np.pad(np.asarray(heights, np.float32), (0, room - number)))
    return Pending(jnp.asarray(filled), jnp.asarray(np.arange(room) < number), altitudes)


def with_pending(policy: Any, pending: Pending | None) -> Any:
    """Return the policy that knows the readings of others, where it takes them into account."""
    if pending is None or not isinstance(policy, LocationPlanner):
        return policy
    return eqx.tree_at(lambda at: at.pending, policy, pending, is_leaf=lambda leaf: leaf is None)


def keep_apart(candidates: Candidates, pending: Pending | None, distance: float | Scalar) -> Candidates:
    """Return the candidates farther than the distance [m] from where others go; all, where none is."""
    if pending is None:
        return candidates
    is_apart = _apart(candidates.places, pending, distance) & candidates.mask
    return candidates._replace(mask=jnp.where(is_apart.any(), is_apart, candidates.mask))


def _apart(places: Float[Array, "k 2"], pending: Pending, distance: float | Scalar) -> Bool[Array, " k"]:
    squares = jnp.sum((places[:, None, :] - pending.places[None, :, :]) ** 2, axis=2)
    return jnp.all((squares > distance**2) | ~pending.is_going[None, :], axis=1)
