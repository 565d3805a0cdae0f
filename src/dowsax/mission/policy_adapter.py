"""Where to read next: any policy, on places that may be gone to.

A planner judges every candidate by readings imagined there. A policy that makes moves is followed where its
move leads to a candidate; where it does not, as at a no-go area, the planner chooses.
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
from dowsax.mission.candidates import Reach, Steps
from dowsax.mission.stations import single
from dowsax.policies import Oracle, Policy, Prediction, policy_named
from dowsax.policies.catalogue import UTILITIES
from dowsax.policies.lookahead import Utility, simulate_log_likelihoods
from dowsax.policies.shipped import BEST_POLICY, field_of
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Station
from dowsax.world import FOUR_MOVES, Model, Motion, PlumePrior

_NUM_READINGS = 32
"""Imagined for each candidate."""
_AT_ONCE = 8
"""Candidates judged together, to bound the memory."""
_NEAR = 1e-3
"""[m], a move that ends so near to a candidate leads to it."""


class Choice(NamedTuple):
    """A place to read next."""

    position: tuple[float, float]
    """[m]"""
    gain: float | None
    """[nats], what a reading there is expected to tell, where the planner of that name chose it."""


@dataclass(frozen=True)
class Guide:
    """A policy for a site."""

    name: str
    model: Model
    reach: Reach
    utility: Utility = information_gain
    policy: Policy | None = None
    """One that makes moves; without any, the planner alone."""
    motion: Motion | None = None
    """What its actions mean."""

    def choose(self, key: Key, belief: Belief, station: Station, candidates: np.ndarray) -> Choice:
        """One of the candidates (k, 2) [m], k at least 1, to read at next after this station."""
        if len(candidates) == 1:
            return Choice(_pair(candidates[0]), None)
        if self.policy is not None and self.motion is not None:
            there = np.asarray(_move(self.policy, self.motion, key, belief, station))
            distances = np.linalg.norm(candidates - there[None], axis=1)
            if distances.min() < _NEAR:
                return Choice(_pair(candidates[distances.argmin()]), None)
        worth = self.worth(key, belief, station, candidates)
        gain = float(worth.max()) if self.utility is information_gain else None
        return Choice(_pair(candidates[int(worth.argmax())]), gain)

    def worth(self, key: Key, belief: Belief, station: Station, candidates: np.ndarray) -> np.ndarray:
        """The expected utility of a reading at each candidate; what is not a number counts as the least."""
        # Always as many as there can be, so that nothing is compiled during a mission.
        size = -(-max(self.reach.most, len(candidates)) // _AT_ONCE) * _AT_ONCE
        padded = np.pad(candidates, ((0, size - len(candidates)), (0, 0)), mode="edge")
        worth = _worth(self.model, self.utility, key, belief, station, single(padded))
        return np.nan_to_num(np.asarray(worth)[: len(candidates)], nan=-np.inf)


def guide_for(model: Model, reach: Reach, policy: str | Policy | None = None) -> Guide:
    """The guide of a policy by name, of one's own, or the best there is for this model and these steps.

    That is the trained one where it was trained for the field and its moves are the site's, else Infotaxis.
    """
    if policy is None:
        policy = BEST_POLICY if _is_the_benchmark(model, reach) else "infotaxis"
    if not isinstance(policy, str):
        return Guide(type(policy).__name__, model, reach, policy=policy, motion=_motion(reach))
    if policy in UTILITIES:
        if policy == "space-aware" and reach.area != (FOUR_MOVES.low, FOUR_MOVES.high):
            raise ValueError(
                "The policy 'space-aware' counts cells of the benchmark's square: choose infotaxis."
            )
        return Guide(policy, model, reach, utility=UTILITIES[policy])
    with warnings.catch_warnings():
        # Whether it was trained for the field is asked above, or the user's own choice.
        warnings.simplefilter("ignore")
        made = policy_named(policy)(model, _motion(reach))
    if isinstance(made, Oracle):
        raise ValueError(
            f"The policy {policy!r} has to be told where the source is: choose another, such as infotaxis."
        )
    return Guide(policy, model, reach, policy=made, motion=_motion(reach))


def _is_the_benchmark(model: Model, reach: Reach) -> bool:
    """Whether the field, its parameters, the area and the moves are those that the trained policy knows."""
    return (
        field_of(model) is not None
        and isinstance(model.prior, PlumePrior)
        and reach.steps == Steps(1.0, 4)
        and reach.area == (FOUR_MOVES.low, FOUR_MOVES.high)
    )


def _motion(reach: Reach) -> Motion:
    if reach.steps is None:
        raise ValueError("With a list of points only planners can choose: infotaxis, entrotaxis or dcee.")
    if reach.steps == Steps(1.0, 4) and reach.area == (FOUR_MOVES.low, FOUR_MOVES.high):
        return FOUR_MOVES
    moves = tuple(_pair(move) for move in reach.steps.around((0.0, 0.0)))
    low, high = (_pair(corner) for corner in reach.area)
    return Motion(moves, low, high)


@eqx.filter_jit
def _move(policy: Policy, motion: Motion, key: Key, belief: Belief, station: Station) -> Array:
    follow_key, _ = jax.random.split(key)
    return motion(station.position, policy(follow_key, latest(belief, MAX_READINGS), station))


def latest(belief: Belief, most: int) -> Belief:
    """The belief with the newest readings alone, so many at most, and room for no more.

    A policy knows searches of that length, and looking things up in the history costs as much as it has room.
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
def _worth(
    model: Model, utility: Utility, key: Key, belief: Belief, station: Station, places: Float[Array, "k 2"]
) -> Float[Array, " k"]:
    """As `policies.Lookahead`, but at given places, and with what else was measured as it was last."""
    _, judge_key = jax.random.split(key)
    draw_key, noise_key = jax.random.split(judge_key)
    log_weights = normalise(belief.log_weights)
    sources = belief.particles[systematic(draw_key, log_weights, _NUM_READINGS)]
    noise_keys = jax.random.split(noise_key, _NUM_READINGS)

    def judge(place: Float[Array, "2"]) -> Float[Array, ""]:
        there = elsewhere(station, place)
        terms = simulate_log_likelihoods(noise_keys, model, belief.particles, sources, there)
        return utility(Prediction(place, belief.particles, log_weights, terms))

    return jax.lax.map(judge, places, batch_size=_AT_ONCE)


def elsewhere(station: Station, place: Float[Array, "2"]) -> Station:
    """The station elsewhere; a sensor that lags has been there long enough to have settled."""
    there = replace(station, position=place)
    if station.trail is None:
        return there
    places = jnp.broadcast_to(place, station.trail.stations.position.shape)
    before = replace(station.trail.stations, position=places)
    return replace(there, trail=replace(station.trail, stations=before))


def _pair(values) -> tuple[float, float]:
    first, second = values
    return float(first), float(second)
