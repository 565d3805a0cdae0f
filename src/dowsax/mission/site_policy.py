"""The policy of a site, and the places among which it chooses."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dowsax.envs import MAX_READINGS
from dowsax.inference import Belief, History
from dowsax.inference.summaries import promising_places
from dowsax.mission.reach import Reach
from dowsax.mission.stations import to_float32
from dowsax.policies import Oracle, Policy, policy_named
from dowsax.policies.catalogue import LOCATION_GAIN_2, UTILITIES
from dowsax.policies.inner_planner import scores_candidates, with_planned, with_planner
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.lookahead import Lookahead
from dowsax.policies.planned import PlannedReadings, keep_apart
from dowsax.policies.shipped import BEST_POLICY, CANDIDATES, field_of, weights_path
from dowsax.policies.simple import OracleAround
from dowsax.policies.stops_on_way import StopsOnWay
from dowsax.policies.stored import card_of
from dowsax.programs import stored_jit
from dowsax.site.area import ListedPath
from dowsax.types import Key, Scalar, Station
from dowsax.world import (
    FOUR_MOVES,
    ActionSpace,
    Budget,
    Candidates,
    FencedMoves,
    Model,
    NearAndFar,
    PlacesAtHeights,
    PlumePrior,
)
from dowsax.world.heights import candidates_from
from dowsax.world.trails import height_of

SITE_POLICY = "location-gain"
"""The default at sites: chooses among places near and far."""
PATH_POLICIES = (SITE_POLICY, *(name for name in UTILITIES if name != "space-aware"), "greedy", "random")
"""Those that can choose among paths."""
_LEG_RADII, _LEG_SHARE = 4.0, 1 / 16
"""Legs of a far way are at least this many radii of the stop rule, and this share of the area's diagonal."""


class Choice(NamedTuple):
    """A place to read next."""

    position: tuple[float, float]
    """[m]"""
    gain: float | None = None
    """[nats], what a reading there should tell of the location; `None` where the policy does not say."""
    path: ListedPath | None = None
    """To read along; its first end is the position."""
    bends: tuple[tuple[float, float], ...] = ()
    """[m], the corners of the way there; none where it is straight."""
    height: float | None = None
    """[m] above ground; `None` where all readings are at the height of the sensor."""
    aim: tuple[float, float] | None = None
    """[m], the far place on the way to which the position is; `None` where it is none."""


