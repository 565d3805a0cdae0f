"""Presets: Algorithm 1 of the paper as printed, the best calibrated filter per second, and others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dowsax.inference.attention import AttentionConfig
from dowsax.inference.config import FilterConfig
from dowsax.inference.filter import Filter, build
from dowsax.inference.projection import PROJECTION, SUFFIX, projection_for
from dowsax.inference.proposals import DifferentialEvolution, Proposal, RandomWalk, SourceEvolution
from dowsax.inference.strata import StratifiedFilter
from dowsax.world import Identity, Model, SeveralSources, source_columns


@dataclass(frozen=True)
class Preset:
    """The choices of a filter, without its model."""

    config: FilterConfig
    proposals: tuple[Proposal, ...]
    natural: bool = False
    """Move particles in Θ itself instead of the prior's coordinates."""
    follows_jumps: bool = True
    """Use the transition of a source that may jump; otherwise the filter ignores jumps."""
    projection: str | None = None
    """Trained projection of the attention, by name or path; default: standardised features."""

    @property
    def reads_own_file(self) -> bool:
        """Whether it is built from a file of the user, and not from what ships with dowsax."""
        return self.projection is not None and self.projection.endswith(SUFFIX)

    def with_particles(self, num_particles: int) -> "Preset":
        return replace(self, config=replace(self.config, num_particles=num_particles))

    def with_horizon(self, horizon: int) -> "Preset":
        return replace(self, config=replace(self.config, horizon=horizon))

    def with_ranks(self) -> "Preset":
        return replace(self, config=replace(self.config, keep_ranks=True))

    def build(self, model: Model, **parts: Any) -> Filter:
        """Build the filter of this preset for a model; `parts` as in `filter.build`."""
        if self.natural:
            parts.setdefault("coordinates", Identity())
        if self.projection is not None:
            parts.setdefault("project", projection_for(self.projection, len(model.prior.parameters)))
        proposals, columns = self.proposals, source_columns(model.prior)
        if columns is None:
            return build(model, self.config, proposals=proposals, **parts)
        assert isinstance(model.prior, SeveralSources)
        if proposals:
            proposals = (SourceEvolution(model.prior.source_rows),)
        if not model.by_number:
            return build(model, self.config, proposals=proposals, **parts)
        without_ranks = replace(self, config=replace(self.config, keep_ranks=False))
        filters = [without_ranks.build(each, **parts) for each in model.by_number]
        horizon, keep_ranks = self.config.horizon, self.config.keep_ranks
        return StratifiedFilter.build(model, filters, horizon, keep_ranks).as_filter()


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

PAPER_LEARNED = replace(PAPER, projection=PROJECTION)

# Chosen by `python -m benchmarks.preset_study`; the table is in docs/results/presets.md.
DEFAULT = Preset(
    FilterConfig(num_particles=2048, ess_ratio=0.5, num_moves=12, max_moves=12),
    proposals=(DifferentialEvolution(),),
)
# Chosen by `python -m benchmarks.two_sources`: of several sources, fewer particles that move farther are more
# exact in the same time.
SEVERAL = replace(DEFAULT, config=replace(DEFAULT.config, num_particles=1024, num_moves=12, max_moves=48))
# Attention where it does least harm: before resampling, so that the moves remove its bias.
DEFAULT_ATTENTION = replace(
    DEFAULT, config=replace(DEFAULT.config, attention=AttentionConfig()), projection=PROJECTION
)

# For fields with more unknowns than the benchmark's seven: fewer particles, which move until they have
# forgotten their start, as far as the time allows.
SURVEY = Preset(
    FilterConfig(num_particles=1024, ess_ratio=0.5, num_moves=12, max_moves=400, max_terms=2.4e6),
    proposals=(DifferentialEvolution(),),
)

# For training: an eighth of the particles and two thirds of the moves. Its cost in accuracy is measured in
# docs/results/learning.md.
TRAINING = Preset(
    FilterConfig(num_particles=256, ess_ratio=0.5, num_moves=8, max_moves=8),
    proposals=(DifferentialEvolution(),),
)
TRAINING_ATTENTION = replace(
    TRAINING, config=replace(TRAINING.config, attention=AttentionConfig()), projection=PROJECTION
)

# The filter of the AGDC baselines: weights and resampling only.
PLAIN = Preset(
    FilterConfig(num_particles=1024, ess_ratio=0.5, temper=False, num_moves=0, max_moves=0), proposals=()
)

PRESETS = {
    "default": DEFAULT,
    "paper": PAPER,
    "default-attention": DEFAULT_ATTENTION,
    "paper-learned": PAPER_LEARNED,
    "survey": SURVEY,
    "several": SEVERAL,
    "training": TRAINING,
    "training-attention": TRAINING_ATTENTION,
    "plain": PLAIN,
}


def default_preset(numbers: Sequence[int]) -> str:
    """Return the name of the preset for benchmark fields with these numbers of sources."""
    return "default" if tuple(numbers) == (1,) else "several"
