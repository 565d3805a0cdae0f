"""The search problem: what is out there, what a move brings, and what a learner sees and is paid."""

from dowsax.envs.environment import Environment, ResetStep, Step, auto_reset, build
from dowsax.envs.observations import OBSERVATIONS, of_belief, raw
from dowsax.envs.rewards import REWARDS, Reward
from dowsax.envs.scenarios import SCENARIOS, Scenario, from_prior, inside
from dowsax.envs.search import MAX_READINGS, SUCCESS, Search, SearchState, Taking, error

__all__ = [
    "MAX_READINGS",
    "OBSERVATIONS",
    "REWARDS",
    "SCENARIOS",
    "SUCCESS",
    "Environment",
    "ResetStep",
    "Reward",
    "Scenario",
    "Search",
    "SearchState",
    "Step",
    "Taking",
    "auto_reset",
    "build",
    "error",
    "from_prior",
    "inside",
    "of_belief",
    "raw",
]
