"""Mirror images of searches, for tests of observations and actions."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from dowsax.world import FOUR_MOVES

SIDE = 25.0
MATRICES = [
    np.array(matrix)
    for one in (1.0, -1.0)
    for other in (1.0, -1.0)
    for matrix in ([[one, 0.0], [0.0, other]], [[0.0, one], [other, 0.0]])
]
"""All symmetries of the square about its middle."""


def mirrored(matrix, belief, position):
    """The same search in the mirror, and the number that each action has there."""
    turn = lambda vectors: (vectors[..., None, :] * matrix).sum(-1)  # noqa: E731
    place = lambda at: (turn(np.asarray(at, float) - SIDE / 2) + SIDE / 2).astype(np.float32)  # noqa: E731
    particles = np.asarray(belief.particles).copy()
    particles[:, :2] = place(particles[:, :2])
    particles[:, 3:5] = turn(particles[:, 3:5])
    walk = place(belief.history.stations.position)
    moves = np.array(FOUR_MOVES.moves)
    image = [int(np.argmin(np.sum((moves - move) ** 2, axis=1))) for move in turn(moves)]
    changed = jnp.asarray(particles), jnp.asarray(walk)
    belief = eqx.tree_at(lambda b: (b.particles, b.history.stations.position), belief, changed)
    return belief, jnp.asarray(place(position)), image
