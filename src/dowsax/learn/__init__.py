"""Training: rollouts, learners, checkpoints."""

from dowsax.learn.actor_critic import ActorCriticConfig
from dowsax.learn.base import Learner, LearnerState, UpdateInfo
from dowsax.learn.checkpoint import Checkpointer
from dowsax.learn.methods import METHODS, Method, TrainConfig
from dowsax.learn.ppo import PPOConfig
from dowsax.learn.rollout import Rollout, Tally, Transitions
from dowsax.learn.train import Diverged, Progress, Trained, train_policy

__all__ = [
    "METHODS",
    "ActorCriticConfig",
    "Checkpointer",
    "Diverged",
    "Learner",
    "LearnerState",
    "Method",
    "PPOConfig",
    "Progress",
    "Rollout",
    "Tally",
    "TrainConfig",
    "Trained",
    "Transitions",
    "UpdateInfo",
    "train_policy",
]
