"""The filters of experiments: the presets, and variants of two of them with one thing changed."""

from dataclasses import replace

from dowsax.inference import DEFAULT, PAPER, PRESETS, FilterConfig, Preset
from dowsax.inference.proposals import DifferentialEvolution

RHOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
"""ρ of uniform mixing, as in the paper."""


def change(preset: Preset, **choices) -> Preset:
    """The preset with other choices of its filter."""
    return replace(preset, config=replace(preset.config, **choices))


def mixing(preset: str, rho: float) -> str:
    """The name of the filter with uniform mixing instead of attention."""
    bare = {"paper": "paper-no-attention", "default": "default"}[preset]
    return bare if rho == 0 else f"{preset}-mixing-{rho:g}"


_BARE = change(PAPER, attention=None)

VARIANTS: dict[str, Preset] = {
    "paper-no-attention": _BARE,
    "paper-no-moves": change(PAPER, num_moves=0, max_moves=0),
    "paper-bare": change(_BARE, num_moves=0, max_moves=0),
    # Far more work than any other filter, so that its spread can serve as the reference.
    "reference": Preset(
        FilterConfig(num_particles=16384, num_moves=60, max_moves=60), (DifferentialEvolution(),)
    ),
    **{mixing("paper", rho): change(_BARE, mixing=rho) for rho in RHOS[1:]},
    **{mixing("default", rho): change(DEFAULT, mixing=rho) for rho in RHOS[1:]},
}
"""The filters of the suites."""


def known_presets() -> dict[str, Preset]:
    """All filters by name."""
    return PRESETS | VARIANTS
