"""The two named filters: Algorithm 1 of the paper as printed, and the best calibrated one per second."""

from dataclasses import dataclass, replace
from typing import Any

from dowsax.inference.attention import AttentionConfig
from dowsax.inference.config import FilterConfig
from dowsax.inference.filter import Filter, build
from dowsax.inference.proposals import DifferentialEvolution, Proposal, RandomWalk
from dowsax.world import Identity, Model


@dataclass(frozen=True)
class Preset:
    """A filter but for its model."""

    config: FilterConfig
    proposals: tuple[Proposal, ...]
    natural: bool = False
    """Move in Θ as it is, not in the prior's coordinates."""
    follows_jumps: bool = True
    """Take part in a search for a source that may jump by reckoning with jumps."""

    def with_particles(self, num_particles: int) -> "Preset":
        return replace(self, config=replace(self.config, num_particles=num_particles))

    def with_horizon(self, horizon: int) -> "Preset":
        return replace(self, config=replace(self.config, horizon=horizon))

    def build(self, model: Model, **parts: Any) -> Filter:
        """The filter of this preset; `parts` as in `filter.build`."""
        if self.natural:
            parts.setdefault("coordinates", Identity())
        return build(model, self.config, proposals=self.proposals, **parts)


PAPER = Preset(
    FilterConfig(
        num_particles=500,
        ess_ratio=0.6,
        temper=False,
        num_moves=1,
        max_moves=1,
        attention=AttentionConfig(epsilon=0.2, num_neighbours=16),
        smooth_first=False,
    ),
    proposals=(RandomWalk(scales=(1.0, 1.0)),),
    natural=True,
    follows_jumps=False,
)

# Chosen by `python -m benchmarks.preset_study`; the table is in docs/preset-study.md.
DEFAULT = Preset(
    FilterConfig(num_particles=2048, ess_ratio=0.5, num_moves=12, max_moves=12),
    proposals=(DifferentialEvolution(),),
)

PRESETS = {"default": DEFAULT, "paper": PAPER}
