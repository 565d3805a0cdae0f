"""Laws of the pure environment, one by one and in batches."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from walks import MAX_READINGS, NEVER, NUM_WALKS, AnyRule, at, first_state, stacked, step_once, walk, walks

from dowsax.envs import belief_features, build
from dowsax.envs.environment import measure
from dowsax.envs.rewards import REWARDS, indicator
from dowsax.envs.task import Task, step_searches
from dowsax.evaluate import episodes
from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode, row
from dowsax.policies import Greedy, Random


def test_a_key_determines_a_search_bit_for_bit(search, strolls):
    again = walk(search, NEVER, 1, first_state(search, 1))
    pairs = zip(*map(jax.tree.leaves, (at(strolls, 1), again)), strict=True)
    assert all(np.array_equal(one, two) for one, two in pairs)
    assert not np.any(strolls.states.theta[0] == strolls.states.theta[1])
    other = step_once(search, NEVER, jax.random.key(9), at(again.states, 0), jnp.asarray(0, jnp.int32))[0]
    assert other.reading != again.states.reading[1]


@pytest.mark.slow
@pytest.mark.parametrize("last", [1000, MAX_READINGS, MAX_READINGS - 5])
def test_the_two_endings_exclude_each_other(search, first_states, last):
    """A rule that is met at the last reading only does not stop a search that has run out of readings."""
    steps = walks(search, AnyRule(contraction=3.0, fixed=last), first_states).steps
    assert not np.any(steps.terminated & steps.truncated)
    assert np.all((steps.terminated | steps.truncated)[:, -1])
    assert not np.any(steps.truncated[:, :-1])
    assert np.all(steps.terminated[:, last - 2 : -1])
    assert not np.any(steps.terminated[:, -1])
    assert np.any(steps.terminated)
    assert not np.all(steps.terminated)
    np.testing.assert_array_equal(steps.reward, np.where(steps.terminated, 1.0, 0.0))


def test_a_search_counts_its_readings_and_its_path(strolls):
    """One reading more a move, a metre more a move but where the border cuts it."""
    sizes = np.asarray(strolls.states.belief.history.size)
    assert (sizes == np.arange(1, MAX_READINGS + 1)).all()
    position, path = np.asarray(strolls.states.station.position), np.asarray(strolls.states.path_length)
    walked = np.cumsum(np.linalg.norm(np.diff(position, axis=1), axis=-1), axis=1)
    np.testing.assert_allclose(path[:, 1:], walked, rtol=1e-5)
    assert (path[:, 0] == 0).all()
    assert (walked <= np.arange(1, MAX_READINGS) + 1e-4).all()


def test_a_belief_without_particles_ends_the_search(search, strolls, key):
    dead = jnp.full(64, -jnp.inf, jnp.float32)
    state = eqx.tree_at(lambda at: at.belief.log_weights, at(strolls.states, 0, 3), dead)
    after, step = step_once(search, NEVER, key, state, jnp.asarray(0, jnp.int32))
    assert step.truncated
    assert not step.terminated
    assert (np.abs(step.observation) <= 1).all()
    assert jax.jit(partial(measure, search))(after).spread == np.inf


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", REWARDS)
def test_nobody_is_paid_for_a_belief_without_particles(name, search, strolls, key):
    """It has no spread and no entropy, and a learner must not find that out."""
    dead = jnp.full(64, -jnp.inf, jnp.float32)
    state = eqx.tree_at(lambda at: at.belief.log_weights, at(strolls.states, 0, 3), dead)
    environment = build(replace(search, stop=NEVER), reward=REWARDS[name])
    _, step = jax.jit(environment.step)(key, state, jnp.asarray(0, jnp.int32))
    assert step.reward == 0


def test_states_keep_their_type(search):
    """What a step returns can be stepped again without compiling again: same shapes, same (strong) types."""
    environment = build(search)
    first, _ = jax.eval_shape(environment.reset, jax.random.key(0))
    moved, _ = jax.eval_shape(environment.step, jax.random.key(0), first, jnp.asarray(0, jnp.int32))
    kinds = [
        [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(state)]
        for state in (first, moved)
    ]
    assert kinds[0] == kinds[1]
    assert not any(weak for _, _, weak in kinds[0])


class Batch:
    """Searches after different numbers of readings, moved together and one by one with the same keys."""

    def __init__(self, search, strolls, rule):
        task = Task(replace(search, stop=rule), indicator, belief_features(search))
        states = at(strolls.states, np.arange(NUM_WALKS), np.arange(NUM_WALKS) + 2)
        actions, walk_key, number = jnp.arange(NUM_WALKS, dtype=jnp.int32) % 4, jax.random.key(5), 7
        self.states, outcome = step_searches(task, walk_key, states, actions, jnp.asarray(number, jnp.int32))
        observation, measures, self.rewards, self.terminated, self.truncated, *final = outcome
        self.seen, self.final = (observation, measures), tuple(final)
        keys = jax.random.split(jax.random.fold_in(walk_key, number), NUM_WALKS)
        moves = [
            step_once(search, rule, jax.random.split(keys[place])[0], at(states, place), actions[place])
            for place in range(NUM_WALKS)
        ]
        self.plain_states, self.plain = (stacked(part) for part in zip(*moves, strict=True))


def close(one, two) -> bool:
    """Equal but for the order of sums."""
    leaves = zip(*map(jax.tree.leaves, (one, two)), strict=True)
    return all(np.allclose(left, right, rtol=1e-4, atol=1e-4) for left, right in leaves)


def test_a_batch_steps_as_its_members_do(search, strolls):
    """And nothing is reset while no search has ended."""
    batch = Batch(search, strolls, NEVER)
    assert not batch.terminated.any()
    assert not batch.truncated.any()
    assert close(batch.states, batch.plain_states)
    assert close(batch.seen, (batch.plain.observation, batch.plain.measures))
    assert all(map(np.array_equal, jax.tree.leaves(batch.seen), jax.tree.leaves(batch.final)))


def test_auto_reset_returns_the_last_observation_and_resets(search, strolls):
    """Those with nine readings or more end."""
    batch = Batch(search, strolls, AnyRule(fixed=9))
    ended = batch.terminated | batch.truncated
    assert ended.sum() == 7
    assert np.array_equal(batch.terminated, batch.plain.terminated)
    assert np.array_equal(batch.truncated, batch.plain.truncated)
    assert close(batch.rewards, batch.plain.reward)
    assert close(batch.final, (batch.plain.observation, batch.plain.measures))
    assert close(at(batch.states, ~ended), at(batch.plain_states, ~ended))
    assert all(
        np.array_equal(seen[~ended], final[~ended])
        for seen, final in zip(jax.tree.leaves(batch.seen), jax.tree.leaves(batch.final), strict=True)
    )
    fresh = at(batch.states, ended)
    assert (fresh.belief.history.size == 1).all()
    assert (fresh.path_length == 0).all()
    assert (fresh.station.position < 5).all()
    assert not np.any(fresh.theta == batch.plain_states.theta[ended])
    assert close(batch.seen[0][ended], jax.jit(jax.vmap(belief_features(search)))(fresh))
    assert close(at(batch.seen[1], ended), jax.jit(jax.vmap(partial(measure, search)))(fresh))


RULES = [
    TraceRule("contraction", 4.2),
    TraceRule("contraction", 2.5),
    TraceRule("credible", 0.04),
    TraceRule("credible", 0.5),
    TraceRule("entropy", 3.8),
    TraceRule("max-weight", 0.03),
    TraceRule("max-weight", 0.2),
    TraceRule("fixed", 7.0),
]


def recorded(search, policy, key):
    """The rows of a whole search, and its state after the first reading."""
    search = episodes.as_arrays(search)
    state = episodes.PROGRAMS.prepare(search, key)
    first, newest, _ = episodes.PROGRAMS.read(search, row, key, state, state.station.position)
    rows, state = [newest], first
    for _ in range(MAX_READINGS - 1):
        state, newest, _ = episodes.PROGRAMS.read(
            search, row, key, state, episodes.PROGRAMS.decide(search, policy, key, state)
        )
        rows.append(newest)
    return stacked(rows), first


def ending(search, rule, key, rows, state) -> int | None:
    """The reading at which the environment with the rule terminates, along the path of a recorded search."""
    asked = AnyRule(**{rule.name.replace("-", "_"): rule.threshold})
    for number, position in enumerate(rows.position[1:], start=1):
        offsets = np.asarray(search.actions.reach(state.station.position)) - position
        action = np.argmin(np.sum(offsets**2, axis=1)).astype(np.int32)
        take_key = jax.random.split(jax.random.fold_in(key, number))[1]
        state, step = step_once(search, asked, take_key, state, jnp.asarray(action))
        np.testing.assert_allclose(state.reading, rows.reading[number], rtol=1e-4)
        if step.terminated:
            return number + 1
    return None


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Greedy(), Random()], ids=["greedy", "random"])
def test_a_rule_asked_afterwards_stops_where_the_environment_does(search, policy, key):
    rows, first = recorded(search, policy, key)
    record = Episode(first.theta, first.theta, rows, 0.0, search.max_readings)
    readings = {rule: rule.first_stop(record) for rule in RULES}
    assert readings == {rule: ending(search, rule, key, rows, first) for rule in RULES}
    assert sum(reading is not None for reading in readings.values()) >= 3
