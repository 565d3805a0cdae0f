"""The table of the olfactory search: mean steps to find the source, with intervals."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import numpy as np

from dowsax.evaluate.statistics import bootstrap_interval
from dowsax.evaluate.tables import markdown
from dowsax.leaderboards.otto import CASES, Case
from dowsax.leaderboards.otto_network import shipped_policy
from dowsax.leaderboards.otto_policies import infotaxis, planner, space_aware
from dowsax.leaderboards.otto_search import Policy, search

_POLICIES: dict[str, tuple[str, Callable[[Case], Policy]]] = {
    "infotaxis": ("infotaxis", lambda case: infotaxis),
    "space-aware": ("space-aware infotaxis", lambda case: space_aware),
    "planner": ("planner", lambda case: planner),
    "network": ("network", shipped_policy),
}
"""By the word of the option: the name in the table, and the policy of a case."""
_BATCH = {"cpu": 256}
"""Searches side by side, by the kind of device."""
_LARGE_BATCH = 1600
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
    """Time of a search, compilation included, with the others of its batch beside it."""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def chosen(slugs: Sequence[str] | None, policies: Sequence[str] | None) -> tuple[list[Case], list[str]]:
    """Return the cases and the words of the policies with these names, or all; ValueError if unknown."""
    cases = {case.slug: case for case in CASES}
    for kind, names, known in (("case", slugs, cases), ("policy", policies, _POLICIES)):
        for name in names or ():
            if name not in known:
                raise ValueError(f"Unknown {kind} {name!r}; known are {', '.join(known)}.")
    return [cases[slug] for slug in slugs or cases], list(policies or _POLICIES)


def measure(
    cases: Sequence[Case],
    policies: Sequence[str],
    searches: int,
    seed: int,
    advance: Callable[[int], None] = lambda number: None,
) -> Iterator[Row]:
    """Yield a row for each case and policy; `advance` is called with how many searches have ended.

    A row does not depend on which others are asked for. Beliefs are in double precision, as costs of moves
    may differ by little.
    """
    for case in cases:
        for name in policies:
            with jax.enable_x64(True):
                yield _measure(case, name, searches, seed, advance)


def _measure(case: Case, name: str, searches: int, seed: int, advance: Callable[[int], None]) -> Row:
    title, build = _POLICIES[name]
    key, policy = jax.random.fold_in(jax.random.key(seed), CASES.index(case)), build(case)
    batch, begun = _BATCH.get(jax.default_backend(), _LARGE_BATCH), time.perf_counter()
    sizes = [min(batch, searches - first) for first in range(0, searches, batch)]
    parts = [
        search(jax.random.fold_in(key, number), case, policy, size, advance)
        for number, size in enumerate(sizes)
    ]
    means = np.concatenate([part.means for part in parts])
    return Row(
        case=case.name,
        policy=title,
        searches=searches,
        steps=float(means.mean()),
        steps_interval=bootstrap_interval(means),
        failed=float(np.concatenate([part.failed for part in parts]).mean()),
        milliseconds=1e3 * (time.perf_counter() - begun) / searches,
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
