"""A learner that others wrote trains on the search problem."""

import gymnasium
import numpy as np
import pytest
from walks import NEVER, SETTINGS

sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 and PyTorch are not installed")


def test_ppo_trains_for_a_few_hundred_steps():
    env = gymnasium.make("dowsax/Search-v0", stop=NEVER, reward="entropy", **SETTINGS)
    learner = sb3.PPO("MlpPolicy", env, n_steps=64, batch_size=32, n_epochs=2, seed=0, device="cpu")
    before = [weights.detach().numpy().copy() for weights in learner.policy.parameters()]
    learner.learn(256)
    after = [weights.detach().numpy() for weights in learner.policy.parameters()]
    assert all(np.isfinite(weights).all() for weights in after)
    assert any(not np.array_equal(one, two) for one, two in zip(before, after, strict=True))
    action, _ = learner.predict(env.reset(seed=1)[0])
    assert action in env.action_space
