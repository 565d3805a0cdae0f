"""Adapts a policy to the candidates of a site.

A planner computes the expected utility of every candidate from simulated readings there. A policy that makes
moves is followed where its move leads to a candidate; elsewhere, as at a no-go area, the planner chooses.
"""

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.envs import MAX_READINGS
from dowsax.inference import Belief, History, systematic
from dowsax.inference.weights import normalise
from dowsax.mission.action_space import NUM_PROMISING, ActionSpace, Steps
from dowsax.mission.stations import to_float32
from dowsax.policies import Oracle, Policy, Prediction, policy_named
from dowsax.policies.catalogue import UTILITIES
from dowsax.policies.lookahead import Utility, simulate_log_likelihoods
from dowsax.policies.shipped import BEST_POLICY, field_of
from dowsax.policies.utilities import RADIUS_95, LocationGain, information_gain
from dowsax.types import Key, Station
from dowsax.world import FOUR_MOVES, Model, Motion, PlumePrior

_NUM_READINGS = 32
"""Simulated for each candidate."""
_BATCH_SIZE = 8
"""Candidates in one batch, to bound the memory."""
_NUM_PLANNING_PARTICLES = 256
"""Particles that a planner with many candidates reweights."""
_MAX_MISS_M = 1e-3
"""[m], within which the end of a move counts as a candidate."""


LOCATION_GAIN = "location-gain"


class Choice(NamedTuple):
    """A place to read next."""

    position: tuple[float, float]
    """[m]"""
    gain: float | None
    """[nats], the expected information gain, where that utility chose the place."""


@dataclass(frozen=True)
class Price:
    """What a reading and the way to it cost."""

    per_metre: float
    per_reading: float

    def of(self, way: np.ndarray) -> np.ndarray:
        """Return the price of a reading after ways [m]."""
        return self.per_reading + self.per_metre * way


@dataclass(frozen=True)
class PolicyAdapter:
    """A policy for the candidates of a site."""

    name: str
    model: Model
    action_space: ActionSpace
    utility: Utility = information_gain
    policy: Policy | None = None
    """A policy that makes moves; `None` for the planner alone."""
    motion: Motion | None = None
    """The moves of its actions."""

    @property
    def sees_far(self) -> bool:
        """Whether candidates are near and far, and compared by their utility per cost."""
        return isinstance(self.utility, LocationGain) and self.policy is None

    def candidates(self, key: Key, belief: Belief, here, distance: float | None) -> np.ndarray:
        """Return the places (k, 2) [m] to choose from, with `distance` [m] left to go; k may be 0."""
        if not self.sees_far:
            return self.action_space.candidates(here, distance)
        promising = np.asarray(_draw_positions(key, belief))
        return self.action_space.far_candidates(here, distance, promising)

    def choose(
        self,
        key: Key,
        belief: Belief,
        station: Station,
        candidates: np.ndarray,
        price: Price | None = None,
    ) -> Choice:
        """Choose one of the candidates (k, 2) [m], k ≥ 1, to read at after this station."""
        if len(candidates) == 1:
            return Choice(_pair(candidates[0]), None)
        if self.policy is not None and self.motion is not None:
            there = np.asarray(_follow(self.policy, self.motion, key, belief, station))
            distances = np.linalg.norm(candidates - there[None], axis=1)
            if distances.min() < _MAX_MISS_M:
                return Choice(_pair(candidates[distances.argmin()]), None)
        utilities = self.expected_utilities(key, belief, station, candidates)
        if price is not None and self.sees_far:
            way = np.linalg.norm(candidates - np.asarray(station.position, np.float64)[None], axis=1)
            utilities = utilities / price.of(way)
        gain = float(utilities.max()) if self.utility is information_gain else None
        return Choice(_pair(candidates[int(utilities.argmax())]), gain)

    def expected_utilities(
        self, key: Key, belief: Belief, station: Station, candidates: np.ndarray
    ) -> np.ndarray:
        """Return the expected utility of a reading at each candidate; -inf where it is not a number."""
        # Padded to the largest size, so that nothing is compiled during a mission.
        space = self.action_space
        most = space.max_far_candidates if self.sees_far else space.max_candidates
        size = -(-max(most, len(candidates)) // _BATCH_SIZE) * _BATCH_SIZE
        padded = np.pad(candidates, ((0, size - len(candidates)), (0, 0)), mode="edge")
        if self.sees_far:
            belief = thin(key, belief, _NUM_PLANNING_PARTICLES)
        utilities = _expected_utilities(self.model, self.utility, key, belief, station, to_float32(padded))
        return np.nan_to_num(np.asarray(utilities)[: len(candidates)], nan=-np.inf)


def build_policy_adapter(
    model: Model, space: ActionSpace, policy: str | Policy | None = None, radius: float = 1.0
) -> PolicyAdapter:
    """Return the adapter of a policy or its name (default: the best policy for this model and these steps).

    The best is the trained policy where it was trained for the field and its moves are the site's, else
    Infotaxis. `radius` [m] is that of the stop rule.
    """
    if policy is None:
        policy = BEST_POLICY if _is_benchmark(model, space) else "infotaxis"
    if not isinstance(policy, str):
        return PolicyAdapter(type(policy).__name__, model, space, policy=policy, motion=_motion(space))
    if policy == LOCATION_GAIN:
        return PolicyAdapter(policy, model, space, utility=LocationGain(radius / RADIUS_95))
    if policy in UTILITIES:
        if policy == "space-aware" and space.area != (FOUR_MOVES.low, FOUR_MOVES.high):
            raise ValueError(
                "The policy 'space-aware' counts cells of the benchmark's square: choose infotaxis."
            )
        return PolicyAdapter(policy, model, space, utility=UTILITIES[policy])
    with warnings.catch_warnings():
        # The caller chose the policy by name: no warning about the field it was trained for.
        warnings.simplefilter("ignore")
        made = policy_named(policy)(model, _motion(space))
    if isinstance(made, Oracle):
        raise ValueError(f"The policy {policy!r} needs the true source: choose another, such as infotaxis.")
    return PolicyAdapter(policy, model, space, policy=made, motion=_motion(space))


def _is_benchmark(model: Model, action_space: ActionSpace) -> bool:
    """Whether field, parameters, area and moves are those the policy was trained with."""
    return (
        field_of(model) is not None
        and isinstance(model.prior, PlumePrior)
        and action_space.steps == Steps(1.0, 4)
        and action_space.area == (FOUR_MOVES.low, FOUR_MOVES.high)
    )


def _motion(action_space: ActionSpace) -> Motion:
    if action_space.steps is None:
        raise ValueError("With a list of points only planners can choose: infotaxis, entrotaxis or dcee.")
    if action_space.steps == Steps(1.0, 4) and action_space.area == (FOUR_MOVES.low, FOUR_MOVES.high):
        return FOUR_MOVES
    moves = tuple(_pair(move) for move in action_space.steps.around((0.0, 0.0)))
    low, high = (_pair(corner) for corner in action_space.area)
    return Motion(moves, low, high)


@eqx.filter_jit
def _follow(policy: Policy, motion: Motion, key: Key, belief: Belief, station: Station) -> Array:
    follow_key, _ = jax.random.split(key)
    return motion(station.position, policy(follow_key, latest(belief, MAX_READINGS), station))


def latest(belief: Belief, most: int) -> Belief:
    """Return the belief with at most the newest `most` readings in its history, and room for no more.

    Policies were trained with histories of that length, and the cost of a lookup grows with the capacity.
    """
    history = belief.history
    if history.readings.shape[0] <= most:
        return belief
    first = jnp.maximum(history.size - most, 0)
    stations, readings = jax.tree.map(
        lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, first, most), (history.stations, history.readings)
    )
    newest = History(stations, readings, jnp.minimum(history.size, most))
    return eqx.tree_at(lambda at: at.history, belief, newest)


