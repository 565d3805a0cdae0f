"""Policies that do not look ahead: random moves, walks to the estimate, and oracles that know the source."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference import Belief, History
from dowsax.inference.summaries import mean_position
from dowsax.policies.base import Action, Policy, choose_best
from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import Budget, Candidates, take_position

_SAME_PLACE_M = 0.1
_READINGS_A_TURN = 4
"""Of an oracle at each of several sources, before it goes to the next."""


class Random(eqx.Module):
    """A random candidate, all equally likely."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        del belief, station, budget
        return choose_best(key, jnp.zeros_like(candidates.way), candidates.mask)


class Greedy(eqx.Module):
    """The candidate nearest to the mean position of the source."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        del station, budget
        return toward(key, candidates, mean_position(belief))


class OracleStraight(eqx.Module):
    """Oracle: walks straight to the true source, a lower bound of the path."""

    def policy_for(self, theta: Theta) -> Policy:
        def walk(
            key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
        ) -> Action:
            del station, budget
            return toward(key, candidates, _true_place(belief, theta))

        return walk


class OracleCircle(eqx.Module):
    """Oracle: walks to the true source, then around it where the fewest readings were taken.

    It bounds the stop rate: a search that does not stop with most readings next to the source cannot be
    expected to stop with any policy.
    """

    radius: float = eqx.field(default=1.6, static=True)
    """[m], of the places around the source."""

    def policy_for(self, theta: Theta) -> Policy:
        def walk(
            key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
        ) -> Action:
            del station, budget
            reachable = candidates.places
            distances = jnp.linalg.norm(reachable - _true_place(belief, theta)[None, :], axis=1)
            # Places within the radius first, the least visited of them before others, ties to the nearer one.
            visits = _visits(belief.history, reachable)
            around = 1.0 / (1.0 + visits + 0.1 * distances / self.radius)
            scores = jnp.where(distances <= self.radius, around, -distances)
            return choose_best(key, scores, candidates.mask)

        return walk


class OracleAround(eqx.Module):
    """Oracle: goes to the true source, then reads around it, each time far from where it has read before.

    It bounds what a planner can find at a site with the same filter and budget.
    """

    radius: float | Scalar
    """[m], within which it stays once it is there."""

    def policy_for(self, theta: Theta) -> Policy:
        def walk(
            key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
        ) -> Action:
            del station, budget
            distances = jnp.linalg.norm(candidates.places - _true_place(belief, theta)[None, :], axis=1)
            visited = belief.history.stations.place
            is_read = jnp.arange(visited.shape[0]) < belief.history.size
            apart = jnp.linalg.norm(candidates.places[:, None, :] - visited[None, :, :], axis=2)
            nearest = jnp.min(jnp.where(is_read[None, :], apart, jnp.inf), axis=1)
            return choose_best(key, jnp.where(distances <= self.radius, nearest, -distances), candidates.mask)

        return walk


def _visits(history: History, places: Float[Array, "places axes"]) -> Float[Array, " places"]:
    """Count the readings at each place."""
    visited = history.stations.place
    read = jnp.arange(visited.shape[0]) < history.size
    squares = jnp.sum((places[:, None, :] - visited[None, :, :]) ** 2, axis=2)
    return jnp.sum(read[None, :] & (squares < _SAME_PLACE_M**2), axis=1).astype(jnp.float32)


def _true_place(belief: Belief, theta: Theta) -> Position:
    """Return where the source is; of several, each in turn, for some readings."""
    if not belief.other_columns:
        return belief.position(theta)
    blocks = (belief.position_columns, *belief.other_columns)
    places = jnp.stack([take_position(theta, block) for block in blocks])
    number = len(blocks) if belief.number_column is None else theta[belief.number_column].astype(jnp.int32)
    return places[belief.history.size // _READINGS_A_TURN % number]


def toward(key: Key, candidates: Candidates, target: Position) -> Action:
    """Return the candidate nearest to the target."""
    distances = jnp.linalg.norm(candidates.places - target[None, :], axis=1)
    return choose_best(key, -distances, candidates.mask)
