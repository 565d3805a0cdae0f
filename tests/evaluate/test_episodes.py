"""Searches come out the same whether they run one by one or in groups, and ask for no program twice."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array, Int

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.evaluate import episodes
from dowsax.evaluate.episodes import run_one_by_one
from dowsax.evaluate.pool import Pool, first_occurrences, gather, group_size, run_in_groups, scatter
from dowsax.evaluate.search_steps import as_arrays, stack_policies
from dowsax.evaluate.stops import TraceRule
from dowsax.inference import PRESETS, FilterConfig, Preset
from dowsax.policies import Greedy, OracleStraight, Random
from dowsax.world import benchmark_model, without_source

MAX_READINGS = 10
BOOTSTRAP = Preset(FilterConfig(num_particles=64, temper=False, num_moves=0, max_moves=0), ())
# With these searches some end at once and some at the end.
UNTIL = (TraceRule("contraction", 2.0),)


def searching(field, scenario="id", preset=BOOTSTRAP):
    return SearchProblem(benchmark_model(field), preset, SCENARIOS[scenario], max_readings=MAX_READINGS)


def nothing(ended):
    del ended


@pytest.fixture(scope="module")
def keys():
    return jax.random.split(jax.random.key(11), 34)


@pytest.fixture(scope="module")
def apart(keys):
    return run_one_by_one(searching("temperature"), [Random()], keys, UNTIL, nothing)


def test_in_groups_equals_one_by_one(keys, apart):
    """In any order, and each search is reported once."""
    ended = []
    together = run_in_groups(searching("temperature"), [Random()], keys, UNTIL, ended.append, size=10)
    assert sum(ended) == len(keys)
    assert ended[0] == 0
    assert len({len(episode.rows.spread) for episode in together}) > 1
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)
        assert len(one.rows.spread) == len(other.rows.spread)
        # Sums may be taken in another order, and a resampling may then differ by a particle.
        np.testing.assert_allclose(one.rows.position, other.rows.position, atol=1e-4)
        np.testing.assert_allclose(one.rows.reading, other.rows.reading, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("runner", [run_one_by_one, run_in_groups])
def test_sources_are_absent_where_it_is_said(runner, keys):
    """A search without a source reads what the model without its source gives, the others what it gives."""
    search, present = searching("temperature"), np.array([True, False, True, False])
    empty = replace(search, truth=without_source(search.model))
    mixed = runner(search, [Random()], keys[:4], UNTIL, nothing, present=present)
    for number, there in enumerate(present):
        (alone,) = runner(search if there else empty, [Random()], keys[number : number + 1], UNTIL, nothing)
        expected, found = alone.rows.reading, mixed[number].rows.reading
        assert len(expected) == len(found)
        # A group may add up in another order, which rounds differently.
        np.testing.assert_allclose(expected, found, rtol=1e-3, atol=1e-5)


class Steady(eqx.Module):
    """A policy that always goes the same way."""

    action: Int[Array, ""]

    def __call__(self, key, belief, station, candidates, budget):
        return self.action


@pytest.mark.parametrize("runner", [run_one_by_one, run_in_groups])
def test_policies_search_in_turn(keys, runner):
    """Search k is that of policy k modulo their number, from the number of the first search on."""
    policies = [Steady(jnp.asarray(action, jnp.int32)) for action in range(3)]
    search = searching("temperature")
    episodes = runner(search, policies, keys[:5], UNTIL, nothing, first=4)
    for number, episode in enumerate(episodes, start=4):
        start, then = map(jnp.asarray, episode.rows.position[:2])
        expected = search.actions(start, jnp.asarray(number % 3, jnp.int32))
        np.testing.assert_allclose(then, expected, atol=1e-5)


def test_policies_that_search_in_turn_must_be_alike():
    with pytest.raises(ValueError, match="equal except for their weights"):
        stack_policies([Random(), Steady(jnp.asarray(0))])


@pytest.mark.parametrize(("total", "size"), [(1, 1), (8, 8), (9, 16), (600, 1024), (20_000, 2**20 // 64)])
def test_a_group_has_a_power_of_two_of_searches(total, size):
    """Up to as many as fit, by their particles."""
    assert group_size(searching("temperature"), total) == size


def test_copies_that_fill_a_group_go_nowhere(keys):
    """A search is what was computed in its own place, whatever the copies of it have become."""
    pool = Pool(as_arrays(searching("temperature")), keys[:3], UNTIL, 10)
    members = pool.pad(np.array([2, 0]))
    assert first_occurrences(members).tolist() == [True, True] + [False] * 8
    before = np.asarray(pool.pending.theta)
    group = gather(pool.pending, members)
    marked = eqx.tree_at(lambda pending: pending.theta, group, jnp.arange(10.0)[:, None] + 0 * group.theta)
    places = np.where(first_occurrences(members), members, 3)
    after = np.asarray(scatter(pool.pending, places, marked).theta)
    np.testing.assert_array_equal(after[[2, 0]], [[0.0] * before.shape[1], [1.0] * before.shape[1]])
    np.testing.assert_array_equal(after[1], before[1])


def test_a_search_ends_when_every_rule_has_spoken(apart):
    """At the reading at which the rule stops, or when the readings run out."""
    rule = UNTIL[0]
    for episode in apart:
        num_readings = len(episode.rows.spread)
        assert num_readings == (rule.first_stop(episode) or MAX_READINGS)


def test_a_search_does_not_depend_on_the_others(keys, apart):
    alone = run_one_by_one(searching("temperature"), [Random()], keys[7:8], UNTIL, nothing)[0]
    for one, other in zip(jax.tree.leaves(apart[7].rows), jax.tree.leaves(alone.rows), strict=True):
        np.testing.assert_array_equal(one, other)


def test_path_length_is_that_of_the_positions(apart):
    for episode in apart:
        walked = np.linalg.norm(np.diff(episode.rows.position, axis=0), axis=1)
        np.testing.assert_allclose(episode.rows.path_length, np.append(0.0, np.cumsum(walked)), atol=1e-4)


def test_fields_that_differ_by_numbers_share_their_programs(keys, monkeypatch):
    """Temperature, magnetic and electric have one distribution; policies share the filter's program too."""
    programs = episodes.Programs(
        *(eqx.filter_jit(eqx.debug.assert_max_traces(part, max_traces=1)) for part in _parts())
    )
    monkeypatch.setattr(episodes, "PROGRAMS", programs._replace(decide=episodes.PROGRAMS.decide))
    for field in ("temperature", "magnetic", "electric"):
        run_one_by_one(searching(field), [Random()], keys[:1], UNTIL, nothing)
    for policy in (Greedy(), OracleStraight()):
        run_one_by_one(searching("temperature"), [policy], keys[:1], UNTIL, nothing)


