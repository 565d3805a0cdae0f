"""Stop rules applied to recorded searches: at which reading would a rule have stopped the search?"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dowsax.evaluate.trace import Episode, Row
from dowsax.inference import Contraction, Credible, EntropyBelow, FixedSteps, MaxWeight
from dowsax.inference.stopping import StopRule

_CONDITIONS = {
    "contraction": lambda row, number, at: row.spread < at,
    "credible": lambda row, number, at: row.mass >= at,
    "entropy": lambda row, number, at: (row.entropy < at) & np.isfinite(row.spread),
    "max-weight": lambda row, number, at: row.max_weight > at,
    "fixed": lambda row, number, at: number >= at,
}
DEFAULTS = {
    "contraction": float(Contraction().threshold),
    "credible": float(Credible().probability),
    "entropy": float(EntropyBelow().threshold),
    "max-weight": float(MaxWeight().threshold),
    "fixed": float(FixedSteps().steps),
}
"""The default threshold of each rule."""
_WORDS = {
    "contraction": "the contraction rule, max(σx, σy) < {:g} m",
    "credible": "the credible rule, P(source within {radius:g} m of the mean) ≥ {:g}",
    "entropy": "entropy of the position < {:g} nats",
    "max-weight": "largest weight > {:g}",
    "fixed": "after {:g} readings",
}


@runtime_checkable
class EndRule(Protocol):
    """When the record of a search may end."""

    def is_met(self, rows: Any, numbers) -> np.ndarray:
        """Return whether the rule is met at each row; `numbers` are those of the readings, from 1."""
        ...


@dataclass(frozen=True)
class TraceRule:
    """A stop rule on the record of a search.

    contraction: max(σx, σy) < threshold [m]; credible: P(source within the success radius of its mean) ≥
    threshold; entropy of the position < threshold [nats]; max-weight > threshold; fixed: after a number of
    readings.
    """

    name: str
    threshold: float

    def __post_init__(self) -> None:
        if self.name not in _CONDITIONS:
            raise ValueError(f"Unknown stop rule {self.name!r}; known are {', '.join(_CONDITIONS)}.")

    def __str__(self) -> str:
        return f"{self.name}-{self.threshold:g}"

    def describe(self, radius: float) -> str:
        """Return the rule in words; `radius` [m] is that of a right stop."""
        return _WORDS[self.name].format(self.threshold, radius=radius)

    def is_met(self, rows: "Row", numbers) -> np.ndarray:
        """Return whether the rule is met at each row; `numbers` are those of the readings, from 1."""
        # The record is in single precision, so the threshold is rounded alike.
        return np.asarray(_CONDITIONS[self.name](rows, numbers, np.float32(self.threshold)))

    def first_stop(self, episode: "Episode") -> int | None:
        """Return the reading, from 1, at which the rule stops the search, or None.

        Never the first reading, and not the last one: a search that takes all its readings has run out.
        """
        numbers = np.arange(1, len(episode.rows.spread) + 1)
        is_met = self.is_met(episode.rows, numbers) & (numbers > 1) & (numbers < episode.max_readings)
        return int(np.argmax(is_met)) + 1 if is_met.any() else None


def trace_rule(rule: StopRule) -> TraceRule:
    """Return the rule of a search problem as one on records, which hold the mass within its radius."""
    match rule:
        case Contraction(columns=()):
            return TraceRule("contraction", float(rule.threshold))
        case Credible():
            return TraceRule("credible", float(rule.probability))
        case EntropyBelow():
            return TraceRule("entropy", float(rule.threshold))
        case MaxWeight():
            return TraceRule("max-weight", float(rule.threshold))
        case FixedSteps():
            return TraceRule("fixed", float(rule.steps))
    raise ValueError(
        f"The stop rule {type(rule).__name__} of the problem cannot be applied to records: choose one of "
        f"{', '.join(_CONDITIONS)}."
    )


ZETAS = (2.0, 1.5, 1.0, 0.75, 0.5, 0.4, 0.3)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
LADDER = (
    *(TraceRule("contraction", zeta) for zeta in ZETAS),
    *(TraceRule("credible", level) for level in LEVELS),
)
"""The rules of a recorded search: the record goes on until the strictest is met."""
