"""The policies by name."""

from functools import partial
from typing import Protocol, runtime_checkable

from dowsax.policies.base import Oracle, Policy
from dowsax.policies.guarded import guarded_policy
from dowsax.policies.location_planner import RADIUS_95, LocationPlanner
from dowsax.policies.lookahead import Lookahead, Utility
from dowsax.policies.reactive import SurgeCast, Zigzag, clean_air
from dowsax.policies.shipped import GUARDED_SUFFIX, pretrained_names, trained_policy, weights_path
from dowsax.policies.simple import Greedy, OracleAround, OracleCircle, OracleStraight, Random
from dowsax.policies.utilities import (
    information_gain,
    negative_distance_and_spread,
    negative_time_to_find,
    predictive_entropy,
)
from dowsax.world import (
    FOUR_MOVES,
    PARAMETERS,
    ActionSpace,
    Model,
    NearAndFar,
    PlacesAtHeights,
    PolicyMismatch,
    benchmark_model,
    moves_of,
)

RADIUS_M = 1.0
"""The radius of the benchmark's stop rule."""


@runtime_checkable
class Constructor(Protocol):
    """Make a policy for a model, its actions and the radius [m] of the stop rule.

    It raises a ValueError in one line where the policy cannot choose among such candidates.
    """

    def __call__(
        self, model: Model, actions: ActionSpace, radius: float = RADIUS_M, /
    ) -> Policy | Oracle: ...


UTILITIES: dict[str, Utility] = {
    "infotaxis": information_gain,
    "space-aware": negative_time_to_find,
    "entrotaxis": predictive_entropy,
    "dcee": negative_distance_and_spread,
}
"""The planners by name: each is a utility in the lookahead loop."""
ORACLE = "oracle"
"""The oracle among any candidates: goes to the source, and reads around it."""
DEPTHS = (2, 3, 4)
"""Numbers of moves that a planner can look ahead, as in `infotaxis-2`."""
LOCATION_GAIN_2 = "location-gain-2"
"""The planner of sites two readings ahead, each near or far."""


def planner(
    model: Model, actions: ActionSpace, radius: float = RADIUS_M, /, *, utility: Utility, depth: int = 1
) -> Lookahead:
    """Return a lookahead policy with the utility. Moves after the first need an action space of moves."""
    del radius
    if utility is negative_time_to_find and (actions.low, actions.high) != (FOUR_MOVES.low, FOUR_MOVES.high):
        raise ValueError(
            "The policy 'space-aware' counts cells of the benchmark's square: choose location-gain."
        )
    return Lookahead(model, utility, moves_of(actions) if depth > 1 else FOUR_MOVES, depth=depth)


def reactive(
    model: Model, actions: ActionSpace, radius: float = RADIUS_M, /, *, of: type[SurgeCast] | type[Zigzag]
) -> SurgeCast | Zigzag:
    """Return a policy that reacts to readings and to the wind, which is one of the benchmark's unknowns."""
    del radius
    if model.prior.parameters[: len(PARAMETERS)] != PARAMETERS:
        names = ", ".join(parameter.name for parameter in model.prior.parameters)
        raise PolicyMismatch(f"the parameters of the benchmark; got {names}.")
    return of(clean_air(model.sensor), moves_of(actions))


def location_planner(
    model: Model, actions: ActionSpace, radius: float = RADIUS_M, /, *, depth: int = 1
) -> LocationPlanner:
    """Return the planner of sites, for the location within the radius [m], one or two readings ahead."""
    if depth == 1:
        return LocationPlanner(model, radius / RADIUS_95)
    if not isinstance(actions, NearAndFar | PlacesAtHeights):
        raise PolicyMismatch(
            "places near and far, and cannot go step by step: choose location-gain or infotaxis-2."
        )
    return LocationPlanner(model, radius / RADIUS_95, second_ways=actions)


POLICIES: dict[str, Constructor] = {
    "random": lambda model, actions, radius=RADIUS_M, /: Random(),
    "oracle-straight": lambda model, actions, radius=RADIUS_M, /: OracleStraight(),
    "oracle-circle": lambda model, actions, radius=RADIUS_M, /: OracleCircle(),
    "greedy": lambda model, actions, radius=RADIUS_M, /: Greedy(),
    "surge-cast": partial(reactive, of=SurgeCast),
    "zigzag": partial(reactive, of=Zigzag),
    **{name: partial(planner, utility=utility) for name, utility in UTILITIES.items()},
    "location-gain": location_planner,
    "infotaxis-2": partial(planner, utility=information_gain, depth=2),
    ORACLE: lambda model, actions, radius=RADIUS_M, /: OracleAround(2 * radius),
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
    guard (`pfrl-guarded`), or the path of a file of weights. Where the policy does not fit, the constructor
    raises a `PolicyMismatch` that has its name.
    """
    constructor = _constructor_of(name)

    def build(model: Model, actions: ActionSpace, radius: float = RADIUS_M, /) -> Policy | Oracle:
        try:
            return constructor(model, actions, radius)
        except PolicyMismatch as mismatch:
            raise PolicyMismatch(mismatch.needs, f"The policy {name!r}") from None

    return build


def _constructor_of(name: str) -> Constructor:
    """Return the constructor of a policy; a ValueError that lists the known names for an unknown one."""
    name = ALIASES.get(name, name)
    if name in POLICIES:
        return POLICIES[name]
    weights = weights_path(name)
    if weights is not None:
        return guarded_policy(weights) if name.endswith(GUARDED_SUFFIX) else trained_policy(weights)
    base, _, depth = name.rpartition("-")
    if base in UTILITIES and depth in map(str, DEPTHS):
        return partial(planner, utility=UTILITIES[base], depth=int(depth))
    if name == LOCATION_GAIN_2:
        return partial(location_planner, depth=2)
    raise ValueError(
        f"Unknown policy {name!r}; known are {', '.join(policy_names())}; planners also with "
        f"-{', -'.join(map(str, DEPTHS))} for the number of moves ahead (location-gain with -2), trained "
        f"policies also with {GUARDED_SUFFIX} to hand long searches to Infotaxis; or give a .safetensors "
        "file."
    )


def policy(
    name: str, field: str | None = None, *, model: Model | None = None, motion: ActionSpace = FOUR_MOVES
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
        The moves or other candidates to choose from.
    """
    if field is not None and model is not None:
        raise ValueError("Give a field of the benchmark or a model of your own, not both.")
    made = policy_named(name)(benchmark_model(field or "temperature") if model is None else model, motion)
    if isinstance(made, Oracle):
        raise ValueError(
            f"The policy {name!r} needs the true source: it can only be evaluated, not used in a search."
        )
    return made
