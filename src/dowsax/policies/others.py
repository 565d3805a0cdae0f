"""The other searchers of a team: where they are on their way to, and candidates apart from these places."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.neural import Neural
from dowsax.policies.pending import Pending
from dowsax.types import Scalar
from dowsax.world import Candidates


def pending_at(places: Sequence[tuple[float, float]], room: int) -> Pending:
    """Return the readings that others are about to take at these places [m], with room for `room` of them."""
    number = len(places)
    filled = np.zeros((room, 2), np.float32)
    filled[:number] = np.reshape(places, (-1, 2))
    return Pending(jnp.asarray(filled), jnp.asarray(np.arange(room) < number))


def with_pending(policy: Any, pending: Pending | None) -> Any:
    """Return the policy that knows the readings of others, where it takes them into account."""
    if pending is None:
        return policy
    if isinstance(policy, LocationPlanner):
        return eqx.tree_at(lambda at: at.pending, policy, pending, is_leaf=lambda leaf: leaf is None)
    if scores_candidates(policy):
        return with_planner(policy, with_pending(policy.encoder.planner, pending))
    return policy


def scores_candidates(policy: Any) -> bool:
    """Whether the policy is a network that scores candidates, and observes the gains of a planner."""
    return isinstance(policy, Neural) and isinstance(policy.encoder, CandidateEncoder)


def with_planner(policy: Any, planner: LocationPlanner) -> Any:
    """Return a network that scores candidates, with the planner whose gains it observes."""
    return replace(policy, encoder=replace(policy.encoder, planner=planner))


def keep_apart(candidates: Candidates, pending: Pending | None, distance: float | Scalar) -> Candidates:
    """Return the candidates farther than the distance [m] from where others go; all, where none is."""
    if pending is None:
        return candidates
    is_apart = _apart(candidates.places, pending, distance) & candidates.mask
    return candidates._replace(mask=jnp.where(is_apart.any(), is_apart, candidates.mask))


def _apart(places: Float[Array, "k 2"], pending: Pending, distance: float | Scalar) -> Bool[Array, " k"]:
    squares = jnp.sum((places[:, None, :] - pending.places[None, :, :]) ** 2, axis=2)
    return jnp.all((squares > distance**2) | ~pending.is_going[None, :], axis=1)
