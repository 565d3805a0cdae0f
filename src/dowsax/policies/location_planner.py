"""The planner of sites: what a reading tells about the location, per share of the budget.

The gain of a candidate is the information of a reading there about the location at the resolution of the stop
rule. What it tells about strength, wind, background or noise alone counts for nothing.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.inference.belief import History, recall
from dowsax.inference.weights import members_at, normalise
from dowsax.policies.base import Action, choose_best
from dowsax.policies.location_cells import Cells, divide, information
from dowsax.policies.lookahead import simulate_log_likelihoods
from dowsax.policies.planned import PlannedReadings
from dowsax.types import Key, OpenPath, Scalar, Station, Target, Waypoint
from dowsax.world import (
    Budget,
    Candidates,
    Fence,
    FencesByHeight,
    Model,
    NearAndFar,
    PlacesAtHeights,
    WayReadings,
    without_source,
)
from dowsax.world.actions import limit_ways
from dowsax.world.heights import flown_height
from dowsax.world.trails import height_of, move_station, set_measurement

RADIUS_95 = 2.45
"""The radius [σ] of the disc that holds 95 % of a round normal distribution."""
_BATCH_SIZE = 8
"""Candidates that are evaluated at once, to bound the memory."""
_LEVEL_EXPONENT = 3.0
"""Levels of the signal are 1 − (1 − u)³ of even u: dense where the signal is strong."""
_NUM_PAIRED = 8
"""Candidates that are tried in pairs, those of the highest gain per cost."""
_MAX_PASSED = 6
"""Readings on one way that are simulated; where there are more, these stand for all, and the gain is less."""
_NUM_HYPOTHESES = 512
"""Sources for which the readings of other searchers are simulated."""
# Exact draws of counts take longer than all the rest.
_simulate = partial(simulate_log_likelihoods, approximate=True)


Way = Float[Array, "readings axes"] | OpenPath | Waypoint
"""Places or paths that are read one after the other."""
Ways = Float[Array, "k readings axes"] | OpenPath | Waypoint
"""Several of them."""


class Expected(NamedTuple):
    """Simulated readings that are planned, for a number of hypotheses, and what they tell."""

    members: Int[Array, " hypotheses"]
    """The particle of each hypothesis; all are equally probable."""
    log_weights: Float[Array, "hypotheses n"]
    """Of the particles, after the readings that others take if a hypothesis is true."""


class Leg(NamedTuple):
    """A straight way to a reading, and the readings on it."""

    end: Station
    passed: Station | None
    """`None` where the sensor takes no readings on the way."""
    is_read: Bool[Array, " passed"]


class LocationPlanner(eqx.Module):
    r"""Go where the gain per cost is highest; the cost is the share of what is left of the budget.

    The gain is the mutual information [nats] of the reading and the cell in which the source lies. The cells
    lie where the belief does; their width is `scale`, or that at which they cover the belief, if larger.

    With `second_ways` it looks two readings ahead: the best candidates are tried in pairs, one after the
    other. What two readings tell together can be more than the sum, as of a background and what is above it.
    """

    model: Model
    scale: float | Scalar
    """[m], within which it does not matter where the source is."""
    num_readings: int = eqx.field(default=32, static=True)
    """Simulated at each candidate."""
    num_particles: int = eqx.field(default=1024, static=True)
    """Of the belief that are reweighted."""
    way_readings: WayReadings | None = None
    """Readings while the sensor moves, where it takes any."""
    fence: Fence | FencesByHeight | None = None
    """What the ways on which it reads go around."""
    second_ways: NearAndFar | PlacesAtHeights | None = None
    """The limits of a second way, where the planner looks two readings ahead."""
    planned: PlannedReadings | None = None
    """Readings that are planned, of others or one's own: the gain is that beyond theirs."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        number, _ = self.choose(key, belief, station, candidates, budget)
        return number

    def choose(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> tuple[Action, Scalar]:
        """Return the number of a candidate, and the expected gain [nats] of a reading there."""
        gain_key, tie_key = jax.random.split(key)
        gains, rates = self.rates(gain_key, belief, station, candidates, budget)
        number = choose_best(tie_key, rates, candidates.mask)
        return number, gains[number]

    def rates(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
        """Return the expected gain [nats] of each candidate, and the gain per cost that is maximised."""
        ways = jax.tree.map(lambda leaf: leaf[:, None], candidates.targets)
        gains = self.expected_gains(key, belief, station, ways, candidates.mask)
        shares = budget.shares(candidates)
        rates = gains / shares
        if self.second_ways is not None:
            best = _best(rates, candidates)
            after = _second_candidates(self.second_ways, candidates, best, budget)
            firsts = jnp.repeat(best, best.shape[0])
            ways = jax.tree.map(
                lambda first, second: jnp.stack([first[firsts], second], axis=1),
                *(candidates.targets, after.targets),
            )
            # With the same sources and noise, so that one and two readings compare.
            both = self.expected_gains(key, belief, station, ways, after.mask)
            costs = shares[firsts] + budget.shares(after, among=candidates)
            rates = rates.at[firsts].max(jnp.where(after.mask, both / costs, 0.0))
        return gains, rates

    def expected_gains(
        self, key: Key, belief: Belief, station: Station, ways: Ways, mask: Bool[Array, " k"]
    ) -> Float[Array, " k"]:
        """Return the expected gain [nats] of the readings on each way, never negative; 0 outside the mask.

        A way has one reading or several, one after the other. A sensor that reads while it moves gains by
        the readings in between as well. All of them count together, as one reading of many numbers.
        """
        thin_key, noise_key = jax.random.split(key)
        cells = divide(thin_key, belief, self.scale, self.num_particles)
        expected = self._expected(jax.random.fold_in(key, 1), cells, belief.history, station)
        noise_keys = jax.random.split(noise_key, self.num_readings)
        levels, frequencies = _levels(self.num_readings)

        def gain_on(way: Way) -> Scalar:
            legs = self._legs(belief.history, station, way)
            signals = jnp.max(jnp.stack([_signals_on(self.model, cells, leg) for leg in legs]), axis=0)
            members, log_weights = _sources(cells, expected, signals, levels)
            sources = cells.particles[members]
            terms = jnp.zeros((self.num_readings, cells.particles.shape[0]))
            for number, leg in enumerate(legs):
                keys = noise_keys if number == 0 else _fold(noise_keys, _MAX_PASSED + number)
                terms += _simulate(keys, self.model, cells.particles, sources, leg.end)
                if leg.passed is not None:
                    terms += self._terms_on_way(keys, cells, sources, leg.passed, leg.is_read)
            return jnp.sum(frequencies * information(cells, log_weights, terms))

        gains = _map_allowed(gain_on, ways, mask)
        return jnp.maximum(jnp.nan_to_num(gains), 0.0)

    def _expected(self, key: Key, cells: Cells, history: History, station: Station) -> Expected | None:
        """Simulate planned readings, where there is room for any, of sources at even levels of the belief."""
        if self.planned is None:
            return None
        number = min(_NUM_HYPOTHESES, cells.particles.shape[0])
        members = members_at(cells.log_weights, (jnp.arange(number) + 0.5) / number)
        sources = cells.particles[members]

        def add(total: Float[Array, "hypotheses n"], item) -> tuple[Float[Array, "hypotheses n"], None]:
            order, target, is_going = item

            def simulate() -> Float[Array, "hypotheses n"]:
                keys = jax.random.split(jax.random.fold_in(key, order), number)
                there = self._station(history, station, target)
                return _simulate(keys, self.model, cells.particles, sources, there)

            # There may be room for more readings than are planned.
            return total + jax.lax.cond(is_going, simulate, lambda: jnp.zeros_like(total)), None

        is_going = self.planned.is_going
        items = jnp.arange(is_going.shape[0]), self.planned.targets, is_going
        terms, _ = jax.lax.scan(add, jnp.zeros((number, cells.particles.shape[0])), items)
        return Expected(members, jax.vmap(normalise)(cells.log_weights[None, :] + terms))

    def _legs(self, history: History, station: Station, way: Way) -> list[Leg]:
        targets = [jax.tree.map(itemgetter(at), way) for at in range(jax.tree.leaves(way)[0].shape[0])]
        starts = [station, *(self._station(history, station, target) for target in targets)]
        return [Leg(end, *self._passed(history, start, end)) for start, end in pairwise(starts)]

    def _station(self, history: History, station: Station, target: Target) -> Station:
        return recall(self.model, history, move_station(station, target))

    def _passed(
        self, history: History, station: Station, end: Station
    ) -> tuple[Station | None, Bool[Array, " passed"]]:
        """Return the stations of readings on the way to the next one, and which of them are taken."""
        if self.way_readings is None:
            return None, jnp.zeros(0, bool)
        place, fence = end.position, self.fence
        if isinstance(fence, FencesByHeight):
            height = flown_height(station, Waypoint(place, height_of(end)))
            fence, station = fence.at(height), set_measurement(station, "altitude", height)
        way = jnp.stack([station.position, place]) if fence is None else fence.way(station.position, place)
        places, number = self.way_readings.places(way, _MAX_PASSED)
        moving = self.way_readings.station(station)
        passed = jax.vmap(lambda at: self._station(history, moving, at))(places)
        return passed, jnp.arange(_MAX_PASSED) < number

    def _terms_on_way(
        self,
        noise_keys,
        cells: Cells,
        sources: Float[Array, "readings d"],
        passed: Station,
        is_read: Bool[Array, " passed"],
    ) -> Float[Array, "readings n"]:
        """Return the log-likelihoods of the readings on the way, summed: as one reading of many numbers."""

        def add(total: Float[Array, "readings n"], item) -> tuple[Float[Array, "readings n"], None]:
            number, station, is_taken = item
            keys = _fold(noise_keys, number)
            terms = _simulate(keys, self.model, cells.particles, sources, station)
            return total + jnp.where(is_taken, terms, 0.0), None

        nothing = jnp.zeros((sources.shape[0], cells.particles.shape[0]))
        total, _ = jax.lax.scan(add, nothing, (jnp.arange(is_read.shape[0]), passed, is_read))
        return total


def _map_allowed(
    function: Callable[[Way], Scalar], ways: Ways, mask: Bool[Array, " k"]
) -> Float[Array, " k"]:
    """Return the function of each way in the mask, and 0 for the others; a few at once."""
    number = mask.shape[0]
    size = min(_BATCH_SIZE, number)
    order = jnp.argsort(~mask, stable=True)
    # The last batch begins early enough to be a whole one: what was computed twice is the same.
    starts = jnp.minimum(jnp.arange(0, number, size), number - size)

    def add(batch: Int[Array, ""], values: Float[Array, " k"]) -> Float[Array, " k"]:
        members = jax.lax.dynamic_slice_in_dim(order, starts[batch], size)
        return values.at[members].set(jax.vmap(function)(jax.tree.map(itemgetter(members), ways)))

    num_batches = (jnp.sum(mask) + size - 1) // size
    values = jax.lax.fori_loop(0, num_batches, add, jnp.zeros(number))
    return jnp.where(mask, values, 0.0)


def _fold(keys, number: int | Int[Array, ""]):
    """Fold a number into each key."""
    return jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys, number)


def _best(rates: Float[Array, " k"], candidates: Candidates) -> Int[Array, " best"]:
    """Return the candidates of the highest gain per cost."""
    number = min(_NUM_PAIRED, rates.shape[0])
    return jax.lax.top_k(jnp.where(candidates.mask, rates, -1.0), number)[1]


def _second_candidates(
    limits: NearAndFar | PlacesAtHeights,
    candidates: Candidates,
    best: Int[Array, " best"],
    budget: Budget,
) -> Candidates:
    """Return the best candidates as seen from each of them, within what the first reading leaves."""
    places, is_allowed = candidates.places[best], candidates.mask[best]

    def after(first: Int[Array, ""]) -> Candidates:
        left = budget.minus(jnp.ones(()), candidates.way[first], candidates.seconds[first])
        allowed = is_allowed & candidates.mask[first]
        if isinstance(limits, PlacesAtHeights):
            start, ends = (jax.tree.map(itemgetter(at), candidates.targets) for at in (first, best))
            return limits.limit(start, ends, left, allowed)
        return limit_ways(limits, candidates.places[first], places, left, allowed)

    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), jax.vmap(after)(best))


