"""Rollouts: many searches side by side, none of which waits for another.

Some readings need the particles refreshed, a few of them many times. In each step, searches whose newest
reading is assimilated make a move and take the next reading; of the searches that have ended at most
`max_restarts` start again; and degenerate particles are refreshed once. Each move gives one transition, at
the step at which its reading was assimilated.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.envs import PendingUpdate, Reward, SearchProblem, SearchState, error
from dowsax.inference import Belief
from dowsax.inference.stopping import StopRule
from dowsax.inference.weights import alive
from dowsax.learn.stacked import StackedProblems
from dowsax.policies.encoders import Encoder
from dowsax.types import Key
from dowsax.world import Switched

# The share of the searches that can restart in a step: most last twenty readings or more, and new particles
# are not cheap.
_RESTART_SHARE = 1 / 16
# Particles that are refreshed together: members of a group wait for the longest history among them.
_PARTICLES_PER_GROUP = 2**18


class Decision(NamedTuple):
    """A move whose reading is not assimilated yet."""

    observation: PyTree
    action: Int[Array, "*batch"]
    log_prob: Float[Array, "*batch"]
    value: Float[Array, "*batch"]


class Transitions(NamedTuple):
    """Moves and their results, one row per step."""

    observation: PyTree
    """At the choice of the move."""
    action: Int[Array, "steps searches"]
    log_prob: Float[Array, "steps searches"]
    """Of the action, under the network that chose it."""
    value: Float[Array, "steps searches"]
    next_value: Float[Array, "steps searches"]
    """Of the observation after the reading, also where the search ended; 0 without particles."""
    reward: Float[Array, "steps searches"]
    terminated: Bool[Array, "steps searches"]
    truncated: Bool[Array, "steps searches"]
    valid: Bool[Array, "steps searches"]
    """False where no move was completed in this step: all else is then meaningless, but finite."""


class Tally(NamedTuple):
    """Sums over the searches that ended in a rollout, in total and by field."""

    ended: Int[Array, ""]
    stopped: Int[Array, ""]
    false_stops: Int[Array, ""]
    path_length: Float[Array, ""]
    """[m], of those that stopped."""
    field_ended: Int[Array, " fields"]
    field_stopped: Int[Array, " fields"]
    field_false: Int[Array, " fields"]
    field_path: Float[Array, " fields"]


class Environments(eqx.Module):
    """The searches in progress."""

    pending: PendingUpdate
    before: SearchState
    """Before the newest reading."""
    decision: Decision
    is_start: Bool[Array, "*searches"]
    """The newest reading is the one at the start, before any move."""
    is_vacant: Bool[Array, "*searches"]
    """The search has ended, and the next has not started."""


class Rollout(NamedTuple):
    """Rollouts are a pair of pure functions."""

    init: Callable[[Key], PyTree]
    run: Callable[[Key, PyTree, PyTree], tuple[PyTree, Transitions, PyTree]]
    """`(key, network, environments)`: some steps, all moves chosen by the network."""


class RolloutConfig(NamedTuple):
    """What is the same in every step."""

    search: Callable[[Array], SearchProblem]
    """The search of a field by its number."""
    encoder: Callable[[Array], Encoder]
    fields: Int[Array, " searches"]
    num_fields: int
    stop: Callable[[SearchProblem, Belief], Bool[Array, ""]]
    reward: Reward
    group_size: int
    """Searches that are refreshed together."""
    max_restarts: int
    """Searches that can restart in a step."""


def build(
    searches: Sequence[SearchProblem],
    encoder_for: Callable[[SearchProblem], Encoder],
    *,
    stop: StopRule,
    reward: Reward,
    num_searches: int,
    rollout_length: int,
) -> Rollout:
    """Build rollouts of `rollout_length` steps, with the searches, which differ by their sensor, in turn."""
    common = merge_searches(searches)
    encoder = encoder_for(common)
    config = RolloutConfig(
        lambda number: with_sensor(common, number),
        lambda number: with_sensor(encoder, number),
        jnp.arange(num_searches, dtype=jnp.int32) % len(searches),
        len(searches),
        lambda _, belief: stop(belief),
        reward,
        *_sizes(common, num_searches),
    )
    return _build(config, rollout_length, reset)


def build_stacked(
    problems: StackedProblems,
    encoder_for: Callable[[SearchProblem], Encoder],
    *,
    reward: Reward,
    num_searches: int,
    rollout_length: int,
) -> Rollout:
    """Build rollouts of `rollout_length` steps, with the problems in turn, each with its own stop rule."""
    config = RolloutConfig(
        problems.select,
        lambda number: encoder_for(problems.select(number)),
        jnp.arange(num_searches, dtype=jnp.int32) % problems.number,
        problems.number,
        lambda search, belief: search.stop(belief),
        reward,
        *_sizes(problems.like, num_searches),
    )
    return _build(config, rollout_length, reset_vacant)


def _sizes(search: SearchProblem, num_searches: int) -> tuple[int, int]:
    """Return how many searches are refreshed together, and how many can restart in a step."""
    group_size = min(max(1, _PARTICLES_PER_GROUP // search.preset.config.num_particles), num_searches)
    return group_size, max(1, int(max(_RESTART_SHARE, min(1.0, 2 / search.max_readings)) * num_searches))


def _build(
    config: RolloutConfig, rollout_length: int, reset_searches: Callable[[Key, RolloutConfig], Environments]
) -> Rollout:
    """Build rollouts from what is the same in every step."""

    def init(key: Key) -> Environments:
        return reset_searches(key, config)

    def run(key: Key, network: PyTree, environments: Environments) -> tuple[Environments, Transitions, Tally]:
        def advance(environments: Environments, key: Key):
            environments, transitions, tally = step(key, config, network, environments)
            return environments, (transitions, tally)

        environments, (transitions, tallies) = jax.lax.scan(
            advance, environments, jax.random.split(key, rollout_length)
        )
        return environments, transitions, jax.tree.map(lambda sums: jnp.sum(sums, axis=0), tallies)

    return Rollout(init, run)


def merge_searches(searches: Sequence[SearchProblem]) -> SearchProblem:
    """Merge searches into one whose sensor is one of theirs, by number."""
    first = searches[0]
    sensors = tuple(search.model.sensor for search in searches)
    alike = [eqx.tree_at(lambda at: at.model.sensor, search, sensors[0]) for search in searches]
    if not all(eqx.tree_equal(search, alike[0]) for search in alike):
        raise ValueError("Searches that share a rollout must be equal but for their sensor.")
    return (
        first
        if len(searches) == 1
        else eqx.tree_at(lambda at: at.model.sensor, first, Switched.build(sensors))
    )


def with_sensor(tree: PyTree, number: Int[Array, ""]) -> PyTree:
    """Select the sensor of this number wherever the tree has several."""
    several = lambda leaf: isinstance(leaf, Switched)  # noqa: E731
    return jax.tree.map(
        lambda leaf: eqx.tree_at(lambda at: at.number, leaf, number) if several(leaf) else leaf,
        tree,
        is_leaf=several,
    )


def reset(key: Key, config: RolloutConfig) -> Environments:
    """Start all searches, each with its first reading pending."""
    start_key, observation_key = jax.random.split(key)
    num_searches = config.fields.shape[0]
    before, pending = jax.vmap(lambda *parts: start_search(config, *parts))(
        jax.random.split(start_key, num_searches), config.fields
    )
    observation = jax.vmap(lambda *parts: observe(config, *parts))(
        jax.random.split(observation_key, num_searches), config.fields, before
    )
    # Separate arrays: a buffer cannot be donated twice.
    zeros = [jnp.zeros(num_searches, dtype) for dtype in (jnp.int32, jnp.float32, jnp.float32)]
    is_start, is_vacant = jnp.ones(num_searches, bool), jnp.zeros(num_searches, bool)
    return Environments(pending, before, Decision(observation, *zeros), is_start, is_vacant)


def reset_vacant(key: Key, config: RolloutConfig) -> Environments:
    """Return searches that have all ended: they start in the steps that follow, some in each.

    That needs no program of its own, and searches are then at different readings from the beginning.
    """
    shapes = eqx.filter_eval_shape(reset, key, config)

    def blank(leaf):
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.split(key, leaf.shape)
        return jnp.zeros(leaf.shape, leaf.dtype)

    environments = jax.tree.map(blank, shapes)
    return eqx.tree_at(lambda at: at.is_vacant, environments, jnp.ones_like(environments.is_vacant))


def start_search(config: RolloutConfig, key: Key, field: Array) -> tuple[SearchState, PendingUpdate]:
    """Start a search, with its first reading pending."""
    prepare_key, read_key = jax.random.split(key)
    search = config.search(field)
    state = search.prepare(prepare_key)
    return state, search.start_update(read_key, state, state.station.target)


def observe(config: RolloutConfig, key: Key, field: Array, state: SearchState) -> PyTree:
    """Return the observation of a search."""
    search = config.search(field)
    return config.encoder(field)(
        key, state.belief, state.station, search.candidates(state), search.budget_left(state)
    )


def step(
    key: Key, config: RolloutConfig, network: PyTree, environments: Environments
) -> tuple[Environments, Transitions, Tally]:
    """Move where readings are assimilated, restart searches that have ended, refresh degenerate particles."""
    move_key, restart_key = jax.random.split(key)
    keys = jax.random.split(move_key, config.fields.shape[0])
    environments, transitions, tally = jax.vmap(lambda *parts: move(config, network, *parts))(
        keys, config.fields, environments
    )
    totals = jax.tree.map(lambda number: jnp.sum(number, axis=0), tally)
    environments = restart_searches(restart_key, config, environments)
    return refresh_searches(config, environments), transitions, totals


def move(
    config: RolloutConfig, network: PyTree, key: Key, field: Array, environment: Environments
) -> tuple[Environments, Transitions, Tally]:
    """Make the move of one search, if its reading is assimilated."""
    observation_key, act_key, read_key = jax.random.split(key, 3)
    search = config.search(field)
    ready = ~environment.pending.stage.is_degenerate & ~environment.is_vacant
    after, _ = search.finish_update(environment.pending)
    living = alive(after.belief.log_weights)
    is_over = search.is_over(after)
    terminated = config.stop(search, after.belief) & ~environment.is_start & ~is_over
    truncated = ~terminated & (is_over | ~living)
    observation = observe(config, observation_key, field, after)
    output = network(observation)
    transition = Transitions(
        *environment.decision,
        # A belief without particles never recovers: its value is 0.
        next_value=jnp.where(living, output.value, 0.0),
        reward=jnp.where(living, config.reward(search, environment.before, after, terminated), 0.0),
        terminated=terminated,
        truncated=truncated,
        valid=ready & ~environment.is_start,
    )
    action = jax.random.categorical(act_key, output.logits).astype(jnp.int32)
    decision = Decision(observation, action, jax.nn.log_softmax(output.logits)[action], output.value)
    ended = terminated | truncated
    pending = search.start_update(read_key, after, search.candidates(after).target(action))
    next_environment = Environments(pending, after, decision, jnp.zeros((), bool), jnp.zeros((), bool))
    environment = _where(ready & ~ended, next_environment, environment)
    environment = eqx.tree_at(lambda at: at.is_vacant, environment, environment.is_vacant | (ready & ended))
    return environment, transition, _count(config, field, after, ready & ended, ready & terminated)


def _where(condition: Bool[Array, ""], if_true: PyTree, if_false: PyTree) -> PyTree:
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), if_true, if_false)


def _count(config: RolloutConfig, field: Array, after: SearchState, ended: Array, stopped: Array) -> Tally:
    """Count one search if it ended."""
    false_stop = stopped & ~(error(after) < config.search(field).success_radius)
    walked = jnp.where(stopped, after.path_length, 0.0)
    counts = [number.astype(jnp.int32) for number in (ended, stopped, false_stop)]
    here = jnp.arange(config.num_fields) == field
    by_field = [here * number for number in (*counts, walked)]
    return Tally(*(*counts, walked, *by_field))


def restart_searches(key: Key, config: RolloutConfig, environments: Environments) -> Environments:
    """Start new searches in place of some that have ended, drawn at random."""
    draw_key, search_key = jax.random.split(key)
    members = _draw_members(draw_key, environments.is_vacant, config.max_restarts)
    fields, is_vacant, old = jax.tree.map(
        lambda leaf: leaf[members],
        (config.fields, environments.is_vacant, (environments.before, environments.pending)),
    )
    new = jax.vmap(lambda *parts: start_search(config, *parts))(
        jax.random.split(search_key, config.max_restarts), fields
    )
    before, pending = _scatter(
        (environments.before, environments.pending), members, jax.vmap(_where)(is_vacant, new, old)
    )
    is_start, is_vacant = (
        flags.at[members].set(jnp.where(environments.is_vacant[members], new_flag, flags[members]))
        for flags, new_flag in ((environments.is_start, True), (environments.is_vacant, False))
    )
    return Environments(pending, before, environments.decision, is_start, is_vacant)


def _draw_members(key: Key, wanted: Bool[Array, " searches"], number: int) -> Int[Array, " number"]:
    """Draw `number` members at random, those wanted first."""
    return jnp.argsort(jnp.where(wanted, 0.0, 1.0) + jax.random.uniform(key, wanted.shape))[:number]


def _scatter(tree: PyTree, members: Int[Array, " some"], new: PyTree) -> PyTree:
    return jax.tree.map(lambda leaf, values: leaf.at[members].set(values), tree, new)


def refresh_searches(config: RolloutConfig, environments: Environments) -> Environments:
    """Run one stage of the filter where particles are degenerate, in groups of similar history length."""
    degenerate, sizes = (
        environments.pending.stage.is_degenerate,
        environments.pending.stage.belief.history.size,
    )
    longest_last = jnp.argsort(jnp.where(degenerate, sizes, jnp.iinfo(sizes.dtype).max))

    def refresh(field: Array, pending: PendingUpdate) -> PendingUpdate:
        # The last group is filled up with searches that need no refresh and must not change.
        return _where(pending.stage.is_degenerate, config.search(field).refresh(pending), pending)

    def refresh_group(number: Array, pending: PendingUpdate) -> PendingUpdate:
        # A last group that would exceed the end overlaps the one before: another stage does no harm.
        members = jax.lax.dynamic_slice_in_dim(longest_last, number * config.group_size, config.group_size)
        done = jax.vmap(refresh)(*jax.tree.map(lambda leaf: leaf[members], (config.fields, pending)))
        return _scatter(pending, members, done)

    num_groups = -(-jnp.sum(degenerate) // config.group_size)
    pending = jax.lax.fori_loop(0, num_groups, refresh_group, environments.pending)
    return eqx.tree_at(lambda at: at.pending, environments, pending)
