"""Searches under way while a network learns: many side by side, none of which waits for another.

Some readings need the particles refreshed, a few of them many times. So time goes in ticks: searches whose
newest reading is taken in make a move and take the next one; of those that have ended some begin anew, as
many as there is room for; and those that have to be refreshed are, once. What is learned from is a transition
for each move, at the tick at which its reading was taken in.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PyTree

from dowsax.envs import SUCCESS, Reward, Search, SearchState, Taking, error
from dowsax.inference.stopping import StopRule
from dowsax.inference.weights import alive
from dowsax.policies.sight import Sight
from dowsax.types import Key
from dowsax.world import Switched

# The share of the searches that can begin anew in a tick: most go on for twenty readings or more, and new
# particles are not cheap.
_ROOM = 1 / 16
# Particles that are refreshed at a time: members of a group wait for the longest history among them.
_PARTICLES_A_GROUP = 2**18


class Chosen(NamedTuple):
    """A move whose reading is being taken in."""

    seen: PyTree
    action: Int[Array, "*batch"]
    log_prob: Float[Array, "*batch"]
    value: Float[Array, "*batch"]


class Transitions(NamedTuple):
    """Moves and what came of them, one row a tick."""

    seen: PyTree
    """When the move was chosen."""
    action: Int[Array, "ticks searches"]
    log_prob: Float[Array, "ticks searches"]
    """Of the action, under the network that chose it."""
    value: Float[Array, "ticks searches"]
    next_value: Float[Array, "ticks searches"]
    """Of what was seen after the reading, also where the search ended with it; 0 without particles."""
    reward: Float[Array, "ticks searches"]
    terminated: Bool[Array, "ticks searches"]
    truncated: Bool[Array, "ticks searches"]
    valid: Bool[Array, "ticks searches"]
    """False where no move was completed in this tick: all else then means nothing, but is finite."""


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


class Slots(eqx.Module):
    """The searches under way."""

    taking: Taking
    before: SearchState
    """Before the newest reading."""
    chosen: Chosen
    begun: Bool[Array, "*searches"]
    """The newest reading is the one at the start: no move has led to it."""
    vacant: Bool[Array, "*searches"]
    """The search has ended, and the next has not begun."""


class Rollout(NamedTuple):
    """Searches under way are a pair of pure functions."""

    init: Callable[[Key], PyTree]
    run: Callable[[Key, PyTree, PyTree], tuple[PyTree, Transitions, PyTree]]
    """`(key, network, slots)`: so many ticks, all moves chosen by the network."""


class Crew(NamedTuple):
    """What is the same in every tick."""

    search: Callable[[Array], Search]
    """The problem of a field by its number."""
    sight: Callable[[Array], Sight]
    fields: Int[Array, " searches"]
    num_fields: int
    stop: StopRule
    reward: Reward
    group: int
    """How many searches are refreshed at a time."""
    room: int
    """How many begin anew in a tick."""


def build(
    searches: Sequence[Search],
    sight_of: Callable[[Search], Sight],
    *,
    stop: StopRule,
    reward: Reward,
    num_searches: int,
    num_ticks: int,
) -> Rollout:
    """Rollouts of `num_ticks` ticks; the places go to the problems in turn, which differ by their sensor."""
    numbers = jnp.arange(num_searches, dtype=jnp.int32) % len(searches)
    common = merged(searches)
    group = min(max(1, _PARTICLES_A_GROUP // common.preset.config.num_particles), num_searches)
    sight = sight_of(common)
    crew = Crew(
        lambda number: numbered(common, number),
        lambda number: numbered(sight, number),
        numbers,
        len(searches),
        stop,
        reward,
        group,
        max(1, int(max(_ROOM, min(1.0, 2 / common.max_readings)) * num_searches)),
    )

    def init(key: Key) -> Slots:
        return begin(key, crew)

    def run(key: Key, network: PyTree, slots: Slots) -> tuple[Slots, Transitions, Tally]:
        def advance(slots: Slots, key: Key):
            slots, transitions, tally = tick(key, crew, network, slots)
            return slots, (transitions, tally)

        slots, (transitions, tallies) = jax.lax.scan(advance, slots, jax.random.split(key, num_ticks))
        return slots, transitions, jax.tree.map(lambda sums: jnp.sum(sums, axis=0), tallies)

    return Rollout(init, run)


def merged(searches: Sequence[Search]) -> Search:
    """One problem for all: its sensor is one of theirs, by number."""
    first = searches[0]
    sensors = tuple(search.model.sensor for search in searches)
    alike = [eqx.tree_at(lambda at: at.model.sensor, search, sensors[0]) for search in searches]
    if not all(eqx.tree_equal(search, alike[0]) for search in alike):
        raise ValueError("Searches that share a rollout may differ by their sensor alone.")
    return (
        first
        if len(searches) == 1
        else eqx.tree_at(lambda at: at.model.sensor, first, Switched.build(sensors))
    )


def numbered(tree: PyTree, number: Int[Array, ""]) -> PyTree:
    """The tree with the sensor of this number wherever it has one of several."""
    several = lambda leaf: isinstance(leaf, Switched)  # noqa: E731
    return jax.tree.map(
        lambda leaf: eqx.tree_at(lambda at: at.number, leaf, number) if several(leaf) else leaf,
        tree,
        is_leaf=several,
    )


def begin(key: Key, crew: Crew) -> Slots:
    """Fresh searches, each with its first reading under way."""
    begin_key, see_key = jax.random.split(key)
    num_searches = crew.fields.shape[0]
    before, taking = jax.vmap(lambda *parts: fresh(crew, *parts))(
        jax.random.split(begin_key, num_searches), crew.fields
    )
    seen = jax.vmap(lambda key, field, state: crew.sight(field)(key, state.belief, state.station))(
        jax.random.split(see_key, num_searches), crew.fields, before
    )
    # Arrays of their own: who donates the slots cannot give one buffer away twice.
    nothing = [jnp.zeros(num_searches, dtype) for dtype in (jnp.int32, jnp.float32, jnp.float32)]
    begun, vacant = jnp.ones(num_searches, bool), jnp.zeros(num_searches, bool)
    return Slots(taking, before, Chosen(seen, *nothing), begun, vacant)


def fresh(crew: Crew, key: Key, field: Array) -> tuple[SearchState, Taking]:
    """A new search, with its first reading under way."""
    prepare_key, take_key = jax.random.split(key)
    search = crew.search(field)
    state = search.prepare(prepare_key)
    return state, search.begin_taking(take_key, state, state.station.position)


def tick(key: Key, crew: Crew, network: PyTree, slots: Slots) -> tuple[Slots, Transitions, Tally]:
    """Moves where readings are taken in, new searches where one has ended, and what has to be refreshed."""
    move_key, anew_key = jax.random.split(key)
    keys = jax.random.split(move_key, crew.fields.shape[0])
    slots, transitions, tally = jax.vmap(lambda *parts: move(crew, network, *parts))(keys, crew.fields, slots)
    totals = jax.tree.map(lambda number: jnp.sum(number, axis=0), tally)
    slots = begun_anew(anew_key, crew, slots)
    return refreshed(crew, slots), transitions, totals


def move(
    crew: Crew, network: PyTree, key: Key, field: Array, slot: Slots
) -> tuple[Slots, Transitions, Tally]:
    """What one search does in a tick: nothing, unless its reading has been taken in."""
    see_key, act_key, take_key = jax.random.split(key, 3)
    search = crew.search(field)
    ready = ~slot.taking.stage.is_degenerate & ~slot.vacant
    after, _ = search.taken(slot.taking)
    living = alive(after.belief.log_weights)
    terminated = crew.stop(after.belief) & ~slot.begun
    truncated = ~terminated & ((after.belief.history.size >= search.max_readings) | ~living)
    seen = crew.sight(field)(see_key, after.belief, after.station)
    judgement = network(seen)
    transition = Transitions(
        *slot.chosen,
        # A belief without particles never mends: nothing can come of it.
        next_value=jnp.where(living, judgement.value, 0.0),
        reward=jnp.where(living, crew.reward(search, slot.before, after, terminated), 0.0),
        terminated=terminated,
        truncated=truncated,
        valid=ready & ~slot.begun,
    )
    action = jax.random.categorical(act_key, judgement.logits).astype(jnp.int32)
    chosen = Chosen(seen, action, jax.nn.log_softmax(judgement.logits)[action], judgement.value)
    ended = terminated | truncated
    taking = search.begin_taking(take_key, after, search.motion(after.station.position, action))
    goes_on = Slots(taking, after, chosen, jnp.zeros((), bool), jnp.zeros((), bool))
    slot = _where(ready & ~ended, goes_on, slot)
    slot = eqx.tree_at(lambda at: at.vacant, slot, slot.vacant | (ready & ended))
    return slot, transition, _counted(crew, field, after, ready & ended, ready & terminated)


def _where(condition: Bool[Array, ""], if_true: PyTree, if_false: PyTree) -> PyTree:
    return jax.tree.map(lambda new, old: jnp.where(condition, new, old), if_true, if_false)


def _counted(crew: Crew, field: Array, after: SearchState, ended: Array, stopped: Array) -> Tally:
    """One search as it ended, or nothing."""
    false_stop = stopped & ~(error(after) < SUCCESS)
    walked = jnp.where(stopped, after.path_length, 0.0)
    counts = [number.astype(jnp.int32) for number in (ended, stopped, false_stop)]
    here = jnp.arange(crew.num_fields) == field
    by_field = [here * number for number in (*counts, walked)]
    return Tally(*(*counts, walked, *by_field))


def begun_anew(key: Key, crew: Crew, slots: Slots) -> Slots:
    """New searches for some of the vacant places, drawn at random."""
    draw_key, fresh_key = jax.random.split(key)
    members = _some(draw_key, slots.vacant, crew.room)
    fields, vacant, old = jax.tree.map(
        lambda leaf: leaf[members], (crew.fields, slots.vacant, (slots.before, slots.taking))
    )
    new = jax.vmap(lambda *parts: fresh(crew, *parts))(jax.random.split(fresh_key, crew.room), fields)
    before, taking = _put((slots.before, slots.taking), members, jax.vmap(_where)(vacant, new, old))
    begun, vacant = (
        flags.at[members].set(jnp.where(slots.vacant[members], anew, flags[members]))
        for flags, anew in ((slots.begun, True), (slots.vacant, False))
    )
    return Slots(taking, before, slots.chosen, begun, vacant)


def _some(key: Key, wanted: Bool[Array, " searches"], number: int) -> Int[Array, " number"]:
    """So many places, drawn at random from those wanted, filled up with others."""
    return jnp.argsort(jnp.where(wanted, 0.0, 1.0) + jax.random.uniform(key, wanted.shape))[:number]


def _put(tree: PyTree, members: Int[Array, " some"], new: PyTree) -> PyTree:
    return jax.tree.map(lambda leaf, values: leaf.at[members].set(values), tree, new)


def refreshed(crew: Crew, slots: Slots) -> Slots:
    """One stage for the searches that need it, in groups of like histories."""
    degenerate, sizes = slots.taking.stage.is_degenerate, slots.taking.stage.belief.history.size
    longest_last = jnp.argsort(jnp.where(degenerate, sizes, jnp.iinfo(sizes.dtype).max))

    def refresh(field: Array, taking: Taking) -> Taking:
        # Who has no need is here to fill up the last group; a reading taken in must stay as it is.
        return _where(taking.stage.is_degenerate, crew.search(field).refresh(taking), taking)

    def refresh_group(number: Array, taking: Taking) -> Taking:
        # Where the last group would go beyond the end it reaches back instead: a stage more does no harm.
        members = jax.lax.dynamic_slice_in_dim(longest_last, number * crew.group, crew.group)
        done = jax.vmap(refresh)(*jax.tree.map(lambda leaf: leaf[members], (crew.fields, taking)))
        return _put(taking, members, done)

    num_groups = -(-jnp.sum(degenerate) // crew.group)
    taking = jax.lax.fori_loop(0, num_groups, refresh_group, slots.taking)
    return eqx.tree_at(lambda at: at.taking, slots, taking)
