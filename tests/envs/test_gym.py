"""The Gymnasium shell: the contract of Gymnasium itself, exact seeding, and refusals in one line."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from walks import NEVER, SETTINGS, AnyRule

import dowsax
from dowsax.inference import Credible

ID = "dowsax/Search-v0"
ACTIONS = [0, 2, 0, 2, 1, 3, 0, 0, 2, 2, 2, 0, 0, 2, 1, 2, 0]


def made(**settings):
    return gymnasium.make(ID, **{"stop": NEVER, **SETTINGS, **settings})


def run(env, actions, **reset):
    """Everything that comes back, in one flat list."""
    outcomes = [env.reset(**reset)]
    return [*outcomes, *(env.step(action) for action in actions)]


def same(one, two) -> bool:
    """Bit for bit."""
    leaves = zip(*map(jax.tree.leaves, (one, two)), strict=True)
    return all(np.array_equal(left, right) for left, right in leaves)


def test_keeps_the_contract_of_gymnasium():
    """Warnings are errors here, and so are Gymnasium's."""
    check_env(made().unwrapped)


@pytest.mark.slow
def test_a_seed_determines_everything_that_follows():
    """Also after the next reset, and in another environment that has done something else before."""
    one, two = made(), made()
    run(two, [0, 0], seed=8)
    assert same(run(one, ACTIONS, seed=7), run(two, ACTIONS, seed=7))
    second = run(one, ACTIONS[:4])
    assert same(second, run(two, ACTIONS[:4]))
    assert not same(second, run(one, ACTIONS[:4], seed=7))


def test_observations_rewards_and_endings_have_their_types():
    env = made()
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    for number, action in enumerate(ACTIONS, start=2):
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in env.observation_space
        assert observation.dtype == np.float32
        assert observation.flags.writeable
        assert type(reward) is float
        assert not terminated
        assert truncated is (number == SETTINGS["max_readings"])
        assert info["readings"] == number
        assert 0 <= info["path_length"] <= number - 1 + 1e-4
        assert 0 <= info["mass"] <= 1 + 1e-6
        assert 1 <= info["ess"] <= 64 * (1 + 1e-3)
    assert {name: type(value) for name, value in info.items()} == {
        **dict.fromkeys(["spread", "mass", "error", "path_length", "ess"], float),
        "readings": int,
    }


@pytest.mark.parametrize(("seed", "radius"), [(0, 1.0), (1, 1.0), (2, 1.0), (3, 4.0)])
def test_info_is_what_the_belief_says(seed, radius):
    """The mass is that within the radius of the stop rule."""
    env = made() if radius == 1 else made(stop=Credible(radius=radius))
    _, info = env.reset(seed=seed)
    state = env.unwrapped._state
    weights = np.exp(np.asarray(state.belief.log_weights, float))
    places = np.asarray(state.belief.particles, float)[:, :2]
    mean = weights @ places / weights.sum()
    spread = np.sqrt(weights @ (places - mean) ** 2 / weights.sum()).max()
    near = np.linalg.norm(places - mean, axis=1) <= radius
    expected = {
        "spread": spread,
        "mass": weights[near].sum(),
        "error": np.linalg.norm(mean - state.theta[:2]),
        "path_length": 0,
        "readings": 1,
        "ess": 1 / np.sum(weights**2),
    }
    assert list(info) == list(expected)
    np.testing.assert_allclose(list(info.values()), list(expected.values()), rtol=1e-3, atol=1e-3)


def test_a_stop_terminates_and_is_paid_for():
    outcomes = run(made(stop=AnyRule(fixed=4)), [0, 2, 0], seed=0)[1:]
    assert [(reward, terminated, truncated) for _, reward, terminated, truncated, _ in outcomes] == [
        (0.0, False, False),
        (0.0, False, False),
        (1.0, True, False),
    ]


def test_a_step_needs_a_search():
    env = made(stop=AnyRule(fixed=3)).unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded, match="call `reset` before `step`"):
        env.step(0)
    run(env, [0, 0], seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call `reset` before `step`"):
        env.step(0)
    run(env, [0])


@pytest.mark.parametrize("action", [4, -1, 1.5, "north", None, np.array([1]), np.float32(1)], ids=repr)
def test_what_is_not_an_action_is_refused(action):
    env = made()
    env.reset(seed=0)
    with pytest.raises(ValueError, match="An action must be a whole number from 0 to 3; got"):
        env.step(action)


@pytest.mark.parametrize("action", [2, np.int64(2), np.array(2), jnp.asarray(2)], ids=repr)
def test_whole_numbers_of_all_kinds_are_actions(action):
    env = made()
    env.reset(seed=0)
    before = np.asarray(env.unwrapped._state.station.position)
    env.step(action)
    np.testing.assert_allclose(env.unwrapped._state.station.position, before + np.array([0, 1]), rtol=1e-6)


def test_pictures_show_each_step():
    env = made(render_mode="rgb_array", stop=AnyRule(fixed=3))
    env.reset(seed=2)
    pictures = [env.render()]
    for action in (0, 2):
        env.step(action)
        pictures.append(env.render())
    for picture in pictures:
        assert picture.dtype == np.uint8
        assert picture.shape == (600, 600, 3)
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[1], pictures[2])


def test_nothing_is_drawn_without_a_search_or_a_mode():
    with pytest.raises(gymnasium.error.ResetNeeded, match="There is no search yet"):
        made(render_mode="rgb_array").unwrapped.render()
    with pytest.warns(UserWarning, match="Nothing is drawn without a render mode"):
        assert made().unwrapped.render() is None


def test_an_unknown_render_mode_is_refused():
    from dowsax.envs.gym import SearchEnv

    with pytest.raises(ValueError, match="Unknown render mode 'hologram'; known are rgb_array"):
        SearchEnv(render_mode="hologram")


def test_a_policy_acts_on_its_belief(key):
    """As `dowsax search` would: the belief has the readings so far, and the station is where the last was."""
    env = made(field="gas")
    chosen = dowsax.policy("greedy", field="gas")
    with pytest.raises(gymnasium.error.ResetNeeded, match="call `reset` first"):
        _ = env.unwrapped.belief
    _, info = env.reset(seed=3)
    for number in range(1, 4):
        assert int(env.unwrapped.belief.history.size) == number == info["readings"]
        where = env.unwrapped.belief.history.stations.position[number - 1]
        np.testing.assert_array_equal(env.unwrapped.station.position, where)
        *_, info = env.step(chosen(key, *env.unwrapped.policy_inputs))
