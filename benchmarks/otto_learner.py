"""Learning of the value network of the olfactory search: searches side by side, backups, and fits.

The value of a belief is backed up from all moves and readings that may follow, by an average of the
network that is frozen for a chunk of steps, and corrected along the search with λ-returns. Searches end as if
their source was found, but a share of them go on long after that, so that late beliefs are known as well.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, Int

from dowsax.leaderboards.otto import Case
from dowsax.leaderboards.otto_network import (
    Picture,
    ValueNetwork,
    mean_steps,
    normalised_pictures,
    orient,
    orientations,
)
from dowsax.leaderboards.otto_policies import chances_and_times
from dowsax.leaderboards.otto_search import After, Search, begin, look_ahead, step
from dowsax.types import Key, Scalar

MAX_RATIO = 4.0
"""A return counts at most as this many times the value that it corrects."""


@dataclass(frozen=True)
class LearnerConfig:
    """Sizes and rates of the learning."""

    searches: int = 2048
    """Side by side."""
    length: int = 16
    """Steps of each in a chunk, from which λ-returns are made."""
    minibatch: int = 2048
    decay: float = 0.9
    """λ of the returns."""
    exploration: float = 0.3
    """The share of random moves in the search that explores most; the least has none."""
    learning_rate: float = 1e-3
    warm_up: float = 0.15
    """The share of the training in which space-aware infotaxis chooses the moves."""
    average: float = 0.995
    """Share of the old average of the weights that an update keeps; the average acts and is backed up."""
    widths: tuple[int, ...] = (256, 256)
    all_orientations: bool = True
    """Whether values in backups are averaged over all turns and mirrors; else one is drawn for each step."""


class LearnerState(eqx.Module):
    """What the learning carries from chunk to chunk."""

    network: ValueNetwork
    averaged: ValueNetwork
    """This one acts, and ships."""
    optimiser: optax.OptState
    searches: Search
    """(n,)"""
    thresholds: Float[Array, " n"]
    """A search ends when the probability that its source is not found is below this."""
    updates: Int[Array, ""]


class Visit(NamedTuple):
    """A belief that was visited."""

    picture: Picture
    time: Scalar
    """As space-aware infotaxis expects it."""
    value: Scalar
    """By the frozen network."""
    backup: Scalar
    """One step more than the best of what may follow."""
    weight: Scalar
    """The probability that the search goes on after the move; 0 if it was not the best move, or the last."""


class LearnerInfo(NamedTuple):
    """Means over a chunk."""

    error: Scalar
    """Of the value relative to its return: the root of the mean square."""
    bias: Scalar
    first_value: Scalar
    """Of the belief before the first step [steps]."""
    length: Scalar
    """Steps that the searches under way have taken."""


def build(key: Key, case: Case, config: LearnerConfig) -> LearnerState:
    """Return the state before learning."""
    network_key, search_key, threshold_key = jax.random.split(key, 3)
    network = ValueNetwork.build(network_key, case, config.widths)
    searches = jax.vmap(partial(begin, case=case))(jax.random.split(search_key, config.searches))
    thresholds = _draw_threshold(threshold_key, (config.searches,))
    optimiser = _optimiser(config).init(eqx.filter(network, eqx.is_array))
    return LearnerState(network, network, optimiser, searches, thresholds, jnp.zeros((), int))


@eqx.filter_jit
def learn(
    key: Key, state: LearnerState, case: Case, config: LearnerConfig, progress: Scalar
) -> tuple[LearnerState, LearnerInfo]:
    """Take a chunk of steps in every search, and fit the network to their returns.

    `progress` is the share of the training that is over: the rate falls with it, and at first space-aware
    infotaxis chooses the moves.
    """
    visit_key, fit_key = jax.random.split(key)
    searches, thresholds, visits = _visit(visit_key, state, case, config, progress < config.warm_up)
    returns = lambda_returns(visits, config.decay)
    ratios = returns / visits.value
    info = LearnerInfo(
        jnp.sqrt(jnp.mean((jnp.minimum(ratios, MAX_RATIO) - 1) ** 2)),
        jnp.mean(jnp.minimum(ratios, MAX_RATIO) - 1),
        _first_value(state.averaged, case),
        jnp.mean(searches.steps),
    )
    state = LearnerState(state.network, state.averaged, state.optimiser, searches, thresholds, state.updates)
    return _fit(fit_key, state, visits, returns, case, config, progress), info


def lambda_returns(visits: Visit, decay: float) -> Float[Array, "length n"]:
    r"""Return the backups, corrected along the searches.

    $$G_t = B_t + \lambda w_t (G_{t+1} - v_{t+1})$$

    The reading of step t is drawn, but the backup $B_t$ holds all: the correction alone has its chance.
    """

    def earlier(gain: Array, visit: Visit) -> tuple[Array, Array]:
        result = visit.backup + decay * visit.weight * gain
        return result - visit.value, result

    return jax.lax.scan(earlier, jnp.zeros_like(visits.backup[0]), visits, reverse=True)[1]


def _visit(
    key: Key, state: LearnerState, case: Case, config: LearnerConfig, teacher: Bool[Array, ""]
) -> tuple[Search, Float[Array, " n"], Visit]:
    """Return the searches a chunk of steps later, their thresholds, and what they visited, (length, n)."""
    number = config.searches
    explorations = config.exploration * (jnp.arange(number) / number) ** 3

    def proceed(carry: tuple[Search, Array], key: Key) -> tuple[tuple[Search, Array], Visit]:
        searches, thresholds = carry
        turn_key, move_key, begin_key, threshold_key = jax.random.split(key, 4)
        turn = jax.random.randint(turn_key, (), 0, len(orientations(case)))
        one = partial(_visit_one, case, state.averaged, config.all_orientations, teacher, turn)
        keys = jax.random.split(move_key, number)
        searches, visits = jax.vmap(one)(keys, searches, explorations)
        # Searches that go to and fro go on: only so does the network learn what that costs.
        running = searches.running | (searches.failed & (searches.steps < case.max_steps))
        searches = eqx.tree_at(lambda at: at.running, searches, running)
        is_over = (searches.not_found < thresholds) | ~running
        begun = jax.vmap(partial(begin, case=case))(jax.random.split(begin_key, number))
        searches = jax.tree.map(partial(_where, is_over), begun, searches)
        thresholds = jnp.where(is_over, _draw_threshold(threshold_key, (number,)), thresholds)
        return (searches, thresholds), visits._replace(weight=jnp.where(is_over, 0.0, visits.weight))

    keys = jax.random.split(key, config.length)
    (searches, thresholds), visits = jax.lax.scan(proceed, (state.searches, state.thresholds), keys)
    return searches, thresholds, visits


def _visit_one(
    case: Case,
    network: ValueNetwork,
    all_orientations: bool,
    teacher: Bool[Array, ""],
    turn: Int[Array, ""],
    key: Key,
    search: Search,
    exploration: Scalar,
) -> tuple[Search, Visit]:
    explore_key, random_key, step_key = jax.random.split(key, 3)
    value = partial(_value, case, network, all_orientations, turn)
    here = After(jnp.array([True]), search.place[None], search.belief[None, None])
    _, time_here = chances_and_times(case, here)
    picture = normalised_pictures(case, here, jnp.ones((1, 1)))
    after = look_ahead(case, search.belief, search.place)
    chances, times = chances_and_times(case, after)
    values = value(normalised_pictures(case, after, chances), times)
    costs = jnp.where(after.possible, 1 + jnp.sum(chances * values, axis=1), jnp.inf)
    teachers = jnp.where(after.possible, jnp.sum(chances * jnp.log2(times), axis=1), jnp.inf)
    best = jnp.argmin(jnp.where(teacher, teachers, costs))
    is_random = jax.random.uniform(explore_key) < exploration
    drawn = jax.random.categorical(random_key, jnp.where(after.possible, 0.0, -jnp.inf))
    move = jnp.where(is_random, drawn, best)
    weight = jnp.where(move == best, chances[move].sum(), 0.0)
    visit = Visit(picture[0, 0], time_here[0, 0], value(picture, time_here)[0, 0], costs[best], weight)
    return step(step_key, case, search, after, move), visit


def _value(
    case: Case, network: ValueNetwork, all_orientations: bool, turn: Int[Array, ""], seen: Array, times: Array
) -> Array:
    """Return the values of pictures (moves, hits, kx, ky), averaged over all orientations or in one."""
    numbers = orientations(case)
    if all_orientations:
        return jax.vmap(jax.vmap(partial(mean_steps, network, numbers)))(seen, times)
    seen = _oriented(seen, turn, numbers)
    return jax.vmap(jax.vmap(partial(mean_steps, network, (0,))))(seen, times)


def _oriented(seen: Array, turn: Int[Array, ""], numbers: tuple[int, ...]) -> Array:
    """Return pictures (…, kx, ky) in the orientation with this index among the numbers."""
    flat = seen.reshape(-1, *seen.shape[-2:])
    ways = [jax.vmap(partial(orient, number=number)) for number in numbers]
    return jax.lax.switch(turn, ways, flat).reshape(seen.shape)


def _fit(
    key: Key,
    state: LearnerState,
    visits: Visit,
    returns: Array,
    case: Case,
    config: LearnerConfig,
    progress: Scalar,
) -> LearnerState:
    """Fit the network once to all visits of the chunk, in minibatches of random orientation."""
    order_key, turn_key = jax.random.split(key)
    samples = (visits.picture, visits.time, visits.value, returns)
    flat = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), samples)
    total = returns.size
    number = total // config.minibatch
    order = jax.random.permutation(order_key, total)[: number * config.minibatch]
    turns = jax.random.randint(turn_key, (number,), 0, len(orientations(case)))
    rate = config.learning_rate * jnp.clip(2 * (1 - progress), 0.01, 1.0)
    optimiser = _optimiser(config)

    def update(carry: tuple, batch: tuple) -> tuple[tuple, None]:
        network, averaged, optimiser_state, updates = carry
        chosen, turn = batch
        seen, times, values, targets = jax.tree.map(lambda leaf: leaf[chosen], flat)
        seen = _oriented(seen, turn, orientations(case))
        gradients = eqx.filter_grad(loss)(network, seen, times, values, targets)
        changes, optimiser_state = optimiser.update(gradients, optimiser_state)
        changes = jax.tree.map(lambda change: rate * change, changes)
        network = eqx.apply_updates(network, changes)
        share = jnp.maximum(1 - config.average, 1 / (1 + updates))
        averaged = jax.tree.map(lambda old, new: old + share * (new - old), averaged, network)
        return (network, averaged, optimiser_state, updates + 1), None

    carry = (state.network, state.averaged, state.optimiser, state.updates)
    batches = (order.reshape(number, config.minibatch), turns)
    (network, averaged, optimiser_state, updates), _ = jax.lax.scan(update, carry, batches)
    return LearnerState(network, averaged, optimiser_state, state.searches, state.thresholds, updates)


def loss(network: ValueNetwork, seen: Array, times: Array, values: Array, targets: Array) -> Scalar:
    """Return the mean square of the error relative to the values of the frozen network."""
    fitted = times * jnp.exp(jax.vmap(network)(seen, times))
    return jnp.mean((fitted / values - jnp.minimum(targets / values, MAX_RATIO)) ** 2)


def _optimiser(config: LearnerConfig) -> optax.GradientTransformation:
    """Return Adam without its rate, which changes from chunk to chunk."""
    return optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(), optax.scale(-1.0))


def _draw_threshold(key: Key, shape: tuple[int, ...]) -> Array:
    """Return squares of uniform numbers: more searches get late than if their sources were drawn."""
    return jax.random.uniform(key, shape) ** 2


def _first_value(network: ValueNetwork, case: Case) -> Scalar:
    """Return the mean value before the first step, by the readings with which a search begins."""
    searches = jax.vmap(partial(begin, case=case))(jax.random.split(jax.random.key(0), 64))

    def one(search: Search) -> Scalar:
        here = After(jnp.array([True]), search.place[None], search.belief[None, None])
        _, times = chances_and_times(case, here)
        seen = normalised_pictures(case, here, jnp.ones((1, 1)))
        return mean_steps(network, orientations(case), seen[0, 0], times[0, 0])

    return jnp.mean(jax.vmap(one)(searches))


def _where(condition: Bool[Array, " n"], yes: Array, no: Array) -> Array:
    return jnp.where(condition.reshape(-1, *(1,) * (yes.ndim - 1)), yes, no)
