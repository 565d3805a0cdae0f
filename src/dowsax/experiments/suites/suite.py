"""What a suite is: the runs it needs, and the table and figures that are made of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dowsax.evaluate.stops import TraceRule
from dowsax.evaluate.trace import Episode
from dowsax.experiments.run import CONTRACTION, CREDIBLE, Run
from dowsax.experiments.store import AnyRun, Store
from dowsax.experiments.suites.measures import MEASURES, Line, numbers_of
from dowsax.experiments.walks import WalkRun, Walks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WHOLE = (("att-pfrl", "temperature", "id", "paper"), ("att-pfrl", "temperature", "id", "default"))
"""Policy, field, scenario and preset of the runs on which rules that may never stop a search are compared."""


@dataclass(frozen=True)
class Reproduction:
    """The sizes that all suites share, and the store with their results."""

    store: Store
    num_episodes: int = 1000
    """Searches of each run."""
    seed: int = 0
    particles: int | None = None
    """Default: as in each preset."""
    max_readings: int = 200
    weights: Mapping[str, str] = field(default_factory=dict)
    """Files of the policies that are not known by name."""
    earlier: Sequence[Line] = ()
    """Lines of a table that was written before, for runs that the store does not have."""

    def run(self, policy: str, field: str, scenario: str = "id", preset: str = "default") -> Run:
        """The run of a policy."""
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
            weights=self.weights.get(policy, ""),
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


def search_lines(paper: Reproduction, entry: Entry) -> list[Line]:
    """A line for each rule, from the searches of all runs together.

    If a run is missing, the lines of an earlier table.
    """
    row, column, _ = entry
    episodes = paper.all_episodes(entry.runs)
    if episodes is None:
        place = row, column, entry.preset
        return [line for line in paper.earlier if (line.row, line.column, line.filter) == place]
    return [
        Line(row, column, entry.preset, str(rule), numbers_of(episodes, rule))
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
        own = (run for entry in self.entries(paper) for run in entry.runs)
        return list(dict.fromkeys([*own, *self.other_runs(paper)]))

    def lines(self, paper: Reproduction) -> list[Line]:
        """The lines of the table, from the runs that are complete."""
        return [line for entry in self.entries(paper) for line in self.make_lines(paper, entry)]

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
