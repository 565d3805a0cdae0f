"""The eight symmetries of the square, and the one of them in which the source lies east and a little north.

A policy that sees and acts in this frame treats a search and its mirror images alike.
"""

from itertools import product
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.world import Motion

# [m], moves nearer than this are the same.
_SAME = 1e-6


class Frame(NamedTuple):
    """A symmetry of the square about the sensor: first the axes are mirrored, then they may be swapped."""

    signs: Float[Array, "2"]
    swapped: Bool[Array, ""]

    def into(self, vectors: Float[Array, "*batch 2"]) -> Float[Array, "*batch 2"]:
        """Vectors as seen in the frame. Exact: only signs and places change."""
        signs = self.signs.reshape((1,) * (vectors.ndim - 1) + (2,))
        mirrored = vectors * signs
        return jnp.where(self.swapped, mirrored[..., ::-1], mirrored)

    def out_of(self, vectors: Float[Array, "*batch 2"]) -> Float[Array, "*batch 2"]:
        """The inverse of `into`."""
        signs = self.signs.reshape((1,) * (vectors.ndim - 1) + (2,))
        return jnp.where(self.swapped, vectors[..., ::-1], vectors) * signs

    @property
    def number(self) -> Int[Array, ""]:
        """From 0 to 7, the row of `action_orders`."""
        flips = (self.signs < 0).astype(jnp.int32)
        return 4 * self.swapped.astype(jnp.int32) + 2 * flips[0] + flips[1]


def frame_of(offset: Float[Array, "2"]) -> Frame:
    """The frame in which the offset (dx, dy) has 0 ≤ dy ≤ dx."""
    signs = jnp.where(offset < 0, -jnp.ones(2), jnp.ones(2))
    return Frame(signs, jnp.abs(offset[1]) > jnp.abs(offset[0]))


def action_orders(motion: Motion) -> np.ndarray:
    """(8, actions): for each frame, the number that every action has when it is seen in the frame."""
    moves = np.array(motion.moves, float)
    orders = np.zeros((8, len(moves)), np.int32)
    for number, (swapped, *flips) in enumerate(product((False, True), repeat=3)):
        mirrored = moves * np.where(flips, -1.0, 1.0)
        seen = mirrored[:, ::-1] if swapped else mirrored
        apart = np.linalg.norm(seen[:, None, :] - moves[None, :, :], axis=2)
        if (apart.min(axis=1) > _SAME).any():
            raise ValueError(
                "This policy needs moves that the symmetries of a square map onto each other, such as one "
                f"move of the same length along each axis either way; got {motion.moves}."
            )
        orders[number] = apart.argmin(axis=1)
    return orders
