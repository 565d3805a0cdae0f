"""Policies that do not look ahead: random moves, and walks to a point."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference import Belief, History
from dowsax.inference.summaries import mean
from dowsax.policies.base import Action, Policy, best
from dowsax.types import Key, Position, Station, Theta
from dowsax.world import FOUR_MOVES, Motion

# [m], two readings nearer than this were taken at the same place.
_SAME = 0.1


class Random(eqx.Module):
    """Any of the moves that fit, each as likely."""

    motion: Motion = FOUR_MOVES

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        del belief
        return best(key, jnp.zeros(self.motion.num_actions), self.motion.free(station.position))


class Greedy(eqx.Module):
    """The move that ends nearest to the mean position of the source."""

    motion: Motion = FOUR_MOVES

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        return toward(key, self.motion, station.position, mean(belief)[:2])


class Straight(eqx.Module):
    """To the source, which it has to be told: nobody who must find it can be faster on average."""

    motion: Motion = FOUR_MOVES

    def told(self, theta: Theta) -> Policy:
        def walk(key: Key, belief: Belief, station: Station) -> Action:
            del belief
            return toward(key, self.motion, station.position, theta[:2])

        return walk


class Circle(eqx.Module):
    """To the source, which it has to be told, and around it, where fewest readings were taken.

    A search that does not stop although most of its readings are from next to the source is one that nobody
    could have stopped.
    """

    motion: Motion = FOUR_MOVES
    radius: float = eqx.field(default=1.6, static=True)
    """[m], the places around."""

    def told(self, theta: Theta) -> Policy:
        def walk(key: Key, belief: Belief, station: Station) -> Action:
            there = self.motion.reach(station.position)
            distances = jnp.linalg.norm(there - theta[None, :2], axis=1)
            # Any place around is worth more than any other, and of two as often visited the nearer one.
            often = _visits(belief.history, there)
            around = 1.0 / (1.0 + often + 0.1 * distances / self.radius)
            worth = jnp.where(distances <= self.radius, around, -distances)
            return best(key, worth, self.motion.free(station.position))

        return walk


def _visits(history: History, places: Float[Array, "places 2"]) -> Float[Array, " places"]:
    """How many readings were taken at each place."""
    visited = history.stations.position
    read = jnp.arange(visited.shape[0]) < history.size
    squares = jnp.sum((places[:, None, :] - visited[None, :, :]) ** 2, axis=2)
    return jnp.sum(read[None, :] & (squares < _SAME**2), axis=1).astype(jnp.float32)


def toward(key: Key, motion: Motion, position: Position, target: Position) -> Action:
    """The move that ends nearest to the target."""
    distances = jnp.linalg.norm(motion.reach(position) - target[None, :], axis=1)
    return best(key, -distances, motion.free(position))
