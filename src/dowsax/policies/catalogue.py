"""The policies by name."""

from collections.abc import Callable
from functools import partial

from dowsax.policies.base import Informed, Policy
from dowsax.policies.lookahead import Lookahead
from dowsax.policies.simple import Greedy, Random, Straight
from dowsax.policies.utilities import (
    information_gain,
    negative_distance_and_spread,
    negative_time_to_find,
    predictive_entropy,
)
from dowsax.world import Model, Motion

Maker = Callable[[Model, Motion], Policy | Informed]


def planner(model: Model, motion: Motion, *, utility, depth: int = 1) -> Lookahead:
    """A lookahead policy with the utility."""
    return Lookahead(model, utility, motion, depth=depth)


POLICIES: dict[str, Maker] = {
    "random": lambda model, motion: Random(motion),
    "straight": lambda model, motion: Straight(motion),
    "greedy": lambda model, motion: Greedy(motion),
    "infotaxis": partial(planner, utility=information_gain),
    "infotaxis-2": partial(planner, utility=information_gain, depth=2),
    "space-aware": partial(planner, utility=negative_time_to_find),
    "entrotaxis": partial(planner, utility=predictive_entropy),
    "dcee": partial(planner, utility=negative_distance_and_spread),
}
