"""Recompute a few random cells of published tables with other searches, and say whether they agree."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import fisher_exact, norm, t

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
SHARES, PATH = ("OCE", "false stops"), "ADE"
"""The measures that are compared: shares of searches, and the mean path to a stop."""
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
    """A published number and the recomputed one."""

    measure: str
    published: Estimate
    recomputed: Estimate
    p_value: float
    """Of Fisher's exact test for shares, of the t-test for paths; 1 if there is nothing to compare."""


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
        raise ValueError(
            f"The searches of {cell.name} are missing: the same command with --seed {paper.seed} goes on."
        )
    tests = dict.fromkeys(SHARES, share_p_value) | {PATH: mean_p_value}
    pairs = {name: (cell.published.numbers[name], lines[0].numbers[name]) for name in tests}
    return [Comparison(name, *pair, tests[name](*pair)) for name, pair in pairs.items()]


def share_p_value(first: Estimate, second: Estimate) -> float:
    """Return the p-value of Fisher's exact test that two shares are equal."""
    if first.value is None or second.value is None:
        return 1.0
    hits = [round(share.value * share.n) for share in (first, second) if share.value is not None]
    table = [[hit, share.n - hit] for hit, share in zip(hits, (first, second), strict=True)]
    _, p_value = fisher_exact(table)
    return float(np.asarray(p_value))


def mean_p_value(first: Estimate, second: Estimate) -> float:
    """Return the p-value of the t-test that two means are equal; their 95 % intervals give the variance.

    Paths are skewed, and one mean may be of few searches. A rare long path may be in either sample alone, so
    the error is the larger of Student's, of the pooled variance, and Welch's. The degrees of freedom are
    those of the smaller sample. Both make the test say "differs" less readily.
    """
    if first.value is None or second.value is None or min(first.n, second.n) < 2:
        return 1.0
    freedoms = (first.n - 1, second.n - 1)
    numbers, variances = np.array([first.n, second.n]), np.array([_variance(first), _variance(second)])
    pooled = np.average(variances, weights=freedoms) * np.sum(1 / numbers)
    error = np.sqrt(max(pooled, np.sum(variances / numbers)))
    difference = abs(first.value - second.value)
    if error == 0:
        return float(difference == 0)
    return float(2 * t.sf(difference / error, min(freedoms)))


def _variance(mean: Estimate) -> float:
    """Return the variance of a single search from the bootstrap interval of the mean of `n`."""
    assert mean.low is not None
    assert mean.high is not None
    error = (mean.high - mean.low) / (2 * float(norm.ppf(0.975)))
    # The bootstrap draws from the sample, whose variance is (n - 1) / n of the unbiased one.
    return error**2 * mean.n**2 / (mean.n - 1)


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
