"""Stop rules asked after the event: when would this rule, with this threshold, have ended that search?"""

from dataclasses import dataclass

import numpy as np

from dowsax.evaluate.trace import Row
from dowsax.inference import Contraction, Credible, EntropyBelow, FixedSteps, MaxWeight

_SPEAKS = {
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
"""The rules, each with the threshold it has unless another is given."""


@dataclass(frozen=True)
class TraceRule:
    """A rule on what was recorded of a search.

    contraction: max(σx, σy) < threshold [m]; credible: P(source within 1 m of its mean) ≥ threshold; entropy
    of the position < threshold [nats]; max-weight > threshold; fixed: after that many readings.
    """

    name: str
    threshold: float

    def __post_init__(self) -> None:
        if self.name not in _SPEAKS:
            raise ValueError(f"Unknown stop rule {self.name!r}; known are {', '.join(_SPEAKS)}.")

    def __str__(self) -> str:
        return f"{self.name}-{self.threshold:g}"

    def speaks(self, rows: "Row", numbers) -> np.ndarray:
        """Whether it speaks at each row; `numbers` are those of the readings, from 1."""
        # The searches are kept in single precision, and so the threshold is compared.
        return np.asarray(_SPEAKS[self.name](rows, numbers, np.float32(self.threshold)))

    def first(self, rows: "Row") -> int | None:
        """The reading at which it stops, counted from 1, or none. No rule is asked at the start."""
        numbers = np.arange(1, len(rows.spread) + 1)
        speaks = self.speaks(rows, numbers) & (numbers > 1)
        return int(np.argmax(speaks)) + 1 if speaks.any() else None


ZETAS = (2.0, 1.5, 1.0, 0.75, 0.5, 0.4, 0.3)
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99)
LADDER = (
    *(TraceRule("contraction", zeta) for zeta in ZETAS),
    *(TraceRule("credible", level) for level in LEVELS),
)
"""The rules a run can be asked about afterwards: it goes on until the strictest has spoken."""