@dataclass(frozen=True)
class SitePolicy:
    """A policy, and the actions among which it chooses."""

    name: str
    model: Model
    reach: Reach
    policy: Policy | Oracle
    """An oracle only in rehearsals: a mission does not know the source."""
    actions: ActionSpace
    apart: float = 0.0
    """[m], how far from the places of other searchers a place must be, where there is any such."""

    @property
    def stops(self) -> StopsOnWay | None:
        """The stops on far ways, of a searcher of a team; `None` where it may not stop anywhere.

        A sensor that reads while it moves needs none.
        """
        reach, actions = self.reach, self.actions
        may_stop = isinstance(actions, NearAndFar) and actions.points is None
        if not may_stop or isinstance(self.policy, Oracle) or reach.reading_interval is not None:
            return None
        # Twice `apart` is the radius of the stop rule.
        legs = 2 * _LEG_RADII * self.apart, _LEG_SHARE * math.dist(*reach.area), reach.shortest or 0.0
        return StopsOnWay(max(legs), reach.speed, reach.reading_time, self.apart)

    def stop_on_way(
        self, choice: Choice, here: tuple[float, float], budget: Budget, others: Sequence[tuple[float, float]]
    ) -> Choice:
        """Return the first stop on the way to a far place, else the choice.

        `others` are the next places of the others [m].
        """
        way = None if self.stops is None else self.reach.bounds.way(here, choice.position)
        if self.stops is None or way is None:
            return choice
        stop = self.stops.first_on(way, budget, others)
        if stop is None:
            return choice
        bends = self.reach.bends(here, stop)
        # The gain is that of the aim, not of the stop.
        return choice._replace(position=stop, gain=None, bends=bends, aim=choice.position)

    def of_reach(self, reach: Reach, radius: float) -> "SitePolicy":
        """Return the same policy for a searcher with a reach of its own; `radius` [m] is that of the stop."""
        if reach is self.reach:
            return self
        if reach.paths:
            return replace(self, reach=reach, actions=reach.open_paths())
        if isinstance(self.policy, Oracle):
            reach = replace(reach, levels=())
        is_near_and_far = isinstance(self.actions, NearAndFar | PlacesAtHeights)
        _require_one_height(self.name, reach, is_near_and_far=is_near_and_far)
        actions = reach.near_and_far(radius) if is_near_and_far else reach.moves()
        policy = self.policy
        if isinstance(policy, LocationPlanner) and policy.second_ways is not None:
            policy = replace(policy, second_ways=actions)
        return replace(self, reach=reach, policy=_with_ways(policy, reach, actions), actions=actions)

    def choose(
        self,
        key: Key,
        belief: Belief,
        station: Station,
        here: tuple[float, float],
        budget: Budget,
        planned: PlannedReadings | None = None,
    ) -> Choice | None:
        """Choose where to read after this station; `None` where no place can be reached.

        `planned` are the readings that other searchers are about to take.
        """
        assert not isinstance(self.policy, Oracle)
        station = eqx.tree_at(lambda at: at.position, station, to_float32(here))
        found = _candidates(self.actions, belief, station, budget)
        positions = np.asarray(found.places, np.float64)
        mask = np.array(found.mask)
        heights = None if found.altitudes is None else np.asarray(found.altitudes, np.float64)
        # Once more in double precision: nobody may be sent where they must not be.
        if heights is not None:
            start = float(height_of(station))
            mask[mask] = self.reach.allow_heights(here, start, positions[mask], heights[mask])
        elif not self.reach.paths:
            mask[mask] = self.reach.allow_ways(here, positions[mask])
        if not mask.any():
            return None
        found = found._replace(mask=jnp.asarray(mask))
        number, gain = _choose(self.policy, key, belief, station, found, budget, planned, self.apart)
        gain = float(gain) if np.isfinite(gain) else None
        if self.reach.paths:
            path = self.reach.paths[int(number)]
            return Choice(path.ends[0], gain, path)
        x, y = positions[int(number)]
        place = float(x), float(y)
        if heights is None:
            return Choice(place, gain, bends=self.reach.bends(here, place))
        height = min(self.reach.heights, key=lambda listed: abs(listed - heights[int(number)]))
        flown = self.reach.at(float(height_of(station)), height)
        return Choice(place, gain, bends=flown.bends(here, place), height=height)


def build_site_policy(
    model: Model, reach: Reach, policy: str | Policy | None = None, radius: float = 1.0
) -> SitePolicy:
    """Return a policy or that of a name, for a site (default: the best for this model and these steps).

    The best is the trained policy where it was trained for the field and its moves are the site's, else the
    planner of sites. `radius` [m] is that of the stop rule.
    """
    if reach.paths:
        return _build_path_policy(model, reach, SITE_POLICY if policy is None else policy, radius)
    return replace(_build_place_policy(model, reach, policy, radius), apart=radius / 2)


def _build_place_policy(model: Model, reach: Reach, policy: str | Policy | None, radius: float) -> SitePolicy:
    """Return a policy that goes from place to place."""
    if policy is None:
        policy = BEST_POLICY if _is_benchmark(model, reach) else SITE_POLICY
    if not isinstance(policy, str):
        _require_one_height(type(policy).__name__, reach)
        return SitePolicy(type(policy).__name__, model, reach, policy, reach.moves())
    if policy in (SITE_POLICY, LOCATION_GAIN_2):
        actions = reach.near_and_far(radius)
        planner = policy_named(policy)(model, actions, radius)
        assert isinstance(planner, LocationPlanner)
        return SitePolicy(policy, model, reach, _with_ways(planner, reach, actions), actions)
    if policy in UTILITIES:
        if policy == "space-aware" and reach.area != (FOUR_MOVES.low, FOUR_MOVES.high):
            raise ValueError(
                "The policy 'space-aware' counts cells of the benchmark's square: choose location-gain."
            )
        _require_one_height(policy, reach, is_near_and_far=bool(reach.points))
        actions = reach.near_and_far(radius) if reach.points else reach.moves()
        return SitePolicy(policy, model, reach, Lookahead(model, UTILITIES[policy]), actions)
    with warnings.catch_warnings():
        # The caller chose the policy by name: no warning about the field it was trained for.
        warnings.simplefilter("ignore")
        weights = weights_path(policy)
        scores_places = weights is not None and card_of(weights).encoder == CANDIDATES
        _require_one_height(policy, reach)
        actions = reach.near_and_far(radius) if scores_places else reach.moves()
        made = policy_named(policy)(model, actions, radius)
    if isinstance(made, Oracle):
        raise ValueError(
            f"The policy {policy!r} needs the true source: choose another, such as {SITE_POLICY}."
        )
    return SitePolicy(policy, model, reach, _with_ways(made, reach, actions), actions)


