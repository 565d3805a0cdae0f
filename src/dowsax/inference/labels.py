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

    First to those of the particle with the best score, then to their mean, as in clustering by k-means.
    """
    orders = np.stack([columns.order(np.array(ranks)) for ranks in permutations(range(columns.number))])
    places = np.array([block[:2] for block in columns.blocks])

    def ordered(centres: Float[Array, "k 2"]) -> Float[Array, "n d"]:
        ways = jnp.stack([particles[:, order] for order in orders])
        offsets = ways[:, :, places] - centres[None, None]
        best = jnp.argmin(jnp.sum(offsets**2, axis=(-2, -1)), axis=0)
        return jnp.take_along_axis(ways, best[None, :, None], axis=0)[0]

    centres = particles[jnp.argmax(scores)][places]
    for _ in range(_NUM_ROUNDS):
        centres = jnp.mean(ordered(centres)[:, places], axis=0)
    return ordered(centres)


def sort_sources(samples: np.ndarray, blocks: Sequence[Sequence[int]]) -> np.ndarray:
    """Return samples (n, d) with the sources of each sorted by x: a function of the set of sources.

    `blocks` are the columns of each source, x first.
    """
    ranks = np.argsort(samples[:, [block[0] for block in blocks]], axis=1)
    sources = samples[:, np.array(blocks)]
    found = samples.copy()
    found[:, np.array(blocks)] = np.take_along_axis(sources, ranks[:, :, None], axis=1)
    return found
