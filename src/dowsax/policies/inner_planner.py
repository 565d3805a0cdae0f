"""The planner in a policy: the planner of sites itself, or that whose gains a network observes."""

from dataclasses import replace
from typing import Any

import equinox as eqx

from dowsax.policies.candidate_encoder import CandidateEncoder
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.neural import Neural
from dowsax.policies.planned import PlannedReadings


def with_planned(policy: Any, planned: PlannedReadings | None) -> Any:
    """Return the policy that knows the readings of others, where it takes them into account."""
    if planned is None:
        return policy
    if isinstance(policy, LocationPlanner):
        return eqx.tree_at(lambda at: at.planned, policy, planned, is_leaf=lambda leaf: leaf is None)
    if scores_candidates(policy):
        return with_planner(policy, with_planned(policy.encoder.planner, planned))
    return policy


def takes_planned(policy: Any) -> bool:
    """Whether the policy takes readings into account that are planned, and not taken yet."""
    return isinstance(policy, LocationPlanner) or scores_candidates(policy)


def scores_candidates(policy: Any) -> bool:
    """Whether the policy is a network that scores candidates, and observes the gains of a planner."""
    return isinstance(policy, Neural) and isinstance(policy.encoder, CandidateEncoder)


def with_planner(policy: Any, planner: LocationPlanner) -> Any:
    """Return a network that scores candidates, with the planner whose gains it observes."""
    return replace(policy, encoder=replace(policy.encoder, planner=planner))
