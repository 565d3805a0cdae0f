"""The search as an environment: sources, moves, readings, beliefs, observations and rewards."""

from dowsax.envs.environment import Environment, Measures, ResetStep, Step, auto_reset, build
from dowsax.envs.observations import OBSERVATIONS, belief_features, raw_features
from dowsax.envs.problem import (
    MAX_READINGS,
    SUCCESS_RADIUS_M,
    PendingUpdate,
    SearchProblem,
    SearchState,
    error,
)
from dowsax.envs.rewards import REWARDS, Reward
from dowsax.envs.scenarios import SCENARIOS, Scenario, from_prior, inside

__all__ = [
    "MAX_READINGS",
    "OBSERVATIONS",
    "REWARDS",
    "SCENARIOS",
    "SUCCESS_RADIUS_M",
    "Environment",
    "Measures",
    "PendingUpdate",
    "ResetStep",
    "Reward",
    "Scenario",
    "SearchProblem",
    "SearchState",
    "Step",
    "auto_reset",
    "belief_features",
    "build",
    "error",
    "from_prior",
    "inside",
    "raw_features",
]
