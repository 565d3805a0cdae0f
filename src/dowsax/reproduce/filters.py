"""The filters of the suites: the two presets, and both with one thing changed."""

from dataclasses import replace

from dowsax.inference import DEFAULT, PAPER, AttentionConfig, FilterConfig, Preset
from dowsax.inference.presets import PLAIN
from dowsax.inference.projection import PROJECTION
from dowsax.inference.proposals import DifferentialEvolution

RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""ρ of uniform mixing, as in the paper."""


def changed(preset: Preset, **choices) -> Preset:
    """The preset with other choices of its filter."""
    return replace(preset, config=replace(preset.config, **choices))


def mixing(preset: str, rho: float) -> str:
    """The name of the filter with uniform mixing in the place of attention."""
    bare = {"paper": "paper-no-attention", "default": "default"}[preset]
    return bare if rho == 0 else f"{preset}-mixing-{rho:g}"


_BARE = changed(PAPER, attention=None)

FILTERS: dict[str, Preset] = {
    "paper": PAPER,
    "default": DEFAULT,
    "plain": PLAIN,
    "paper-no-attention": _BARE,
    "paper-no-moves": changed(PAPER, num_moves=0, max_moves=0),
    "paper-bare": changed(_BARE, num_moves=0, max_moves=0),
    "default-attention": replace(changed(DEFAULT, attention=AttentionConfig()), projection=PROJECTION),
    # Far more work than anything else here, so that what it says of the spread can be believed.
    "reference": Preset(
        FilterConfig(num_particles=16384, num_moves=60, max_moves=60), (DifferentialEvolution(),)
    ),
    **{mixing("paper", rho): changed(_BARE, mixing=rho) for rho in RHOS[1:]},
    **{mixing("default", rho): changed(DEFAULT, mixing=rho) for rho in RHOS[1:]},
}
