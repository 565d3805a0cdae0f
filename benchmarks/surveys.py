"""Fixed surveys with reference posteriors, and how far a weighted sample is from them.

The references are `<gold>/<set>/<field>.npz` with positions, readings, theta, mean and std, one row a case.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

GOLD = Path(__file__).resolve().parents[2] / "shared" / "gold"
"""Beside the checkout, unless told otherwise."""
SETS = ("survey", "approach")
INTERVAL = (0.05, 0.95)
LOCALISED = 1.0
"""[m]: a case is localised when the reference standard deviation is below this on both axes."""


class Case(NamedTuple):
    """One survey, its true source and the reference posterior's moments, all in the columns of Θ."""

    group: str
    """Which set of surveys it belongs to."""
    field: str
    number: int
    positions: np.ndarray
    readings: np.ndarray
    theta: np.ndarray
    mean: np.ndarray
    std: np.ndarray


class Score(NamedTuple):
    """One result against its reference; location coordinates only."""

    gap: float
    """|mean − reference mean| / reference std, the larger of the two axes."""
    std_ratio: np.ndarray
    """(2,): std / reference std, for x and for y."""
    covered: np.ndarray
    """(2,): whether the central 90 % interval holds the true x, the true y."""
    localised: bool


class Summary(NamedTuple):
    """Many scores as one row of a table. Ratios and coverage pool both axes; NaN when there is no case."""

    num_cases: int
    gap_median: float
    gap_p90: float
    std_ratio_median: float
    std_ratio_p10: float
    coverage: float
    localised_gap_median: float
    localised_gap_p90: float


def missing(gold: Path) -> str | None:
    """One line that says that the references are not there, or `None`."""
    if gold.is_dir():
        return None
    return f"No reference posteriors in {gold}: nothing to compare with. Say where they are with --gold."


def load(
    gold: Path, fields: Iterable[str], sets: Sequence[str] = SETS, num_cases: int | None = None
) -> Iterator[Case]:
    """The first `num_cases` cases of every field and set; all of them by default."""
    for field in fields:
        for group in sets:
            with np.load(gold / group / f"{field}.npz") as stored:
                arrays = [stored[name] for name in ("positions", "readings", "theta", "mean", "std")]
            for number, row in enumerate(zip(*arrays, strict=True)):
                if num_cases is None or number < num_cases:
                    yield Case(group, field, number, *(part.astype(float) for part in row))


def moments(samples: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of each column."""
    weights = weights / weights.sum()
    mean = weights @ samples
    return mean, np.sqrt(weights @ (samples - mean) ** 2)


def quantiles(values: np.ndarray, weights: np.ndarray, levels: Sequence[float]) -> np.ndarray:
    """The smallest values at which the weighted distribution function reaches the levels."""
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order]) / weights.sum()
    return values[order][np.minimum(np.searchsorted(cumulative, levels), len(values) - 1)]


def score(case: Case, samples: np.ndarray, weights: np.ndarray) -> Score:
    """Hold a weighted sample, columns of Θ with x and y first, against the case's reference."""
    samples, weights = np.asarray(samples, float), np.asarray(weights, float)
    mean, std = moments(samples[:, :2], weights)
    gap = np.abs(mean - case.mean[:2]) / case.std[:2]
    bounds = np.stack([quantiles(samples[:, axis], weights, INTERVAL) for axis in (0, 1)])
    covered = (bounds[:, 0] <= case.theta[:2]) & (case.theta[:2] <= bounds[:, 1])
    return Score(float(gap.max()), std / case.std[:2], covered, bool((case.std[:2] < LOCALISED).all()))


def _quantile(values: Sequence[float] | np.ndarray, level: float) -> float:
    return float(np.quantile(values, level)) if len(values) else float("nan")


def summarise(scores: Sequence[Score]) -> Summary:
    """Medians and tails over cases."""
    gaps = [one.gap for one in scores]
    localised = [one.gap for one in scores if one.localised]
    ratios = np.concatenate([one.std_ratio for one in scores]) if scores else np.empty(0)
    return Summary(
        num_cases=len(scores),
        gap_median=_quantile(gaps, 0.5),
        gap_p90=_quantile(gaps, 0.9),
        std_ratio_median=_quantile(ratios, 0.5),
        std_ratio_p10=_quantile(ratios, 0.1),
        coverage=float(np.mean([one.covered for one in scores])) if scores else float("nan"),
        localised_gap_median=_quantile(localised, 0.5),
        localised_gap_p90=_quantile(localised, 0.9),
    )


def summarise_by_field(cases: Sequence[Case], scores: Sequence[Score]) -> dict[str, Summary]:
    """One summary a field, in order of appearance, and `overall` last."""
    fields = dict.fromkeys(case.field for case in cases)
    pairs = list(zip(cases, scores, strict=True))
    by_field = {field: summarise([one for case, one in pairs if case.field == field]) for field in fields}
    return {**by_field, "overall": summarise(scores)}
