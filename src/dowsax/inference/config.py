"""The static choices of a filter."""

from dataclasses import dataclass

from dowsax.inference.attention import AttentionConfig


@dataclass(frozen=True)
class FilterConfig:
    """Static choices: changing any of these recompiles."""

    num_particles: int = 1024
    horizon: int = 201
    """The most readings there will ever be: the benchmark's 200 moves and the reading at the start."""
    ess_ratio: float = 0.5
    """η: resample when ESS < η·n. A reading that would leave less is taken in by parts."""
    temper: bool = True
    """Take a reading that would collapse the weights in parts, with moves in between."""
    max_stages: int = 64
    """The most parts. A reading not taken in by then cannot be explained by the model."""
    num_moves: int = 8
    """Metropolis–Hastings moves of each particle after resampling."""
    max_moves: int = 8
    """Move on until the start is forgotten, at most this often."""
    max_terms: float | None = None
    """Likelihood terms a reading may cost with moves beyond `num_moves`; `None` for as many as needed."""
    forgetting: float = 0.3
    """A start is forgotten when it correlates with the present by less, in every coordinate."""
    straighten: bool = True
    """Move in coordinates that follow the readings, where the field allows it (`straightening`)."""
    attention: AttentionConfig | None = None
    smooth_first: bool = True
    """Smooth before resampling, so that moves mend the bias; the paper smooths after it, at every reading."""
    mixing: float = 0.0
    """ρ of uniform mixing, the control for attention, in the same place."""

    def __post_init__(self) -> None:
        if self.num_particles < 16:
            raise ValueError(
                f"The number of particles (`num_particles`) must be at least 16; got {self.num_particles}."
            )
        if self.horizon < 1 or self.max_stages < 1:
            raise ValueError("`horizon` and `max_stages` must be at least 1.")
        if not 0 < self.ess_ratio <= 1:
            raise ValueError(f"`ess_ratio` is a share of the particles, in (0, 1]; got {self.ess_ratio}.")
        if not 0 <= self.num_moves <= self.max_moves:
            raise ValueError(
                f"`num_moves` must be from 0 to `max_moves`; got {self.num_moves} and {self.max_moves}."
            )
        if self.max_terms is not None and not self.max_terms > 0:
            raise ValueError(f"`max_terms` must be above 0, or `None`; got {self.max_terms}.")
        if not 0 <= self.mixing <= 1:
            raise ValueError(f"`mixing` is a share of the weights, in [0, 1]; got {self.mixing}.")
