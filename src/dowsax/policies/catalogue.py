"""The policies by name."""

from collections.abc import Callable
from functools import partial

from dowsax.inference import Credible
from dowsax.policies.base import Oracle, Policy
from dowsax.policies.guarded import guarded_policy
from dowsax.policies.location_planner import RADIUS_95, LocationPlanner
from dowsax.policies.lookahead import Lookahead, Utility
from dowsax.policies.reactive import SurgeCast, Zigzag, clean_air
from dowsax.policies.shipped import GUARDED_SUFFIX, pretrained_names, trained_policy, weights_path
from dowsax.policies.simple import Greedy, OracleCircle, OracleStraight, Random
from dowsax.policies.utilities import (
    information_gain,
    negative_distance_and_spread,
    negative_time_to_find,
    predictive_entropy,
)
from dowsax.world import FOUR_MOVES, Model, Motion, benchmark_model

Constructor = Callable[[Model, Motion], Policy | Oracle]

UTILITIES: dict[str, Utility] = {
    "infotaxis": information_gain,
    "space-aware": negative_time_to_find,
    "entrotaxis": predictive_entropy,
    "dcee": negative_distance_and_spread,
}
"""The planners by name: each is a utility in the lookahead loop."""
DEPTHS = (2, 3, 4)
"""Numbers of moves that a planner can look ahead, as in `infotaxis-2`."""


def planner(model: Model, motion: Motion, *, utility: Utility, depth: int = 1) -> Lookahead:
    """Return a lookahead policy with the utility."""
    return Lookahead(model, utility, motion, depth=depth)


POLICIES: dict[str, Constructor] = {
    "random": lambda model, motion: Random(),
    "oracle-straight": lambda model, motion: OracleStraight(),
    "oracle-circle": lambda model, motion: OracleCircle(),
    "greedy": lambda model, motion: Greedy(),
    "surge-cast": lambda model, motion: SurgeCast(clean_air(model.sensor), motion),
    "zigzag": lambda model, motion: Zigzag(clean_air(model.sensor), motion),
    **{name: partial(planner, utility=utility) for name, utility in UTILITIES.items()},
    "location-gain": lambda model, motion: LocationPlanner(model, float(Credible().radius) / RADIUS_95),
    "infotaxis-2": partial(planner, utility=information_gain, depth=2),
}
"""The untrained policies; `policy_named` knows deeper planners too."""
ALIASES = {"straight": "oracle-straight", "circle": "oracle-circle"}
"""Names in older result files."""


def policy_names() -> tuple[str, ...]:
    """Return the names of the untrained policies, and of the trained ones in the package."""
    return (*POLICIES, *pretrained_names())


def policy_named(name: str) -> Constructor:
    """Return the constructor of a policy.

    The name is one of `policy_names()`, a planner with its depth (`entrotaxis-2`), a trained policy with a
    guard (`pfrl-guarded`), or the path of a file of weights.
    """
    name = ALIASES.get(name, name)
    if name in POLICIES:
        return POLICIES[name]
    weights = weights_path(name)
    if weights is not None:
        return guarded_policy(weights) if name.endswith(GUARDED_SUFFIX) else trained_policy(weights)
    base, _, depth = name.rpartition("-")
    if base in UTILITIES and depth in map(str, DEPTHS):
        return partial(planner, utility=UTILITIES[base], depth=int(depth))
    raise ValueError(
        f"Unknown policy {name!r}; known are {', '.join(policy_names())}; planners also with "
        f"-{', -'.join(map(str, DEPTHS))} for the number of moves ahead, trained policies also with "
        f"{GUARDED_SUFFIX} to hand long searches to Infotaxis; or give a .safetensors file."
    )


def policy(
    name: str, field: str | None = None, *, model: Model | None = None, motion: Motion = FOUR_MOVES
) -> Policy:
    """Return a policy: `policy("pfrl", field="gas")(key, belief, station, candidates, budget)`.

    Parameters
    ----------
    name
        One of `policy_names()`, or what `policy_named` accepts.
    field
        A field of the benchmark. Default: temperature.
    model
        A model of your own, in place of a field.
    motion
        The moves to choose from.
    """
    if field is not None and model is not None:
        raise ValueError("Give a field of the benchmark or a model of your own, not both.")
    made = policy_named(name)(benchmark_model(field or "temperature") if model is None else model, motion)
    if isinstance(made, Oracle):
        raise ValueError(
            f"The policy {name!r} needs the true source: it can only be evaluated, not used in a search."
        )
    return made
