"""Coordinates for priors that need nothing special: Θ itself, or the logarithm of some of its columns."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Theta


class Identity(eqx.Module):
    """Particles move in Θ as it is."""

    free: int = eqx.field(default=0, static=True)

    def forward(self, theta: Theta) -> Theta:
        return theta

    def inverse(self, coordinates: Theta) -> Theta:
        return coordinates

    def log_det(self, coordinates: Theta) -> Scalar:
        return jnp.zeros((), coordinates.dtype)


class Logarithmic(eqx.Module):
    """Positive columns move by factors, the others as they are."""

    columns: tuple[int, ...] = eqx.field(static=True)
    free: int = eqx.field(default=0, static=True)

    def forward(self, theta: Theta) -> Theta:
        at = jnp.array(self.columns)
        return theta.at[at].set(jnp.log(theta[at]))

    def inverse(self, coordinates: Theta) -> Theta:
        at = jnp.array(self.columns)
        return coordinates.at[at].set(jnp.exp(coordinates[at]))

    def log_det(self, coordinates: Theta) -> Scalar:
        r"""$\sum \log \Theta_c$, since $d\Theta_c = \Theta_c\, d\log\Theta_c$."""
        return jnp.sum(coordinates[jnp.array(self.columns)])
