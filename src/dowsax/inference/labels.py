"""The labels of several sources: which of a particle's sources is called the first.

The sources are alike, so every order of them is the same particle. Moves take differences of particles, which
mean something only where their labels agree.
"""

from collections.abc import Sequence
from itertools import permutations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.world.several_columns import SourceColumns

_NUM_ROUNDS = 2


def agree(
    particles: Float[Array, "n d"], scores: Float[Array, " n"], columns: SourceColumns
) -> Float[Array, "n d"]:
    """Return the particles with their sources in the order that brings their places closest to each other.

    First to those of the particle with the best score, then to their mean, as in clustering by k-means. Where
    the number of sources is unknown it is the same for all particles, and those beyond it stay last.
    """
    ways_to_order = list(permutations(range(columns.number)))
    orders = np.stack([columns.order(np.array(ranks)) for ranks in ways_to_order])
    penalties: Float[Array, " orders"] = jnp.zeros(len(orders))
    if columns.number_column is not None:
        kept = np.array([_num_moved(ranks) for ranks in ways_to_order])
        penalties = jnp.where(kept <= particles[0, columns.number_column], 0.0, jnp.inf)
    places = np.array([block[:2] for block in columns.blocks])

    def ordered(centres: Float[Array, "k 2"]) -> Float[Array, "n d"]:
        ways = jnp.stack([particles[:, order] for order in orders])
        offsets = ways[:, :, places] - centres[None, None]
        best = jnp.argmin(jnp.sum(offsets**2, axis=(-2, -1)) + penalties[:, None], axis=0)
        return jnp.take_along_axis(ways, best[None, :, None], axis=0)[0]

    centres = particles[jnp.argmax(scores)][places]
    for _ in range(_NUM_ROUNDS):
        centres = jnp.mean(ordered(centres)[:, places], axis=0)
    return ordered(centres)


def _num_moved(ranks: tuple[int, ...]) -> int:
    """Return how many sources there must be for this order of them: those after these stay where they are."""
    return max((at + 1 for at, rank in enumerate(ranks) if at != rank), default=0)


def sort_sources(samples: np.ndarray, blocks: Sequence[Sequence[int]]) -> np.ndarray:
    """Return samples (…, d) with the sources of each sorted by x: a function of the set of sources.

    `blocks` are the columns of each source, x first.
    """
    ranks = np.argsort(samples[..., [block[0] for block in blocks]], axis=-1)
    sources = samples[..., np.array(blocks)]
    found = samples.copy()
    found[..., np.array(blocks)] = np.take_along_axis(sources, ranks[..., None], axis=-2)
    return found
