"""The eight symmetries of the square, and the one that moves the source to the east and a little north.

A policy that observes and acts after this symmetry treats a search and its mirror images alike.
"""

from itertools import product
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.world import Motion, PolicyMismatch

_SAME_MOVE_M = 1e-6


class Symmetry(NamedTuple):
    """A symmetry of the square about the sensor: first the axes are mirrored, then they may be swapped."""

    signs: Float[Array, "2"]
    swapped: Bool[Array, ""]

    def apply(self, vectors: Float[Array, "*batch 2"]) -> Float[Array, "*batch 2"]:
        """Apply the symmetry to vectors. Exact: only signs and order of the coordinates change."""
        signs = self.signs.reshape((1,) * (vectors.ndim - 1) + (2,))
        mirrored = vectors * signs
        return jnp.where(self.swapped, mirrored[..., ::-1], mirrored)

    def undo(self, vectors: Float[Array, "*batch 2"]) -> Float[Array, "*batch 2"]:
        """Apply the inverse symmetry."""
        signs = self.signs.reshape((1,) * (vectors.ndim - 1) + (2,))
        return jnp.where(self.swapped, vectors[..., ::-1], vectors) * signs

    @property
    def number(self) -> Int[Array, ""]:
        """The number of the symmetry from 0 to 7, a row of `action_permutations`."""
        flips = (self.signs < 0).astype(jnp.int32)
        return 4 * self.swapped.astype(jnp.int32) + 2 * flips[0] + flips[1]


def symmetry_for(offset: Float[Array, "2"]) -> Symmetry:
    """Return the symmetry after which the offset (dx, dy) has 0 ≤ dy ≤ dx."""
    signs = jnp.where(offset < 0, -jnp.ones(2), jnp.ones(2))
    return Symmetry(signs, jnp.abs(offset[1]) > jnp.abs(offset[0]))


def action_permutations(motion: Motion) -> np.ndarray:
    """Return (8, actions): for each symmetry, the number of every action after it."""
    moves = np.array(motion.moves, float)
    orders = np.zeros((8, len(moves)), np.int32)
    for number, (swapped, *flips) in enumerate(product((False, True), repeat=3)):
        mirrored = moves * np.where(flips, -1.0, 1.0)
        image = mirrored[:, ::-1] if swapped else mirrored
        apart = np.linalg.norm(image[:, None, :] - moves[None, :, :], axis=2)
        if (apart.min(axis=1) > _SAME_MOVE_M).any():
            raise PolicyMismatch(
                "moves that the symmetries of a square map onto each other, such as one "
                f"move of the same length along each axis either way; got {motion.moves}."
            )
        orders[number] = apart.argmin(axis=1)
    return orders
