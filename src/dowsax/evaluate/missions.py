"""Rehearsals: simulated missions of a site, to measure how often its stops are right.

The source is drawn from the prior of the site. The advisor of real missions, with its filter, stop rule,
policy, budget and start, gets simulated readings at the places that it advises. A rehearsal cannot find out
whether the site file is right.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.envs import SearchProblem, SearchState, error
from dowsax.evaluate.episodes import run_episodes
from dowsax.evaluate.statistics import wilson_interval
from dowsax.evaluate.team_episodes import SimulatedSearcher, run_team_episodes
from dowsax.evaluate.trace import Episode
from dowsax.inference import FilterInfo
from dowsax.inference.excess_noise import UsualNoise, has_excess_noise
from dowsax.inference.fit import model_fit
from dowsax.inference.live_redundancy import live_redundancy
from dowsax.inference.posterior import MIN_FIT
from dowsax.inference.summaries import credible_radius, location_spread, mass_within, mean_position
from dowsax.inference.widening import Widening
from dowsax.mission.advice import FOUND, INCONCLUSIVE, SEARCHING
from dowsax.mission.decision import MIN_ODDS
from dowsax.mission.plan import Plan
from dowsax.mission.problem import MAX_SIMULATED_READINGS, build_problem
from dowsax.mission.rehearsal import Rate, Rehearsal, SimulatedMission, fingerprint
from dowsax.mission.site_policy import SitePolicy
from dowsax.mission.tracker import REGION_PROBABILITY
from dowsax.version import versions
from dowsax.world import Model, take_position

Progress = Callable[[int], None]


@dataclass(frozen=True)
class RehearsalConfig:
    """The settings of rehearsals."""

    missions: int = 200
    without_source: float = 0.2
    """Share of missions without a source."""
    seed: int = 0
    max_readings: int = MAX_SIMULATED_READINGS
    """A mission ends after this many readings at the latest."""

    def __post_init__(self) -> None:
        if self.missions < 1:
            raise ValueError(f"`missions` must be at least 1; got {self.missions}.")
        if not 0 <= self.without_source <= 1:
            raise ValueError(f"`without_source` must be a share from 0 to 1; got {self.without_source:g}.")
        if self.max_readings < 1:
            raise ValueError(f"`max_readings` must be at least 1; got {self.max_readings}.")

    def with_source_only(self) -> "RehearsalConfig":
        """Return the settings of the same missions with a source, and none without."""
        return replace(self, missions=self.num_present, without_source=0.0)

    @property
    def num_present(self) -> int:
        """Number of missions with a source."""
        return self.missions - round(self.without_source * self.missions)


class MissionRow(NamedTuple):
    """What is recorded of a reading of a simulated mission."""

    place: Float[Array, "*batch 2"]
    """[m], of the reading; of a path, its middle."""
    reading: Float[Array, "*batch"]
    path_length: Float[Array, "*batch"]
    """[m]"""
    elapsed: Float[Array, "*batch"]
    """[s]"""
    mean: Float[Array, "*batch 2"]
    """[m], the mean position of the source."""
    error: Float[Array, "*batch"]
    """[m], from the mean to the true position."""
    spread: Float[Array, "*batch"]
    """[m], max(σx, σy)."""
    radius: Float[Array, "*batch"]
    """[m], of the disc about the mean that holds 95 %."""
    found: Bool[Array, "*batch"]
    settled: Bool[Array, "*batch"]
    """Found, or the readings are far likelier without a source."""
    over: Bool[Array, "*batch"]
    """Settled, or none can follow."""
    searcher: Int[Array, "*batch"]
    """The number of the searcher that took the reading; 0 where there is one."""


class MissionRecorder(eqx.Module):
    """Records a reading, with the status that an advisor would give."""

    radius: float
    """[m], of the stop rule."""
    probability: float
    widening: Widening
    usual_noise: tuple[UsualNoise, ...] = eqx.field(static=True, default=())
    """Of the inferred noise: with far more, nothing is found."""

    def __call__(self, search: SearchProblem, state: SearchState, info: FilterInfo) -> MissionRow:
        fits = model_fit(search.model, state.belief) >= MIN_FIT
        fits = fits & ~has_excess_noise(self.usual_noise, state.belief)
        belief = self.widening(state.belief, live_redundancy(search.model, state.belief))
        state = replace(state, belief=belief)
        assert state.null is not None
        evidence = belief.log_evidence - state.null.log_evidence
        is_sure = mass_within(belief, self.radius) >= self.probability
        is_shown, is_excluded = evidence >= math.log(MIN_ODDS), evidence <= -math.log(MIN_ODDS)
        found = is_sure & fits & is_shown & info.explained
        return MissionRow(
            state.station.place,
            state.reading,
            state.path_length,
            state.elapsed,
            mean_position(belief),
            error(state),
            location_spread(belief),
            credible_radius(belief, REGION_PROBABILITY),
            found,
            found | is_excluded,
            found | is_excluded | search.is_over(state),
            jnp.zeros((), jnp.int32) if state.station.searcher is None else state.station.searcher,
        )


class MissionEnd:
    """The rule that ends a simulated mission."""

    def is_met(self, rows: MissionRow, numbers) -> np.ndarray:
        """Return whether the mission is over at each row."""
        del numbers
        return np.asarray(rows.over)


class Simulated(NamedTuple):
    """A rehearsal, and the paths (readings, 2) [m] of the searchers in each of its missions."""

    rehearsal: Rehearsal
    paths: tuple[tuple[np.ndarray, ...], ...]


def rehearse(
    plan: Plan,
    config: RehearsalConfig,
    policy: SitePolicy | None = None,
    *,
    truth: Model | None = None,
    on_progress: Progress = lambda ended: None,
    threads: int | None = None,
) -> Simulated:
    """Simulate missions of a site. The same seed gives the same sources and winds for every policy.

    Parameters
    ----------
    policy
        Default: the best policy for the site.
    truth
        The model that readings are drawn from, with the same unknowns as the site's, to find out what a wrong
        site file leads to. Default: the site's.
    on_progress
        Called with the number of missions that have just ended; first with 0, when all is compiled.
    threads
        Missions at a time on a CPU. Default: the number of cores.
    """
    policy = plan.site_policy() if policy is None else policy
    # The first missions are the same, however many there are.
    keys = jax.vmap(lambda number: jax.random.fold_in(jax.random.key(config.seed), number))(
        jnp.arange(config.missions)
    )
    rule = plan.radius, plan.probability, Widening.of(plan.model.prior), plan.usual_noise
    record = MissionRecorder(*rule)
    present = np.arange(config.missions) < config.num_present
    progress = {"on_progress": on_progress, "threads": threads, "record": record, "present": present}
    settings = {"truth": truth, "max_readings": config.max_readings}
    if plan.searchers:
        episodes = run_team_episodes(_team(plan, policy, **settings), keys, **progress)
    else:
        problem = build_problem(plan, policy, **settings)
        episodes = run_episodes(problem, policy.policy, keys, (MissionEnd(),), **progress)
    ended = [
        _result(plan, episode, present=bool(there)) for episode, there in zip(episodes, present, strict=True)
    ]
    paths = [_paths(cast(MissionRow, episode.rows)) for episode in episodes]
    return Simulated(summarise_missions(plan, policy, config, ended), tuple(paths))


def _team(plan: Plan, policy: SitePolicy, **settings: Any) -> list[SimulatedSearcher]:
    """Return the searchers of a plan, each with the problem of what it can reach."""
    searchers, has_others = [], len(plan.searchers) > 1
    for name, searcher in plan.searchers.items():
        own = policy.of_reach(searcher.reach, plan.radius)
        problem = build_problem(plan.for_searcher(name), own, **settings)
        searchers.append(SimulatedSearcher(problem, own.policy, own.apart, own.stops if has_others else None))
    # One belief has one history, with room for the readings of all; each budget limits its own. Where nothing
    # else differs, one program serves all.
    room = {
        name: sum(getattr(searcher.problem, name) for searcher in searchers)
        for name in ("max_readings", "max_on_way")
    }
    return [one._replace(problem=replace(one.problem, **room)) for one in searchers]


def _result(plan: Plan, episode: Episode, *, present: bool) -> SimulatedMission:
    rows, last = cast(MissionRow, episode.rows), -1
    source = _pair(take_position(episode.final_theta, plan.model.position_columns)) if present else None
    is_over = bool(rows.over[last]) or len(rows.over) >= episode.max_readings
    return SimulatedMission(
        status=FOUND if rows.found[last] else INCONCLUSIVE if is_over else SEARCHING,
        source=source,
        estimate=_pair(rows.mean[last]),
        error=float(rows.error[last]) if present else None,
        region=float(rows.radius[last]),
        readings=len(rows.over),
        distance=float(rows.path_length[last]),
        time=float(rows.elapsed[last]),
    )


def _paths(rows: MissionRow) -> tuple[np.ndarray, ...]:
    """Return the path (readings, 2) [m] of each searcher that has read."""
    places, numbers = np.asarray(rows.place), np.asarray(rows.searcher)
    return tuple(places[numbers == number] for number in np.unique(numbers))


def _pair(values) -> tuple[float, float]:
    first, second = values
    return float(first), float(second)


def summarise_missions(
    plan: Plan, policy: SitePolicy, config: RehearsalConfig, missions: Sequence[SimulatedMission]
) -> Rehearsal:
    """Summarise the missions."""
    present = [one for one in missions if one.source is not None]
    absent = [one for one in missions if one.source is None]
    stops = [one for one in present if one.found]
    return Rehearsal(
        site=fingerprint(plan.text),
        name=plan.name,
        policy=policy.name,
        preset=plan.filter_name,
        version=versions()["dowsax"],
        seed=config.seed,
        speed=plan.reach.speed,
        radius=plan.radius,
        probability=plan.probability,
        assumed=tuple(assumptions(plan)),
        stopped=rate([one.found for one in present]),
        false_stops=rate([one.wrong(plan.radius) for one in stops]),
        covered=rate([one.covered for one in present]),
        cannot_tell=rate([one.status == INCONCLUSIVE for one in present]),
        found_nothing=rate([one.found for one in absent]),
        missions=tuple(missions),
        searchers=max(len(plan.searchers), 1),
    )


def assumptions(plan: Plan) -> list[str]:
    """Return the assumptions beyond the site file, one sentence each."""
    sentences, sensor = [], plan.stations.sensor
    if "wind" in plan.stations.names:
        sentences.append("The measured wind is steady in each mission, and drawn as where it is unknown.")
        sentences.append("That the wind was given the wrong way round is not checked.")
    if len(sensor.names) > 1:
        sentences.append(f"All readings are those of the sensor {sensor.names[0]}.")
    if sensor.redundancy is not None and sensor.redundancy > 1:
        sentences.append(
            f"Simulated readings err one by one, though {sensor.redundancy:g} of the site's count as one: "
            "where real ones err together, more stops are wrong."
        )
    if plan.reach.reading_interval is not None:
        interval = f"{plan.reach.reading_interval:g} s"
        sentences.append(f"On the way there is a reading every {interval}, beyond those of the budget.")
    if plan.jump is not None:
        sentences.append(f"The source moves with a probability of {plan.jump.hazard:g} at each reading.")
    return sentences


def rate(cases: Sequence[bool]) -> Rate:
    """Return the rate of true cases, with Wilson's 95 % interval."""
    low, high = wilson_interval(sum(cases), len(cases))
    return Rate(sum(cases), len(cases), low, high)