def _parts():
    return episodes.prepare, episodes.decide, episodes.read


def test_the_source_of_a_shift_is_recorded_before_and_after(keys):
    """The position changes, the rest of Θ does not."""
    search = SearchProblem(
        benchmark_model("temperature"), BOOTSTRAP_STILL, SCENARIOS["shift"], max_readings=SHIFTED + 1
    )
    never = (TraceRule("fixed", 99.0),)
    for episode in run_one_by_one(search, [Random()], keys[:2], never, nothing):
        assert len(episode.rows.spread) == SHIFTED + 1
        assert (episode.theta[:2] != episode.final_theta[:2]).all()
        np.testing.assert_array_equal(episode.theta[2:], episode.final_theta[2:])


SHIFTED = SCENARIOS["shift"].jump_after
BOOTSTRAP_STILL = Preset(BOOTSTRAP.config, (), follows_jumps=False)


def test_presets_say_whether_they_follow_jumps():
    assert PRESETS["default"].follows_jumps
    assert not PRESETS["paper"].follows_jumps


def test_sources_do_not_depend_on_the_most_readings(keys, apart):
    """So that searches with another limit are the same searches."""
    shorter = SearchProblem(benchmark_model("temperature"), BOOTSTRAP, SCENARIOS["id"], max_readings=7)
    prepared = episodes.prepare(shorter, keys[0])
    np.testing.assert_array_equal(prepared.theta, apart[0].theta)
    np.testing.assert_array_equal(prepared.station.position, apart[0].rows.position[0])


@pytest.mark.parametrize("action", [-1, 4])
def test_an_action_that_does_not_exist_is_refused(keys, action):
    with pytest.raises(ValueError, match="they are 0 to 3"):
        run_one_by_one(searching("temperature"), [lambda *_: jnp.asarray(action)], keys[:1], UNTIL, nothing)


def test_nothing_to_do_is_refused(keys):
    with pytest.raises(ValueError, match="vector of keys"):
        episodes.run_episodes(searching("temperature"), [Random()], keys[:0], UNTIL)
    with pytest.raises(ValueError, match="must have a rule"):
        episodes.run_episodes(searching("temperature"), [Random()], keys[:1], ())
