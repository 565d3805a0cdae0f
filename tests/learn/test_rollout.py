"""Searches under way: what is handed to a learner is what happened, move by move."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.envs import REWARDS, SCENARIOS, SearchProblem
from dowsax.inference import Contraction, FilterConfig, Preset
from dowsax.learn import ppo, rollout
from dowsax.learn.rollout import Environments, Tally, Transitions, merge_searches
from dowsax.policies.encoders import MomentEncoder, observation_shapes
from dowsax.policies.networks import PaperNetwork, build_network
from dowsax.world import FOUR_MOVES, benchmark_model
from dowsax.world.motion import AREA_SIDE_M

NUM_SEARCHES, ROLLOUT_LENGTH, MAX_READINGS = 32, 60, 9
FIELDS = ("temperature", "energy")
# Degenerate weights are resampled, so that searches have to be refreshed; nothing is moved: compiled soon.
PRESET = Preset(FilterConfig(num_particles=32, temper=False, num_moves=0, max_moves=0), ())


def searching(field, preset=PRESET):
    return SearchProblem(benchmark_model(field), preset, SCENARIOS["id"], max_readings=MAX_READINGS)


def encoder_of(search):
    return MomentEncoder.build(search.model, search.actions)


def network_of(key):
    search = searching(FIELDS[0])
    return build_network(key, observation_shapes(encoder_of(search), search.model))


def build(rollout_length=ROLLOUT_LENGTH):
    # A loose rule, so that some searches stop and some run out of readings.
    return rollout.build(
        [searching(field) for field in FIELDS],
        encoder_of,
        stop=Contraction(jnp.float32(2.0)),
        reward=REWARDS["indicator"],
        num_searches=NUM_SEARCHES,
        rollout_length=rollout_length,
    )


class Happened(NamedTuple):
    network: PaperNetwork
    environments: Environments
    transitions: Transitions
    tally: Tally


@pytest.fixture(scope="module")
def happened():
    begin_key, run_key, network_key = jax.random.split(jax.random.key(5), 3)
    network, rolling = network_of(network_key), build()
    environments, transitions, tally = eqx.filter_jit(rolling.run)(
        run_key, network, eqx.filter_jit(rolling.init)(begin_key)
    )
    return Happened(
        network, environments, jax.tree.map(np.asarray, transitions), jax.tree.map(np.asarray, tally)
    )


def walks(transitions):
    """The transitions of each place, those that mean something, in order."""
    for place in range(NUM_SEARCHES):
        yield jax.tree.map(lambda leaf, place=place: leaf[:, place][transitions.valid[:, place]], transitions)


@pytest.mark.slow
def test_a_walk_is_where_its_moves_lead(happened):
    """A search that goes on stands where the last move led; a new one stands in the corner of the start."""
    for walk in walks(happened.transitions):
        positions = (walk.observation.numbers[:, :2] + 1) * AREA_SIDE_M / 2
        led = np.asarray(jax.vmap(FOUR_MOVES)(jnp.asarray(positions), jnp.asarray(walk.action)))
        goes_on = ~(walk.terminated | walk.truncated)[:-1]
        np.testing.assert_allclose(led[:-1][goes_on], positions[1:][goes_on], atol=1e-4)
        assert (positions[1:][~goes_on] <= 5 + 1e-4).all()


def test_the_value_afterwards_is_that_of_the_next_move(happened):
    """Both are the output of the same network for the same observation."""
    for walk in walks(happened.transitions):
        goes_on = ~(walk.terminated | walk.truncated)[:-1]
        np.testing.assert_array_equal(walk.next_value[:-1][goes_on], walk.value[1:][goes_on])


def test_log_probabilities_and_values_are_those_of_the_network(happened):
    transitions = happened.transitions
    moves = jax.tree.map(lambda leaf: leaf[transitions.valid], transitions)
    output = jax.vmap(happened.network)(jax.tree.map(jnp.asarray, moves.observation))
    shares = jax.nn.log_softmax(output.logits)[jnp.arange(len(moves.action)), moves.action]
    np.testing.assert_allclose(moves.log_prob, shares, atol=1e-5)
    np.testing.assert_allclose(moves.value, output.value, atol=1e-5)


def test_a_search_ends_by_a_stop_or_when_the_readings_run_out(happened):
    """Never both; the first reading is not a move; the stop alone is paid."""
    ends = []
    for walk in walks(happened.transitions):
        assert not (walk.terminated & walk.truncated).any()
        np.testing.assert_array_equal(walk.reward, walk.terminated.astype(np.float32))
        at = np.flatnonzero(walk.terminated | walk.truncated)
        lengths = np.diff(np.append(-1, at))
        assert (lengths[walk.truncated[at]] == MAX_READINGS - 1).all()
        assert (lengths <= MAX_READINGS - 1).all()
        ends += list(walk.terminated[at])
    assert 0 < np.mean(ends) < 1


def test_all_is_counted(happened):
    """In total and by field."""
    transitions, tally = happened.transitions, happened.tally
    ended = transitions.valid & (transitions.terminated | transitions.truncated)
    stopped = transitions.valid & transitions.terminated
    assert tally.ended == ended.sum() == tally.field_ended.sum()
    assert tally.stopped == stopped.sum() == tally.field_stopped.sum()
    assert tally.false_stops == tally.field_false.sum() <= tally.stopped
    assert 0 < tally.path_length <= MAX_READINGS * tally.stopped
    np.testing.assert_allclose(tally.field_path.sum(), tally.path_length, rtol=1e-5)
    fields = np.arange(NUM_SEARCHES) % len(FIELDS)
    for number in range(len(FIELDS)):
        assert tally.field_stopped[number] == stopped[:, fields == number].sum()


def test_everything_is_finite_also_where_nothing_happened(happened):
    assert not happened.transitions.valid.all()
    for leaf in jax.tree.leaves(happened.transitions):
        assert np.isfinite(leaf).all()


def test_nobody_waits_for_ever(happened):
    """Every place completes moves in the last quarter too."""
    assert happened.transitions.valid[-ROLLOUT_LENGTH // 4 :].any(axis=0).all()


@pytest.mark.slow
def test_a_learner_learns_from_it(key):
    """One update of PPO, on real searches."""
    learner = ppo.build(build(rollout_length=4), network_of, ppo.PPOConfig(minibatches=2), total_steps=1000)
    init_key, update_key = jax.random.split(key)
    before = eqx.filter_jit(learner.init)(init_key)
    after, info = eqx.filter_jit(learner.update)(update_key, before)
    assert info.healthy
    assert int(after.steps) == int(info.steps) > 0
    assert not eqx.tree_equal(before.network, after.network)


def test_what_shares_a_rollout_differs_by_the_sensor_alone():
    other = Preset(FilterConfig(num_particles=16, temper=False, num_moves=0, max_moves=0), ())
    with pytest.raises(ValueError, match="equal but for their sensor"):
        merge_searches([searching("temperature"), searching("gas", other)])
    assert merge_searches([searching("gas")]) == searching("gas")
