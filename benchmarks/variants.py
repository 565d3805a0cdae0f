"""The filters of the preset study: from Algorithm 1 as printed to the default, one change at a time."""

from dataclasses import replace

from dowsax.inference import (
    DEFAULT,
    PAPER,
    AttentionConfig,
    AttentionLangevin,
    DifferentialEvolution,
    FilterConfig,
    Preset,
    RandomWalk,
)

WALK = (RandomWalk(),)
EVOLUTION = (DifferentialEvolution(),)
REFERENCE = Preset(FilterConfig(num_particles=16384, num_moves=60, max_moves=60), EVOLUTION)


def tempered(num_moves: int, proposals=EVOLUTION, **changes) -> Preset:
    """Tempered steps of 1,024 particles with a fixed number of moves, not straightened, unless changed."""
    config = {
        "num_particles": 1024,
        "num_moves": num_moves,
        "max_moves": num_moves,
        "straighten": False,
    } | changes
    return Preset(FilterConfig(**config), proposals)


VARIANTS: dict[str, Preset] = {
    "paper": PAPER,
    "paper, no attention": replace(PAPER, config=replace(PAPER.config, attention=None)),
    "paper, no attention, 8 moves": replace(
        PAPER, config=replace(PAPER.config, attention=None, num_moves=8, max_moves=8)
    ),
    "own coordinates, walk, 8 moves, no tempering": tempered(8, WALK, temper=False),
    "natural coordinates, walk, 8 moves": replace(tempered(8, WALK), natural=True),
    "own coordinates, walk, 8 moves": tempered(8, WALK),
    "evolution, 8 moves": tempered(8),
    "evolution, 8 moves, no tempering": tempered(8, temper=False),
    "evolution and walk, 8 moves": tempered(8, EVOLUTION + WALK),
    "evolution and attention-Langevin, 8 moves": tempered(8, (*EVOLUTION, AttentionLangevin())),
    "evolution, 8 moves, attention first": tempered(8, attention=AttentionConfig()),
    "evolution, 8 moves, attention after": tempered(8, attention=AttentionConfig(), smooth_first=False),
    "evolution, 8 moves, 2,048 particles": tempered(8, num_particles=2048),
    "evolution, 4 moves, 4,096 particles": tempered(4, num_particles=4096),
    "evolution, 12 moves, 2,048 particles": tempered(12, num_particles=2048),
    "evolution, 16 moves": tempered(16),
    "evolution, 16 moves, ESS 0.3": tempered(16, ess_ratio=0.3),
    "evolution, 16 moves, ESS 0.7": tempered(16, ess_ratio=0.7),
    "evolution, 32 moves, 512 particles": tempered(32, num_particles=512),
    "evolution, 32 moves": tempered(32),
    "evolution, 8 to 32 moves, memory 0.5": tempered(8, max_moves=32, forgetting=0.5),
    "straightened, 8 moves, 2,048 particles": tempered(8, num_particles=2048, straighten=True),
    "straightened, 16 moves": tempered(16, straighten=True),
    "default": DEFAULT,
}
