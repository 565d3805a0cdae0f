"""Scores of the truth under a belief: rank among draws, distribution function, z-score."""

from dataclasses import dataclass

import numpy as np

from dowsax.world import POSITION_COLUMNS, take_position

NUM_DRAWS = 99
"""L: ranks go from 0 to 99, so that bins of 1, 2, 4, 5 or 10 % hold the same number of ranks."""


@dataclass(frozen=True)
class Scores:
    """Beliefs compared with the truth: b cases of d parameters."""

    ranks: np.ndarray
    """(b, d), draws below the truth, of `NUM_DRAWS`."""
    below: np.ndarray
    """(b, d), probability of values below the truth."""
    upto: np.ndarray
    """(b, d), probability of values up to the truth; equal to `below` unless a particle equals the truth."""
    z_scores: np.ndarray
    """(b, d), (truth − mean)/std; ±∞ for a belief of no width."""
    errors: np.ndarray
    """(b,) [m], distance between the mean and the true position."""
    spreads: np.ndarray
    """(b,) [m], the largest standard deviation of the position coordinates."""

    def covered(self, probability: float) -> np.ndarray:
        """(b, d), whether the truth lies in the central interval of this probability, ends included.

        With $q_p = \\min\\{v : F(v) \\ge p\\}$, truth ≥ q_p means F(truth) ≥ p, and truth ≤ q_p means that
        less than p lies below the truth: no quantile has to be computed.
        """
        low, high = (1 - probability) / 2, (1 + probability) / 2
        return (self.upto >= low - 1e-12) & (self.below < high - 1e-12)


def score(
    truths: np.ndarray,
    samples: np.ndarray,
    weights: np.ndarray,
    seed: int | list[int],
    position_columns: tuple[int, ...] = POSITION_COLUMNS,
) -> Scores:
    """Score truths (b, d) under weighted samples (b, n, d); each row of the weights (b, n) sums to one.

    The rank is taken among equally weighted draws from the samples. Draws that equal the truth count as below
    it or above it at random, so that a belief on a grid has uniform ranks too.
    """
    generator = np.random.default_rng(seed)
    less = samples < truths[:, None, :]
    same = samples == truths[:, None, :]
    chosen = np.stack([draws(row, NUM_DRAWS, generator) for row in weights])[:, :, None]
    num_below = np.sum(np.take_along_axis(less, chosen, axis=1), axis=1)
    num_equal = np.sum(np.take_along_axis(same, chosen, axis=1), axis=1)
    mean = np.einsum("bn,bnd->bd", weights, samples)
    std = np.sqrt(np.einsum("bn,bnd->bd", weights, (samples - mean[:, None, :]) ** 2))
    below = np.einsum("bn,bnd->bd", weights, less)
    offsets = truths - mean
    safe = np.where(std > 0, std, 1.0)
    return Scores(
        ranks=num_below + generator.integers(0, num_equal + 1),
        below=below,
        upto=below + np.einsum("bn,bnd->bd", weights, same),
        z_scores=np.where(std > 0, offsets / safe, np.copysign(np.inf, offsets)),
        errors=np.linalg.norm(take_position(offsets, position_columns), axis=1),
        spreads=take_position(std, position_columns).max(axis=1),
    )


def draws(weights: np.ndarray, num_draws: int, generator: np.random.Generator) -> np.ndarray:
    """Return indices of equally weighted draws: systematic resampling of the particles in random order.

    Equal weights are then a choice without repetition, for which the truth and the draws are exchangeable if
    the truth and the particles are; independent draws would repeat some and put too many ranks at the ends.
    """
    order = generator.permutation(weights.size)
    running = np.cumsum(weights[order])
    places = (np.arange(num_draws) + generator.uniform()) / num_draws * running[-1]
    return order[np.minimum(np.searchsorted(running, places, side="right"), weights.size - 1)]


def join(parts: list[Scores]) -> Scores:
    """Concatenate the cases of all parts."""
    names = Scores.__dataclass_fields__
    return Scores(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
