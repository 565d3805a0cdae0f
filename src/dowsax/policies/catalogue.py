"""The policies by name."""

from collections.abc import Callable
from functools import partial

from dowsax.policies.base import Informed, Policy
from dowsax.policies.guarded import guarded
from dowsax.policies.lookahead import Lookahead, Utility
from dowsax.policies.reactive import SurgeCast, Zigzag, clean_air
from dowsax.policies.shipped import GUARDED, known, trained, weights_of
from dowsax.policies.simple import Circle, Greedy, Random, Straight
from dowsax.policies.utilities import (
    information_gain,
    negative_distance_and_spread,
    negative_time_to_find,
    predictive_entropy,
)
from dowsax.world import FOUR_MOVES, Model, Motion, benchmark_model

Maker = Callable[[Model, Motion], Policy | Informed]

UTILITIES: dict[str, Utility] = {
    "infotaxis": information_gain,
    "space-aware": negative_time_to_find,
    "entrotaxis": predictive_entropy,
    "dcee": negative_distance_and_spread,
}
"""The planners: each is a utility in the lookahead loop."""
DEPTHS = (2, 3, 4)
"""Moves that a planner may look ahead when its name says so: `infotaxis-2`."""


def planner(model: Model, motion: Motion, *, utility: Utility, depth: int = 1) -> Lookahead:
    """A lookahead policy with the utility."""
    return Lookahead(model, utility, motion, depth=depth)


POLICIES: dict[str, Maker] = {
    "random": lambda model, motion: Random(motion),
    "straight": lambda model, motion: Straight(motion),
    "circle": lambda model, motion: Circle(motion),
    "greedy": lambda model, motion: Greedy(motion),
    "surge-cast": lambda model, motion: SurgeCast(clean_air(model.sensor), motion),
    "zigzag": lambda model, motion: Zigzag(clean_air(model.sensor), motion),
    **{name: partial(planner, utility=utility) for name, utility in UTILITIES.items()},
    "infotaxis-2": partial(planner, utility=information_gain, depth=2),
}
"""The policies a table has; `policy_named` knows deeper planners too."""


def policy_names() -> tuple[str, ...]:
    """The policies a table has, and the trained ones that come with the package."""
    return (*POLICIES, *known())


def policy_named(name: str) -> Maker:
    """The maker of a policy.

    The name is one of `policy_names()`, a planner's with its depth, such as `entrotaxis-2`, that of a trained
    policy with a guard, such as `att-pfrl-guarded`, or the path of a file of weights.
    """
    if name in POLICIES:
        return POLICIES[name]
    weights = weights_of(name)
    if weights is not None:
        return guarded(weights) if name.endswith(GUARDED) else trained(weights)
    base, _, depth = name.rpartition("-")
    if base in UTILITIES and depth in map(str, DEPTHS):
        return partial(planner, utility=UTILITIES[base], depth=int(depth))
    deeper = f"{', '.join(UTILITIES)} also with -{', -'.join(map(str, DEPTHS))} for that many moves ahead"
    watched = f"{', '.join(known())} also with {GUARDED}, for Infotaxis to take over from them"
    names = ", ".join(policy_names())
    raise ValueError(
        f"Unknown policy {name!r}; known are {names}; {deeper}; {watched}; or give a .safetensors file."
    )


def policy(
    name: str,
    field: str | None = None,
    *,
    model: Model | None = None,
    motion: Motion = FOUR_MOVES,
) -> Policy:
    """A policy ready to act: `policy("att-pfrl", field="gas")(key, belief, station)` is the next action.

    What is measured is a field of the benchmark, temperature unless given, or a model of one's own.
    """
    if field is not None and model is not None:
        raise ValueError("Give a field of the benchmark or a model of your own, not both.")
    made = policy_named(name)(benchmark_model(field or "temperature") if model is None else model, motion)
    if isinstance(made, Informed):
        raise ValueError(f"The policy {name!r} has to be told where the source is: it is only for tables.")
    return made
