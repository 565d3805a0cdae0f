"""Recompute a few random cells of published tables with other searches, and say whether they agree."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import fisher_exact

from dowsax.evaluate.metrics import Estimate
from dowsax.experiments.run import Run
from dowsax.experiments.suites import searches, stopping
from dowsax.experiments.suites.measures import Line
from dowsax.experiments.suites.report import lines_in
from dowsax.experiments.suites.suite import Entry, Reproduction, Suite, search_lines

SUITES = (
    searches.ID,
    searches.OOD,
    searches.SHIFT,
    searches.PRIORS,
    searches.MIXING,
    stopping.ROBUSTNESS,
)
"""The suites whose lines each come from searches of their own."""
NUM_CELLS = 10
MEASURES = ("OCE", "false stops")
"""The shares that are compared."""
CONFIDENCE = 0.95
"""Probability that all comparisons agree if every published number is right."""


class Cell(NamedTuple):
    """A published line, and the entry that it is made of."""

    suite: Suite
    published: Line
    entry: Entry

    @property
    def name(self) -> str:
        line = self.published
        return f"{self.suite.name}: {line.row}, {line.column}, {line.filter}, {line.stop}, seed {line.seed}"


class Comparison(NamedTuple):
    """A published share and the recomputed one."""

    measure: str
    published: Estimate
    recomputed: Estimate
    p_value: float
    """Of Fisher's exact test; 1 if there is nothing to compare."""


def choose_cells(published: Path, paper: Reproduction, number: int, seed: int) -> list[Cell]:
    """Draw cells from the tables in a folder, each at most once."""
    known = list(_cells(published, paper))
    if not known:
        raise ValueError(f"{published} has no tables: give --earlier a folder such as results/paper.")
    drawn = np.random.default_rng(seed).choice(len(known), size=min(number, len(known)), replace=False)
    return [known[at] for at in drawn]


def runs_of_cells(cells: Sequence[Cell]) -> list[Run]:
    """The runs of all cells, each once."""
    return list(dict.fromkeys(run for cell in cells for run in cell.entry.runs))


def compare(paper: Reproduction, cell: Cell) -> list[Comparison]:
    """Compare a cell with the recomputed searches; a ValueError if these are missing."""
    lines = [line for line in search_lines(paper, cell.entry) if line.stop == cell.published.stop]
    if not lines:
        raise ValueError(f"The searches of {cell.name} are missing: the same command goes on.")
    pairs = [(name, cell.published.numbers[name], lines[0].numbers[name]) for name in MEASURES]
    return [Comparison(*pair, p_value(*pair[1:])) for pair in pairs]


def p_value(first: Estimate, second: Estimate) -> float:
    """Return the p-value of Fisher's exact test that two shares are equal."""
    if first.value is None or second.value is None:
        return 1.0
    hits = [round(share.value * share.n) for share in (first, second) if share.value is not None]
    table = [[hit, share.n - hit] for hit, share in zip(hits, (first, second), strict=True)]
    _, p_value = fisher_exact(table)
    return float(np.asarray(p_value))


def least_p_value(num_comparisons: int) -> float:
    """Return the p-value below which a comparison disagrees, corrected for their number (Bonferroni)."""
    return (1 - CONFIDENCE) / max(num_comparisons, 1)


def _cells(published: Path, paper: Reproduction) -> Iterator[Cell]:
    for suite in SUITES:
        entries = {(entry.row, entry.column, entry.preset): entry for entry in suite.entries(paper)}
        for line in lines_in(published / suite.name):
            entry = entries.get((line.row, line.column, line.filter))
            if entry is not None:
                yield Cell(suite, line, entry)
