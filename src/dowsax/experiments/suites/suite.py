"""What a suite is: the runs it needs, and the table and figures that are made of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dowsax.evaluate.trace import Episode
from dowsax.experiments.run import Run
from dowsax.experiments.store import AnyRun, Store
from dowsax.experiments.suites.measures import MEASURES, Line
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

    def episodes(self, run: Run) -> list[Episode] | None:
        """The searches of a run; `None` if it is missing."""
        return self.store.episodes(run)

    def walks(self, run: WalkRun) -> Walks | None:
        """The walks of a run; `None` if it is missing."""
        arrays = self.store.read(run)
        return None if arrays is None else Walks(**arrays)


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
    runs: Callable[[Reproduction], Sequence[AnyRun]]
    lines: Callable[[Reproduction], list[Line]]
    """From the runs that are complete."""
    measures: tuple[str, ...]
    across: Literal["columns", "measures"] = "measures"
    """The columns of the table: those of the paper, with a table for each measure, or the measures."""
    figures: Figures = no_figures

    def __post_init__(self) -> None:
        for measure in self.measures:
            if measure not in MEASURES:
                raise ValueError(f"Unknown measure {measure!r} in the suite {self.name}.")
            # A rate of stops says nothing without how many of them are wrong.
            if measure.startswith("OCE") and measure.replace("OCE", "false stops") not in self.measures:
                raise ValueError(f"The suite {self.name} shows {measure} without its false stops.")


def runs_of(
    suites: Iterable[Suite],
    paper: Reproduction,
    fields: Sequence[str] = (),
    policies: Sequence[str] = (),
) -> list[AnyRun]:
    """The runs of the suites, each once, of these fields and policies or of all."""
    wanted = dict.fromkeys(run for suite in suites for run in suite.runs(paper))
    return [
        run
        for run in wanted
        if (not fields or run.field in fields) and (not policies or run.policy in policies)
    ]
