"""The table of the olfactory search: mean steps to find the source, with intervals."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dowsax.evaluate.statistics import bootstrap_interval
from dowsax.evaluate.tables import markdown
from dowsax.leaderboards.otto import CASES, Case, Policy, search
from dowsax.leaderboards.otto_policies import infotaxis, space_aware

POLICIES: dict[str, Policy] = {"infotaxis": infotaxis, "space-aware infotaxis": space_aware}
_BATCH = 100
"""Searches side by side."""
_HEADINGS = ("case", "policy", "searches", "steps to find", "failed", "ms")


@dataclass(frozen=True)
class Row:
    """One policy in one case."""

    case: str
    policy: str
    searches: int
    steps: float
    """Mean over searches, and its 95 % interval."""
    steps_interval: tuple[float, float]
    failed: float
    """The share of searches that went to and fro, or took too long."""
    milliseconds: float
    """CPU time of a search."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(searches: int, seed: int, advance: Callable[[int], None] = lambda number: None) -> Iterator[Row]:
    """Yield a row for each case and policy; `advance` is called with how many searches have ended."""
    for number, case in enumerate(CASES):
        for name, policy in POLICIES.items():
            yield _measure(case, name, policy, searches, [seed, number], advance)


def _measure(
    case: Case,
    name: str,
    policy: Policy,
    searches: int,
    seed: Sequence[int],
    advance: Callable[[int], None],
) -> Row:
    generator, begun = np.random.default_rng(seed), time.process_time()
    sizes = [min(_BATCH, searches - first) for first in range(0, searches, _BATCH)]
    parts = [search(case, policy, size, generator, advance) for size in sizes]
    means = np.concatenate([part.means for part in parts])
    return Row(
        case=case.name,
        policy=name,
        searches=searches,
        steps=float(means.mean()),
        steps_interval=bootstrap_interval(means),
        failed=float(np.concatenate([part.failed for part in parts]).mean()),
        milliseconds=1e3 * (time.process_time() - begun) / searches,
    )


def table(rows: Sequence[Row]) -> str:
    """Return the rows as Markdown."""
    cells = [
        (
            row.case,
            row.policy,
            str(row.searches),
            f"{row.steps:.2f} [{row.steps_interval[0]:.2f}, {row.steps_interval[1]:.2f}]",
            f"{row.failed:.4f}",
            f"{row.milliseconds:.0f}",
        )
        for row in rows
    ]
    return "\n".join(markdown(_HEADINGS, cells))
