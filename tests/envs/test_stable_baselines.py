"""The vector environment of Stable-Baselines3: what its documentation asks of a `VecEnv`, and a learner.

The oracle is Gymnasium's vector environment of the same searches; the last tests need Stable-Baselines3.
"""

import inspect

import numpy as np
import pytest
from walks import MAX_READINGS, NEVER, NUM_WALKS, SETTINGS, AnyRule

from dowsax.envs.gym_vector import SearchVectorEnv
from dowsax.envs.stable_baselines import SearchVecEnv

EAST = np.zeros(NUM_WALKS, np.int64)
# Of the documentation of Stable-Baselines3: what a `VecEnv` has, with the names of the arguments.
CONTRACT = {
    "reset": (),
    "step_async": ("actions",),
    "step_wait": (),
    "step": ("actions",),
    "close": (),
    "seed": ("seed",),
    "set_options": ("options",),
    "has_attr": ("attr_name",),
    "get_attr": ("attr_name", "indices"),
    "set_attr": ("attr_name", "value", "indices"),
    "env_method": ("method_name", "method_args", "indices", "method_kwargs"),
    "env_is_wrapped": ("wrapper_class", "indices"),
    "get_images": (),
    "render": ("mode",),
    "getattr_depth_check": ("name", "already_found"),
}


def made(kind=SearchVecEnv, **settings):
    return kind(NUM_WALKS, **{"stop": NEVER, **SETTINGS, **settings})


@pytest.mark.parametrize("name", CONTRACT)
def test_it_has_every_method_of_the_contract(name):
    assert tuple(inspect.signature(getattr(SearchVecEnv, name)).parameters)[1:] == CONTRACT[name]


def test_spaces_are_those_of_one_search():
    env = made()
    assert env.observation_space.shape == (17,)
    assert env.action_space.n == 4
    assert (env.num_envs, env.render_mode, env.unwrapped) == (NUM_WALKS, None, env)


def test_steps_and_endings_are_those_of_the_gymnasium_environment():
    """Every third reading ends a search: the old one's last observation, and whether its budget ran out."""
    env, other = made(stop=AnyRule(fixed=3)), made(SearchVectorEnv, stop=AnyRule(fixed=3))
    assert env.seed(5) == [5] * NUM_WALKS
    observations, (expected, infos) = env.reset(), other.reset(seed=5)
    np.testing.assert_array_equal(observations, expected)
    assert env.reset_infos[1]["spread"] == infos["spread"][1]
    for _ in range(3):
        observations, rewards, dones, infos = env.step(EAST)
        expected, expected_rewards, terminated, truncated, batch = other.step(EAST)
        np.testing.assert_array_equal(observations, expected)
        np.testing.assert_array_equal(rewards, expected_rewards.astype(np.float32))
        np.testing.assert_array_equal(dones, terminated | truncated)
        assert (rewards.dtype, dones.dtype) == (np.float32, bool)
        assert all(isinstance(info, dict) for info in infos)
        for place, info in enumerate(infos):
            assert info["TimeLimit.truncated"] is bool(truncated[place])
            assert ("terminal_observation" in info) == dones[place]
            source = batch["final_info"] if dones[place] else batch
            assert info["error"] == source["error"][place]
            if dones[place]:
                np.testing.assert_array_equal(info["terminal_observation"], batch["final_obs"][place])
                assert env.reset_infos[place]["readings"] == 1
    assert dones.sum() in (0, NUM_WALKS)


def test_a_budget_that_runs_out_is_a_time_limit():
    env = made()
    env.reset()
    for reading in range(2, MAX_READINGS + 1):
        *_, dones, infos = env.step(EAST)
        assert dones.all() == (reading == MAX_READINGS)
    assert all(info["TimeLimit.truncated"] for info in infos)


def test_a_seed_is_that_of_the_next_reset_alone():
    env = made()
    firsts = []
    for seed in (7, 7, None):
        if seed is not None:
            env.seed(seed)
        firsts.append(env.reset())
    np.testing.assert_array_equal(firsts[0], firsts[1])
    assert not np.array_equal(firsts[1], firsts[2])
    assert len(set(env.seed())) == 1


def test_attributes_and_methods_of_all_or_some():
    env = made()
    assert env.get_attr("num_envs") == [NUM_WALKS] * NUM_WALKS
    assert env.get_attr("render_mode", indices=2) == [None]
    assert env.has_attr("action_masks")
    assert not env.has_attr("wings")
    with pytest.raises(AttributeError):
        env.get_attr("wings")
    env.set_attr("mark", 3)
    assert env.get_attr("mark", [0, 1]) == [3, 3]
    with pytest.raises(ValueError, match="Searches share their attributes"):
        env.set_attr("mark", 4, indices=0)
    assert env.env_is_wrapped(type(env), indices=[0, 1]) == [False, False]
    with pytest.raises(ValueError, match="call `step_async`"):
        env.step_wait()
    with pytest.raises(ValueError, match="no options"):
        env.set_options({"easy": True})


def test_masks_are_the_moves_that_fit():
    """As learners with masked actions ask for them: one row for each search."""
    env = made()
    positions = (env.reset()[:, :2] + 1) * 12.5
    masks = np.stack(env.env_method("action_masks"))
    assert masks.shape == (NUM_WALKS, 4)
    np.testing.assert_array_equal(masks[:, 1], positions[:, 0] >= 1 - 1e-3)
    np.testing.assert_array_equal(masks[:, 3], positions[:, 1] >= 1 - 1e-3)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=3), masks[[3]])


@pytest.mark.slow
def test_ppo_trains_for_a_few_hundred_steps():
    """A learner that others wrote takes it as one of its own, also behind a wrapper of theirs."""
    sb3 = pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 and PyTorch are not installed")
    env = made(reward="entropy")
    assert isinstance(env, sb3.common.vec_env.VecEnv)
    monitored = sb3.common.vec_env.VecMonitor(env)
    learner = sb3.PPO("MlpPolicy", monitored, n_steps=16, batch_size=32, n_epochs=2, seed=0, device="cpu")
    before = [weights.detach().numpy().copy() for weights in learner.policy.parameters()]
    learner.learn(20 * NUM_WALKS)
    after = [weights.detach().numpy() for weights in learner.policy.parameters()]
    assert all(np.isfinite(weights).all() for weights in after)
    assert any(not np.array_equal(one, two) for one, two in zip(before, after, strict=True))
    actions, _ = learner.predict(env.reset())
    assert actions.shape == (NUM_WALKS,)
