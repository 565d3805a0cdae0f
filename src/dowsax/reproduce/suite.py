"""What a suite is: the runs it needs, and the table and figures that are made of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dowsax.reproduce.cells import Cell
from dowsax.reproduce.lines import MEASURES, Line
from dowsax.reproduce.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Figures = Callable[[Store, Sequence[Line]], "dict[str, Figure]"]


def no_figures(store: Store, lines: Sequence[Line]) -> "dict[str, Figure]":
    """None of its own: the picture is one of the table."""
    del store, lines
    return {}


@dataclass(frozen=True)
class Suite:
    """A table or figure of the paper."""

    name: str
    title: str
    label: str
    """Of the table or figure in the paper's source."""
    cells: Callable[[Store], Sequence[Cell]]
    lines: Callable[[Store], list[Line]]
    """From the cells that are there."""
    measures: tuple[str, ...]
    across: Literal["columns", "measures"] = "measures"
    """What the columns of the table are: those of the paper with a table a measure, or the measures."""
    note: str = ""
    """What one has to know to read it."""
    figures: Figures = no_figures

    def __post_init__(self) -> None:
        for measure in self.measures:
            if measure not in MEASURES:
                raise ValueError(f"Unknown measure {measure!r} in the suite {self.name}.")
            # A rate of stops says nothing without how many of them are wrong.
            if measure.startswith("OCE") and measure.replace("OCE", "false stops") not in self.measures:
                raise ValueError(f"The suite {self.name} shows {measure} without its false stops.")


def cells_of(
    suites: Iterable[Suite], store: Store, fields: Sequence[str] = (), policies: Sequence[str] = ()
) -> list[Cell]:
    """The cells of the suites, each once, of these fields and policies or of all."""
    wanted = dict.fromkeys(cell for suite in suites for cell in suite.cells(store))
    return [
        cell
        for cell in wanted
        if (not fields or cell.field in fields) and (not policies or cell.policy in policies)
    ]


def folder_of(store: Store, suite: Suite) -> Path:
    """Where its table and pictures are written."""
    return store.folder / suite.name
