"""What a suite is: the runs it needs, and the table and figures that are made of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.store import AnyRun, Store
from dowsax.experiments.suites.measures import MEASURES, Line, numbers_of
from dowsax.experiments.walks import WalkRun, Walks
from dowsax.policies.shipped import trained_seeds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SYSTEMS = {"paper": "att-pfrl-paper", "default": "pfrl"}
"""The paper's own system, and ours: the policy of each filter."""
WHOLE = tuple((policy, "temperature", "id", preset) for preset, policy in SYSTEMS.items())
"""Policy, field, scenario and preset of the runs on which rules that may never stop a search are compared."""


@dataclass(frozen=True)
class Reproduction:
    """The sizes that all suites share, and the store with their results."""

    store: Store
    num_episodes: int = 1000
    """Searches of each run, divided among the training seeds of a policy."""
    seeds: tuple[int, ...] = (0,)
    """Each gives other sources and noise, and lines of its own."""
    particles: int | None = None
    """Default: as in each preset."""
    max_readings: int = 200
    earlier: Sequence[Line] = ()
    """Lines of a table that was written before, for runs that the store does not have."""

    @property
    def seed(self) -> int:
        """The seed, of a reproduction that has one."""
        (seed,) = self.seeds
        return seed

    def by_seed(self) -> "list[Reproduction]":
        """A reproduction for each seed."""
        return [replace(self, seeds=(seed,)) for seed in self.seeds]

    def run(self, policy: str, field: str, scenario: str = "id", preset: str = "default") -> Run:
        """The run of a policy, with all its training seeds in turn."""
        members = trained_seeds(policy)
        return Run(
            policy,
            field,
            scenario,
            preset,
            self.num_episodes,
            self.seed,
            self.particles,
            self.max_readings,
            to_the_end=(policy, field, scenario, preset) in WHOLE,
            detail="compact",
            members=() if members == (policy,) else members,
        )

    def walk_run(self, preset: str) -> WalkRun:
        """The run of a filter on random walks."""
        return WalkRun(preset, episodes=self.num_episodes, seed=self.seed, particles=self.particles)

    def all_episodes(self, runs: Sequence[Run]) -> list[Episode] | None:
        """The searches of several runs together; `None` if one is missing."""
        parts = [self.store.episodes(run) for run in runs]
        known = [part for part in parts if part is not None]
        return [episode for part in known for episode in part] if len(known) == len(parts) else None

    def walks(self, run: WalkRun) -> Walks | None:
        """The walks of a run; `None` if it is missing."""
        arrays = self.store.read(run)
        return None if arrays is None else Walks(**arrays)


class Entry(NamedTuple):
    """A row and column of a table, and the runs that its numbers are made of, which have one filter."""

    row: str
    column: str
    runs: Sequence[Any]
    """All `Run` or all `WalkRun`."""

    @property
    def preset(self) -> str:
        return self.runs[0].preset


def rules_for(preset: str) -> tuple[TraceRule, ...]:
    """The paper's rule, and ours for filters whose probabilities are calibrated."""
    return (CONTRACTION, CREDIBLE) if preset.startswith("default") else (CONTRACTION,)


def turns_of(runs: Sequence[Run]) -> np.ndarray:
    """The number of the policy of each search, of all runs together."""
    return np.concatenate([np.arange(run.episodes) % len(run.searchers) for run in runs])


def search_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """A line for each rule, from the searches of all runs together.

    If a run is missing, the lines of an earlier table.
    """
    row, column, _ = entry
    episodes = paper.all_episodes(entry.runs)
    if episodes is None:
        place = row, column, entry.preset, paper.seed
        return [one for one in paper.earlier if (one.row, one.column, one.filter, one.seed) == place]
    turns = turns_of(entry.runs)
    return [
        Line(row, column, entry.preset, str(rule), numbers_of(episodes, rule, turns), paper.seed)
        for rule in rules_for(entry.preset)
    ]


Figures = Callable[[Reproduction, Sequence[Line]], "dict[str, Figure]"]


def no_figures(paper: Reproduction, lines: Sequence[Line]) -> "dict[str, Figure]":
    """No figures except the one of the table."""
    del paper, lines
    return {}


@dataclass(frozen=True)
class Suite:
    """A table or figure of the paper."""

    name: str
    title: str
    label: str
    """Of the table or figure in the paper's source."""
    entries: Callable[[Reproduction], Sequence[Entry]]
    measures: tuple[str, ...]
    across: Literal["columns", "measures"] = "measures"
    """The columns of the table: those of the paper, with a table for each measure, or the measures."""
    make_lines: Callable[[Reproduction, Entry], Sequence[Line]] = search_lines
    """The lines of an entry; none if its runs are missing."""
    figures: Figures = no_figures
    other_runs: Callable[[Reproduction], Sequence[AnyRun]] = lambda paper: ()
    """Runs that lines or figures need and no entry has."""

    def runs(self, paper: Reproduction) -> list[AnyRun]:
        """All runs, each once."""
        found = []
        for one in paper.by_seed():
            found += [run for entry in self.entries(one) for run in entry.runs]
            found += self.other_runs(one)
        return list(dict.fromkeys(found))

    def lines(self, paper: Reproduction) -> list[Line]:
        """The lines of the table, from the runs that are complete."""
        return [
            line
            for one in paper.by_seed()
            for entry in self.entries(one)
            for line in self.make_lines(one, entry)
        ]

    def __post_init__(self) -> None:
        for measure in self.measures:
            if measure not in MEASURES:
                raise ValueError(f"Unknown measure {measure!r} in the suite {self.name}.")
            # A rate of stops says nothing without how many of them are wrong.
            if measure.startswith("OCE") and measure.replace("OCE", "false stops") not in self.measures:
                raise ValueError(f"The suite {self.name} shows {measure} without its false stops.")


def runs_of(
    suites: Iterable[Suite], paper: Reproduction, fields: Sequence[str] = (), policies: Sequence[str] = ()
) -> list[AnyRun]:
    """The runs of the suites, each once, of these fields and policies or of all."""
    wanted = dict.fromkeys(run for suite in suites for run in suite.runs(paper))
    return [
        run
        for run in wanted
        if (not fields or run.field in fields) and (not policies or run.policy in policies)
    ]