def _build_path_policy(model: Model, reach: Reach, policy: str | Policy, radius: float) -> SitePolicy:
    """Return a policy that chooses among the listed paths."""
    actions = reach.open_paths()
    if not isinstance(policy, str):
        return SitePolicy(type(policy).__name__, model, reach, policy, actions)
    if policy not in PATH_POLICIES:
        raise ValueError(
            f"The policy {policy!r} goes from place to place, and a path is read from where it stands: "
            f"choose {', '.join(PATH_POLICIES)}."
        )
    made = policy_named(policy)(model, actions, radius)
    assert not isinstance(made, Oracle)
    return SitePolicy(policy, model, reach, made, actions)


def _with_ways(policy: Any, reach: Reach, actions: NearAndFar | PlacesAtHeights | FencedMoves) -> Any:
    """Return the policy; its planner knows the readings on its ways, and what these go around."""
    if scores_candidates(policy):
        return with_planner(policy, _with_ways(policy.encoder.planner, reach, actions))
    if not isinstance(policy, LocationPlanner):
        return policy
    fence = actions.fences if isinstance(actions, PlacesAtHeights) else actions.fence
    return replace(policy, way_readings=reach.way_readings, fence=fence)


def _require_one_height(name: str, reach: Reach, *, is_near_and_far: bool = False) -> None:
    """Raise a ValueError where places are at several heights, and a policy chooses among steps."""
    if reach.levels and not is_near_and_far:
        raise ValueError(
            f"The policy {name!r} reads at one height: choose {SITE_POLICY}, or leave `heights` out of the "
            "site file."
        )


def oracle_policy(model: Model, reach: Reach, radius: float) -> SitePolicy:
    """Return the oracle of a site, which knows the source and goes there.

    It shows what reading around the source finds, at the height of the sensor; other places can tell more.
    """
    reach = replace(reach, levels=())
    actions = reach.open_paths() if reach.paths else reach.near_and_far(radius)
    return SitePolicy("oracle", model, reach, OracleAround(2 * radius), actions)


def _is_benchmark(model: Model, reach: Reach) -> bool:
    """Whether field, parameters, area and moves are those the policy was trained with."""
    return field_of(model) is not None and isinstance(model.prior, PlumePrior) and reach.is_benchmark


@stored_jit
def _candidates(actions: ActionSpace, belief: Belief, station: Station, budget: Budget) -> Candidates:
    return candidates_from(actions, station, budget, promising_places(belief))


@stored_jit
def _choose(
    policy: Policy,
    key: Key,
    belief: Belief,
    station: Station,
    candidates: Candidates,
    budget: Budget,
    planned: PlannedReadings | None,
    apart: Scalar,
) -> tuple[Int[Array, ""], Float[Array, ""]]:
    """Return the number of a candidate, and the gain of a reading there; NaN where it is not known."""
    belief = latest(belief, MAX_READINGS)
    policy, candidates = with_planned(policy, planned), keep_apart(candidates, planned, apart)
    if isinstance(policy, LocationPlanner):
        return policy.choose(key, belief, station, candidates, budget)
    return policy(key, belief, station, candidates, budget), jnp.full((), jnp.nan)


def latest(belief: Belief, most: int) -> Belief:
    """Return the belief with at most the newest `most` readings in its history, and room for no more.

    Policies were trained with histories of that length, and the cost of a lookup grows with the capacity.
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
