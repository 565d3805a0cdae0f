"""A trained policy that hands over to a planner when a search is unlike those it learned from."""

import math
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax

from dowsax.inference import Belief
from dowsax.policies.base import Action, Policy
from dowsax.policies.lookahead import Lookahead
from dowsax.policies.shipped import trained
from dowsax.policies.stored import Card, card_of
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Station
from dowsax.world import FOUR_MOVES, Model, Motion

PATIENCE = 2.0
"""How many times the usual path of its training a network may search on."""


class Guarded(eqx.Module):
    """The network's action while the belief has fewer than `after` readings, from then on the planner's.

    A network knows the searches of its training; where sources are elsewhere it may go around for ever in
    places that it knows. A planner follows the belief wherever that is. How long a search lasts tells them
    apart without knowing where the source is: one that lasts twice as long as was usual at the end of
    training is unlike those that the network learned from.

    One search alone pays for one of the two; in a batch both are computed.
    """

    network: Policy
    planner: Policy
    after: int = eqx.field(static=True)
    """Readings."""

    def __check_init__(self) -> None:
        if self.after < 1:
            raise ValueError(f"`after` is a number of readings, at least 1; got {self.after}.")

    def __call__(self, key: Key, belief: Belief, station: Station) -> Action:
        return jax.lax.cond(
            belief.history.size < self.after,
            lambda: self.network(key, belief, station),
            lambda: self.planner(key, belief, station),
        )


def guarded(path: Path) -> Callable[[Model, Motion], Guarded]:
    """The maker of a trained policy with Infotaxis as its guard."""
    make_network, after = trained(path), patience(path.stem, card_of(path))

    def make(model: Model, motion: Motion = FOUR_MOVES) -> Guarded:
        return Guarded(make_network(model, motion), Lookahead(model, information_gain, motion), after)

    return make


def patience(name: str, card: Card) -> int:
    """Twice the mean path of the searches that stopped at the end of training, in readings.

    Training takes a reading after every move of 1 m, so that a path in metres is a number of readings.
    """
    usual = card.curves.get("path_length", [])[-1:]
    if not usual or not usual[0] > 0:
        raise ValueError(
            f"The card of {name} has no curve that says how long its searches were at the end of training: "
            "take it without -guarded, or train it again."
        )
    return math.ceil(PATIENCE * usual[0])
