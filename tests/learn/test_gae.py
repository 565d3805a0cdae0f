"""Advantages against plain loops, and what standstill and the two endings mean."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.learn.gae import generalised_advantage

ROLLOUT_LENGTH = 24
DISCOUNT, DECAY = 0.9, 0.7

estimate = partial(jax.jit, static_argnames=("discount", "decay"))(generalised_advantage)


@pytest.fixture
def ticks(key):
    """Searches that end in both ways, without standstill."""
    keys = jax.random.split(key, 4)
    reward, value, next_value = (jax.random.normal(one, (ROLLOUT_LENGTH,)) for one in keys[:3])
    ending = jax.random.randint(keys[3], (ROLLOUT_LENGTH,), 0, 8)
    return reward, value, next_value, ending == 0, ending == 1, jnp.ones(ROLLOUT_LENGTH, bool)


def test_matches_a_loop(ticks):
    """The recursion, written out in double precision."""
    reward, value, next_value, terminated, truncated, _ = (np.asarray(part) for part in ticks)
    later, expected = 0.0, np.zeros(ROLLOUT_LENGTH)
    for t in reversed(range(ROLLOUT_LENGTH)):
        error = reward[t] - value[t] + (0.0 if terminated[t] else DISCOUNT * next_value[t])
        later = error + (0.0 if terminated[t] or truncated[t] else DISCOUNT * DECAY * later)
        expected[t] = later
    found = estimate(*ticks, discount=DISCOUNT, decay=DECAY)
    np.testing.assert_allclose(found.advantage, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.target, expected + value, rtol=1e-5, atol=1e-5)


def test_without_decay_it_is_the_return(ticks):
    """λ = 1 and values that agree with each other: discounted rewards until the stop, minus the value."""
    reward, value = ticks[:2]
    terminated = jnp.zeros(ROLLOUT_LENGTH, bool).at[jnp.array([9, ROLLOUT_LENGTH - 1])].set(True)
    next_value = jnp.roll(value, -1)
    never = jnp.zeros(ROLLOUT_LENGTH, bool)
    found = estimate(reward, value, next_value, terminated, never, ~never, discount=DISCOUNT, decay=1.0)
    returns, ahead = np.zeros(ROLLOUT_LENGTH), 0.0
    for t in reversed(range(ROLLOUT_LENGTH)):
        ahead = float(reward[t]) + (0.0 if terminated[t] else DISCOUNT * ahead)
        returns[t] = ahead
    np.testing.assert_allclose(found.advantage, returns - np.asarray(value), rtol=1e-4, atol=1e-5)


def test_decay_of_nothing_is_the_one_step_error(ticks):
    """λ = 0."""
    reward, value, next_value, terminated, _, _ = ticks
    errors = reward + DISCOUNT * jnp.where(terminated, 0.0, next_value) - value
    found = estimate(*ticks, discount=DISCOUNT, decay=0.0)
    np.testing.assert_allclose(found.advantage, errors, rtol=1e-6)


def test_standstill_changes_nothing(ticks, key):
    """Ticks in between that are not valid, with anything in them, leave the others as they were."""
    places = jnp.sort(jax.random.choice(key, 3 * ROLLOUT_LENGTH, (ROLLOUT_LENGTH,), replace=False))
    noise = 100 * jax.random.normal(key, (3 * ROLLOUT_LENGTH,))
    spread = [(noise if part.dtype != bool else noise > 0).at[places].set(part) for part in ticks[:-1]]
    valid = jnp.zeros(3 * ROLLOUT_LENGTH, bool).at[places].set(True)
    close = estimate(*ticks, discount=DISCOUNT, decay=DECAY)
    apart = estimate(*spread, valid, discount=DISCOUNT, decay=DECAY)
    for one, other in zip(close, apart, strict=True):
        np.testing.assert_array_equal(one, other[places])
        assert (other[~valid] == 0).all()


def test_time_out_counts_on_and_stop_does_not(ticks):
    """The value after a time-out counts; that after a stop does not, nor does any later search."""
    reward, value, next_value, _, _, valid = ticks
    never = jnp.zeros(ROLLOUT_LENGTH, bool)
    at = never.at[10].set(True)

    def first(next_value, value, terminated, truncated):
        found = estimate(
            reward, value, next_value, terminated, truncated, valid, discount=DISCOUNT, decay=DECAY
        )
        return found.advantage[10]

    slopes = jax.grad(first, argnums=(0, 1))
    (of_next, of_value), (of_next_stop, of_value_stop) = (
        slopes(next_value, value, never, at),
        slopes(next_value, value, at, never),
    )
    np.testing.assert_allclose(of_next, DISCOUNT * at, rtol=1e-6)
    assert (of_next_stop == 0).all()
    for slope in (of_value, of_value_stop):
        np.testing.assert_allclose(slope, -1.0 * at, rtol=1e-6)
