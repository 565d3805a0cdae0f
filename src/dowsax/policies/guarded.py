"""A trained policy that hands over to a planner when a search is unlike those it learned from."""

import math
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from dowsax.inference import Belief
from dowsax.policies.base import Action, Policy
from dowsax.policies.lookahead import Lookahead
from dowsax.policies.shipped import trained_policy
from dowsax.policies.stored import Card, card_of
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Station
from dowsax.world import FOUR_MOVES, ActionSpace, Budget, Candidates, Model

PATIENCE_FACTOR = 2.0
"""The planner takes over after this many times the mean path at the end of training."""


class Guarded(eqx.Module):
    """The network's action while the belief has fewer than `after` readings, from then on the planner's.

    A network trained with sources in one region may search that region forever when the source is elsewhere.
    A planner follows the belief. A search that lasts twice as long as the mean at the end of training is
    unlike those that the network was trained on.

    For one search only one of the two is computed; in a batch (`vmap`) both are.
    """

    network: Policy
    planner: Policy
    after: Int[Array, ""] = eqx.field(converter=lambda number: jnp.asarray(number, jnp.int32))
    """Number of readings. An array, so that guarded policies differ by arrays alone."""

    def __check_init__(self) -> None:
        if int(self.after) < 1:
            raise ValueError(f"`after` must be a number of readings >= 1; got {self.after}.")

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        return jax.lax.cond(
            belief.history.size < self.after,
            lambda: self.network(key, belief, station, candidates, budget),
            lambda: self.planner(key, belief, station, candidates, budget),
        )


def guarded_policy(path: Path) -> Callable[..., Guarded]:
    """Return the constructor of a trained policy with Infotaxis as its guard."""
    make_network, after = trained_policy(path), guard_after(path.stem, card_of(path))

    def make(model: Model, actions: ActionSpace = FOUR_MOVES, radius: float = 1.0, /) -> Guarded:
        network = make_network(model, actions, radius)
        return Guarded(network, Lookahead(model, information_gain), after)

    return make


def guard_after(name: str, card: Card) -> int:
    """Return twice the mean path of the searches that stopped at the end of training, in readings.

    Training takes a reading after every move of 1 m, so a path in metres is a number of readings.
    """
    usual = card.curves.get("path_length", [])[-1:]
    if not usual or not usual[0] > 0:
        raise ValueError(
            f"The card of {name} has no curve of `path_length`, the mean path at the end of training: "
            "use it without -guarded, or train it again."
        )
    return math.ceil(PATIENCE_FACTOR * usual[0])
