"""The vector environment: Gymnasium's own vector environment is the oracle for what it says about endings."""

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from walks import NEVER, NUM_WALKS, SETTINGS, AnyRule

from dowsax.envs.gym_vector import SearchVectorEnv

ID = "dowsax/Search-v0"
EAST = np.zeros(NUM_WALKS, np.int64)


def made(**settings):
    return gymnasium.make_vec(ID, num_envs=NUM_WALKS, **{"stop": NEVER, **SETTINGS, **settings})


def shape_of(tree):
    """What is there and of which kind, without the numbers."""
    if isinstance(tree, dict):
        return {name: shape_of(value) for name, value in tree.items()}
    return tree.shape, tree.dtype


def test_it_is_what_make_vec_makes():
    env = made()
    assert type(env) is SearchVectorEnv
    assert type(made(vectorization_mode="vector_entry_point")) is SearchVectorEnv
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.observation_space.shape == (NUM_WALKS, 17)
    assert env.single_observation_space.shape == (17,)
    assert env.action_space == gymnasium.spaces.MultiDiscrete([4] * NUM_WALKS)


@pytest.mark.slow
def test_a_seed_determines_everything_that_follows():
    """Over endings too, which come at every third reading."""

    def run(env, **reset):
        outcomes = [env.reset(**reset)]
        env.action_space.seed(3)
        outcomes += [env.step(env.action_space.sample()) for _ in range(4)]
        return [np.stack(leaf) if leaf.dtype == object else leaf for leaf in jax.tree.leaves(outcomes)]

    one, two = made(stop=AnyRule(fixed=3)), made(stop=AnyRule(fixed=3))
    run(two, seed=1)
    for reset in ({"seed": 5}, {}):
        pairs = zip(run(one, **reset), run(two, **reset), strict=True)
        assert all(np.array_equal(left, right) for left, right in pairs)


@pytest.mark.slow
def test_endings_are_told_the_way_gymnasium_tells_them():
    """Same names, shapes and types as many single environments under Gymnasium's own vector environment."""
    settings = {"stop": AnyRule(fixed=3), **SETTINGS}
    singles = [lambda: gymnasium.make(ID, **settings)] * NUM_WALKS
    theirs = SyncVectorEnv(singles, autoreset_mode=AutoresetMode.SAME_STEP)
    ours = made(stop=AnyRule(fixed=3))
    assert shape_of(ours.reset(seed=0)[1]) == shape_of(theirs.reset(seed=0)[1])
    for _ in range(2):
        mine, other = ours.step(EAST), theirs.step(EAST)
        assert [shape_of(part) for part in mine] == [shape_of(part) for part in other]
    observations, rewards, terminated, truncated, infos = mine
    assert terminated.all()
    assert not truncated.any()
    assert (rewards == 1).all()
    assert (infos["readings"] == 1).all()
    assert (infos["final_info"]["readings"] == 3).all()
    for last, fresh in zip(infos["final_obs"], observations, strict=True):
        assert last in ours.single_observation_space
        assert not np.array_equal(last, fresh)


def test_only_what_ended_has_a_final_observation():
    """Contraction ends some searches before others."""
    env = made(stop=AnyRule(contraction=3.5))
    env.reset(seed=6)
    mixed = False
    for _ in range(8):
        observations, _, terminated, truncated, infos = env.step(EAST)
        ended = terminated | truncated
        assert observations in env.observation_space
        assert (infos["readings"][ended] == 1).all()
        assert ("final_obs" in infos) == ended.any()
        if ended.any():
            assert np.array_equal(infos["_final_obs"], ended)
            assert [last is not None for last in infos["final_obs"]] == ended.tolist()
            assert (infos["final_info"]["readings"][~ended] == 0).all()
            assert (infos["final_info"]["spread"][ended] < 3.5).all()
        mixed |= ended.any() and not ended.all()
    assert mixed


def test_wrappers_of_gymnasium_understand_it():
    env = RecordEpisodeStatistics(made(stop=AnyRule(fixed=4)))
    env.reset(seed=0)
    for _ in range(6):
        env.step(EAST)
    assert list(env.length_queue) == [3] * (2 * NUM_WALKS)
    assert list(env.return_queue) == [1.0] * (2 * NUM_WALKS)
    listed = DictInfoToList(made())
    assert [info["readings"] for info in listed.reset(seed=0)[1]] == [1] * NUM_WALKS


@pytest.mark.parametrize("actions", [EAST[:-1], EAST + 4, EAST - 1, EAST + 0.5, 0], ids=range(5))
def test_what_are_not_actions_is_refused(actions):
    env = made()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="Actions must be 12 whole numbers from 0 to 3; got"):
        env.step(actions)


def test_what_makes_no_sense_is_refused():
    env = made()
    with pytest.raises(gymnasium.error.ResetNeeded, match="call `reset` before `step`"):
        env.step(EAST)
    with pytest.raises(ValueError, match="`reset_mask` is not supported"):
        env.reset(options={"reset_mask": np.ones(NUM_WALKS, bool)})
    with pytest.raises(ValueError, match="`num_envs` must be at least 1"):
        SearchVectorEnv(0)


def test_there_is_a_picture_of_each():
    env = made(render_mode="rgb_array")
    env.reset(seed=0)
    pictures = env.render()
    assert len(pictures) == NUM_WALKS
    assert all(picture.shape == (600, 600, 3) for picture in pictures)
    assert not np.array_equal(pictures[0], pictures[1])
