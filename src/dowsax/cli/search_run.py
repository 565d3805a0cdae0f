"""One search, reading by reading, by the programs of the evaluation: with the same seed both do the same."""

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import numpy as np

from dowsax.envs import SUCCESS_RADIUS_M, SearchState
from dowsax.evaluate.episodes import PROGRAMS, compile_programs
from dowsax.evaluate.search_steps import as_arrays
from dowsax.evaluate.trace import Row
from dowsax.evaluate.trace import row as record
from dowsax.experiments.run import Run, episode_keys, require_known
from dowsax.inference import Belief
from dowsax.inference.posterior import Posterior, Trace
from dowsax.types import Key
from dowsax.viz.search_snapshots import Snapshot, normalise_weights, radius_about, thin_points
from dowsax.world import MODALITIES, Parameter, benchmark_model, take_position

STOPPED, SPENT, LOST, INTERRUPTED = "stopped", "readings-ran-out", "no-particle-left", "interrupted"
"""How a search may end."""


@dataclass(frozen=True)
class SearchConfig:
    """One search of a run: that of one policy on one field with this number."""

    run: Run
    episode: int = 0
    """From 0."""

    def __post_init__(self) -> None:
        require_known([self.run])
        if not 0 <= self.episode < 2**32:
            raise ValueError(f"An episode is a whole number from 0 to {2**32 - 1}; got {self.episode}.")

    @property
    def unit(self) -> str:
        """Of the readings; empty where the benchmark leaves it open."""
        return MODALITIES[self.run.field].unit

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Of Θ."""
        return benchmark_model(self.run.field).prior.parameters

    @property
    def num_particles(self) -> int:
        return self.run.filter.config.num_particles

    @property
    def key(self) -> Key:
        """The key of the same episode of `dowsax evaluate`."""
        return episode_keys(self.run.seed, self.run.field, np.array([self.episode]))[0]

    def to_dict(self) -> dict:
        """The settings by name."""
        run = self.run
        return {
            "policy": run.policy,
            "field": run.field,
            "scenario": run.scenario,
            "seed": run.seed,
            "episode": self.episode,
            "preset": run.preset,
            "particles": self.num_particles,
            "max_readings": run.max_readings,
            "stop": run.rule.name,
            "threshold": run.rule.threshold,
        }


@dataclass
class SearchLog:
    """What has happened in a search so far."""

    config: SearchConfig
    theta: np.ndarray
    """Θ at the start."""
    final_theta: np.ndarray
    """Θ at the newest reading: another where the scenario moves the source."""
    belief: Belief
    """After the newest reading."""
    steps: list[tuple[Snapshot, Row]] = field(default_factory=list)
    """One a reading. In pairs, so that an interruption cannot come between the two."""
    ending: str | None = None

    @property
    def snapshots(self) -> list[Snapshot]:
        return [snapshot for snapshot, _ in self.steps]

    @property
    def rows(self) -> list[Row]:
        return [row for _, row in self.steps]

    @property
    def final_position(self) -> np.ndarray:
        """[m], of the source at the end."""
        return take_position(self.final_theta, self.belief.position_columns)

    @property
    def error(self) -> float:
        """[m], from the mean position to the true one."""
        return float(self.steps[-1][1].error)

    @property
    def right(self) -> bool:
        return self.steps[-1][0].has_particles and self.error < SUCCESS_RADIUS_M

    def posterior(self) -> Posterior:
        """The final belief as the answer of a survey. Whether the model fits is not asked: `fit` is NaN."""
        snapshots = self.snapshots
        none = np.full(len(snapshots), np.nan)
        trace = Trace(
            mean=np.stack([snapshot.mean for snapshot in snapshots]),
            std=np.stack([snapshot.std for snapshot in snapshots]),
            credible_radius=np.array([snapshot.radius for snapshot in snapshots]),
            ess=np.array([snapshot.ess for snapshot in snapshots]),
            stages=none,
            acceptance_rate=none,
            evaluations=none,
        )
        return Posterior(
            parameters=self.config.parameters,
            samples=np.asarray(self.belief.particles, np.float64),
            weights=normalise_weights(np.asarray(self.belief.log_weights)),
            places=np.stack([snapshot.position for snapshot in snapshots]).astype(np.float64),
            readings=np.array([snapshot.reading for snapshot in snapshots]),
            log_evidence=np.asarray(self.belief.log_evidence, np.float64),
            fit=np.array(np.nan),
            trace=trace,
            position_columns=self.belief.position_columns,
        )


class Searcher:
    """A compiled search, so that its readings come without delay."""

    def __init__(self, config: SearchConfig) -> None:
        self.config, self.key = config, config.key
        search, (policy,) = config.run.build()
        self.search, self.policy = as_arrays(search), as_arrays(policy)
        compile_programs(PROGRAMS, self.search, self.policy, self.key)

    def run(self, watch: Callable[[SearchLog], None]) -> SearchLog:
        """Take readings until the stop rule holds or the budget is spent; call `watch` after each.

        An interruption ends the search and keeps its log.
        """
        state = PROGRAMS.prepare(self.search, self.key)
        log = SearchLog(self.config, np.asarray(state.theta), np.asarray(state.theta), state.belief)
        try:
            while log.ending is None:
                state = self._step(log, state)
                log.ending = self._ending(log)
                watch(log)
        except KeyboardInterrupt:
            log.ending = INTERRUPTED
        return log

    def _step(self, log: SearchLog, state: SearchState) -> SearchState:
        target = state.station.target
        if log.steps:
            target = PROGRAMS.decide(self.search, self.policy, self.key, state)
        state, newest, _ = PROGRAMS.read(self.search, record, self.key, state, target)
        row = jax.tree.map(np.asarray, newest)
        log.final_theta, log.belief = np.asarray(state.theta), state.belief
        log.steps.append((snapshot_of(len(log.steps) + 1, row, state.belief), row))
        return state

    def _ending(self, log: SearchLog) -> str | None:
        """Return how the search ended, or `None`; no rule holds at the first reading."""
        number, (snapshot, row) = len(log.steps), log.steps[-1]
        if number > 1 and bool(self.config.run.rule.is_met(row, number)):
            return STOPPED
        if not snapshot.has_particles:
            return LOST
        return SPENT if number >= self.config.run.max_readings else None


def snapshot_of(number: int, row: Row, belief: Belief) -> Snapshot:
    """Return what a view may show of one reading, without the truth."""
    particles, weights = np.asarray(belief.particles), normalise_weights(np.asarray(belief.log_weights))
    centre, mean = weights @ particles, np.asarray(row.mean)
    positions = np.asarray(belief.positions)
    points, thin = thin_points(positions, weights)
    return Snapshot(
        number,
        position=np.asarray(row.position),
        reading=float(row.reading),
        path_length=float(row.path_length),
        mean=mean,
        std=np.sqrt(weights @ (particles - centre[None, :]) ** 2),
        spread=float(row.spread),
        mass=float(row.mass),
        radius=radius_about(mean, positions, weights),
        ess=float(row.ess),
        points=points,
        weights=thin,
    )
