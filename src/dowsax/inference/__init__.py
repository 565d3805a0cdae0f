"""Inference: the belief over the source, the filter that updates it, and stop rules."""

from dowsax.inference.attention import AttentionConfig
from dowsax.inference.belief import Belief, History, with_horizon
from dowsax.inference.budget import KLDBudget
from dowsax.inference.config import FilterConfig
from dowsax.inference.filter import Filter, FilterInfo, Stage, build
from dowsax.inference.posterior import Posterior
from dowsax.inference.presets import DEFAULT, PAPER, PRESETS, Preset
from dowsax.inference.proposals import AttentionLangevin, DifferentialEvolution, RandomWalk
from dowsax.inference.resampling import multinomial, residual, stratified, systematic
from dowsax.inference.stopping import Contraction, Credible, EntropyBelow, FixedSteps, MaxWeight

__all__ = [
    "DEFAULT",
    "PAPER",
    "PRESETS",
    "AttentionConfig",
    "AttentionLangevin",
    "Belief",
    "Contraction",
    "Credible",
    "DifferentialEvolution",
    "EntropyBelow",
    "Filter",
    "FilterConfig",
    "FilterInfo",
    "FixedSteps",
    "History",
    "KLDBudget",
    "MaxWeight",
    "Posterior",
    "Preset",
    "RandomWalk",
    "Stage",
    "build",
    "multinomial",
    "residual",
    "stratified",
    "systematic",
    "with_horizon",
]
