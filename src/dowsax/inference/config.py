"""The static choices of a filter."""

from dataclasses import dataclass

from dowsax.inference.attention import AttentionConfig


@dataclass(frozen=True)
class FilterConfig:
    """Static choices: changing any of these recompiles."""

    num_particles: int = 1024
    horizon: int = 200
    """Maximal number of readings; default: the benchmark's, which are 199 moves and the reading at the start.
    """
    ess_ratio: float = 0.5
    """η: resample when ESS < η·n. With `temper`, a reading that would leave less is assimilated in parts."""
    temper: bool = True
    """Assimilate a reading that would collapse the weights in parts, with moves in between."""
    max_stages: int = 64
    """Maximal number of parts. A reading that needs more cannot be explained by the model."""
    num_moves: int = 8
    """Metropolis–Hastings moves of each particle after resampling."""
    max_moves: int = 8
    """Maximal number of moves: particles move beyond `num_moves` until they have forgotten their start."""
    max_terms: float | None = None
    """Maximal number of likelihood terms of a reading, for moves beyond `num_moves`; `None`: no limit."""
    forgetting: float = 0.3
    """Start and present positions of forgotten starts correlate by less than this, in every coordinate."""
    straighten: bool = True
    """Move in coordinates that follow the readings, where the field allows it (`straightening`)."""
    attention: AttentionConfig | None = None
    smooth_first: bool = True
    """Smooth before resampling, so that moves remove the bias; the paper does after it, at every reading."""
    keep_ranks: bool = False
    """Keep the one-step-ahead rank of each reading (`ranks`), for the check whether the model fits."""
    mixing: float = 0.0
    """ρ of uniform mixing, the control for attention, at the same point of the algorithm."""

    def __post_init__(self) -> None:
        if self.num_particles < 16:
            raise ValueError(
                f"The number of particles (`num_particles`) must be at least 16; got {self.num_particles}."
            )
        if self.horizon < 1 or self.max_stages < 1:
            raise ValueError("`horizon` and `max_stages` must be at least 1.")
        if not 0 < self.ess_ratio <= 1:
            raise ValueError(
                f"`ess_ratio`, a share of the particles, must be in (0, 1]; got {self.ess_ratio}."
            )
        if not 0 <= self.num_moves <= self.max_moves:
            raise ValueError(
                f"`num_moves` must be from 0 to `max_moves`; got {self.num_moves} and {self.max_moves}."
            )
        if self.max_terms is not None and not self.max_terms > 0:
            raise ValueError(f"`max_terms` must be > 0, or `None`; got {self.max_terms}.")
        if not 0 <= self.mixing <= 1:
            raise ValueError(f"`mixing`, a share of the weights, must be in [0, 1]; got {self.mixing}.")
