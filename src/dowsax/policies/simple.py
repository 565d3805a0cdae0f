"""Policies that do not look ahead: random moves, and walks to a point."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.inference import Belief
from dowsax.inference.summaries import mean
from dowsax.policies.base import Action, Policy, best
from dowsax.types import Key, Position, Station, Theta
from dowsax.world import FOUR_MOVES, Motion


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


def toward(key: Key, motion: Motion, position: Position, target: Position) -> Action:
    """The move that ends nearest to the target."""
    distances = jnp.linalg.norm(motion.reach(position) - target[None, :], axis=1)
    return best(key, -distances, motion.free(position))
