"""Coordinates for a prior that needs no others: Θ itself."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Theta


class IdentityCoordinates(eqx.Module):
    """Particles move in Θ as it is. Columns of about the same size, without hard edges, suit this best."""

    free: int = eqx.field(default=0, static=True)

    def forward(self, theta: Theta) -> Theta:
        return theta

    def inverse(self, coordinates: Theta) -> Theta:
        return coordinates

    def log_det(self, coordinates: Theta) -> Scalar:
        return jnp.zeros((), coordinates.dtype)
