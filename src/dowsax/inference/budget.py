"""The number of active particles that a belief needs, in arrays of fixed length."""

from dataclasses import dataclass
from statistics import NormalDist

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import Belief
from dowsax.inference.grid import BENCHMARK_GRID, Grid, cell_mass
from dowsax.inference.weights import normalise
from dowsax.types import Scalar


def kld_bound(num_cells: Int[Array, ""], error: float, confidence: float) -> Scalar:
    r"""Fox's bound on the number of particles (KLD-sampling, 2003).

    With $n = \chi^2_{k-1,\,c} / 2\epsilon$ draws the Kullback-Leibler divergence between the sample and
    the distribution over $k$ occupied grid cells is below ε with confidence c. By Wilson and Hilferty

    $$n \approx \frac{k-1}{2\epsilon}
        \Big(1 - \tfrac{2}{9(k-1)} + \sqrt{\tfrac{2}{9(k-1)}}\, z_c\Big)^3,$$

    and one for a single cell.
    """
    freedom = jnp.maximum(num_cells - 1, 1).astype(jnp.float32)
    spread = 2 / (9 * freedom)
    bound = freedom / (2 * error) * (1 - spread + jnp.sqrt(spread) * NormalDist().inv_cdf(confidence)) ** 3
    return jnp.where(num_cells > 1, bound, 1.0)


@dataclass(frozen=True)
class KLDBudget:
    """The number of particles for a belief over the position, between `minimum` and the capacity.

    A grid cell is occupied when at least one particle is expected there after resampling at full capacity.
    """

    error: float = 0.05
    """ε [nats]: the tolerated divergence."""
    confidence: float = 0.99
    minimum: int = 256
    grid: Grid = BENCHMARK_GRID

    def __post_init__(self) -> None:
        if not self.error > 0:
            raise ValueError(f"`error`, a divergence in nats, must be > 0; got {self.error}.")
        if not 0.5 <= self.confidence < 1:
            raise ValueError(f"`confidence` must be in [0.5, 1); got {self.confidence}.")
        if self.minimum < 1:
            raise ValueError(f"`minimum`, a number of particles, must be at least 1; got {self.minimum}.")

    def __call__(self, belief: Belief) -> Int[Array, ""]:
        capacity = belief.particles.shape[0]
        # The threshold is half a particle, so that rounding cannot hide a cell with just one.
        occupied = jnp.sum(cell_mass(self.grid, belief) * capacity > 0.5)
        needed = jnp.ceil(kld_bound(occupied, self.error, self.confidence))
        return jnp.clip(needed, min(self.minimum, capacity), capacity).astype(jnp.int32)


def mask_to(capacity: int, num_active: Int[Array, ""]) -> Float[Array, " n"]:
    """Return log weights after resampling: uniform over the first `num_active` particles, −∞ for the rest.

    The resampler must have had the same `num_active`: the first part of a longer systematic sample is not a
    sample of the belief.
    """
    return normalise(jnp.where(jnp.arange(capacity) < num_active, 0.0, -jnp.inf))