def _levels(number: int) -> tuple[Float[Array, " readings"], Float[Array, " readings"]]:
    """Return levels of a distribution function, dense at the top, and the probability of each.

    A source near the candidate is rare and decides what a reading there tells. Sources at even levels would
    be near in none of the simulated readings or in one, by chance.
    """
    even = (jnp.arange(number) + 0.5) / number
    shares = (1 - even) ** (_LEVEL_EXPONENT - 1)
    return 1 - (1 - even) ** _LEVEL_EXPONENT, shares / jnp.sum(shares)


def _signals(model: Model, cells: Cells, there: Station) -> Float[Array, " n"]:
    """Return the size of the signal of each particle: the reading with the source less that without."""
    null = without_source(model)
    signals = jax.vmap(lambda theta: model.intensity(theta, there) - null.intensity(theta, there))(
        cells.particles
    )
    return jnp.abs(signals)


def _signals_on(model: Model, cells: Cells, leg: Leg) -> Float[Array, " n"]:
    """Return the largest signal of each particle at the end of a leg and in the readings on it."""
    signals = _signals(model, cells, leg.end)
    if leg.passed is None:
        return signals
    on_way = jax.vmap(lambda at: _signals(model, cells, at))(leg.passed)
    return jnp.maximum(signals, jnp.max(jnp.where(leg.is_read[:, None], on_way, 0.0), axis=0))


def _sources(
    cells: Cells, expected: Expected | None, signals: Float[Array, " n"], levels: Float[Array, " k"]
) -> tuple[Int[Array, " k"], Float[Array, "rows n"]]:
    """Return the particles at these levels of the signal, and the log weights before a reading of each.

    The weights are one row for all, or, after simulated readings of others, one for each.
    """
    if expected is None:
        return _members_by_signal(cells.log_weights, signals, levels), cells.log_weights[None, :]
    even = normalise(jnp.zeros(expected.members.shape[0]))
    chosen = _members_by_signal(even, signals[expected.members], levels)
    return expected.members[chosen], expected.log_weights[chosen]


def _members_by_signal(
    log_weights: Float[Array, " n"], signals: Float[Array, " n"], levels: Float[Array, " k"]
) -> Int[Array, " k"]:
    """Return the particles at these levels of the signal."""
    order = jnp.argsort(signals)
    return order[members_at(log_weights[order], levels)]