@eqx.filter_jit
def thin(key: Key, belief: Belief, number: int) -> Belief:
    """Return the belief with at most this many particles, of equal weight."""
    if belief.particles.shape[0] <= number:
        return belief
    members = systematic(jax.random.fold_in(key, 1), normalise(belief.log_weights), number)
    parts = lambda at: (at.particles, at.log_weights)  # noqa: E731
    return eqx.tree_at(parts, belief, (belief.particles[members], jnp.full(number, -jnp.log(number))))


@eqx.filter_jit
def _draw_positions(key: Key, belief: Belief) -> Float[Array, "k 2"]:
    """Draw places where the source may be."""
    members = systematic(jax.random.fold_in(key, 2), normalise(belief.log_weights), NUM_PROMISING)
    return belief.particles[members, :2]


@eqx.filter_jit
def _expected_utilities(
    model: Model, utility: Utility, key: Key, belief: Belief, station: Station, places: Float[Array, "k 2"]
) -> Float[Array, " k"]:
    """Do what `policies.Lookahead` does, but at given places, with the other measurements of the station."""
    _, utility_key = jax.random.split(key)
    draw_key, noise_key = jax.random.split(utility_key)
    log_weights = normalise(belief.log_weights)
    sources = belief.particles[systematic(draw_key, log_weights, _NUM_READINGS)]
    noise_keys = jax.random.split(noise_key, _NUM_READINGS)

    def utility_at(place: Float[Array, "2"]) -> Float[Array, ""]:
        there = move_station(station, place)
        terms = simulate_log_likelihoods(noise_keys, model, belief.particles, sources, there)
        return utility(Prediction(place, belief.particles, log_weights, terms))

    return jax.lax.map(utility_at, places, batch_size=_BATCH_SIZE)


def move_station(station: Station, place: Float[Array, "2"]) -> Station:
    """Return the station at another place; a lagging sensor has settled there."""
    there = replace(station, position=place)
    if station.trail is None:
        return there
    places = jnp.broadcast_to(place, station.trail.stations.position.shape)
    before = replace(station.trail.stations, position=places)
    return replace(there, trail=replace(station.trail, stations=before))


def _pair(values) -> tuple[float, float]:
    first, second = values
    return float(first), float(second)
