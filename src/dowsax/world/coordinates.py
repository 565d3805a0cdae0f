"""Simple coordinates: Θ itself, or the logarithm of some of its columns."""

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from dowsax.types import Scalar, Theta

_MAX_EXPONENT = 80.0


class Identity(eqx.Module):
    """Θ itself."""

    free: int = eqx.field(default=0, static=True)

    def forward(self, theta: Theta) -> Theta:
        return theta

    def inverse(self, coordinates: Theta) -> Theta:
        return coordinates

    def log_det(self, coordinates: Theta) -> Scalar:
        return jnp.zeros((), coordinates.dtype)


class Logarithmic(eqx.Module):
    """The logarithm of some (positive) columns, and the others as they are."""

    columns: tuple[int, ...] = eqx.field(static=True)
    free: int = eqx.field(default=0, static=True)

    def forward(self, theta: Theta) -> Theta:
        return self._map_columns(jnp.log, theta)

    def inverse(self, coordinates: Theta) -> Theta:
        # Capped, so that nothing overflows float32.
        return self._map_columns(lambda logs: jnp.exp(jnp.minimum(logs, _MAX_EXPONENT)), coordinates)

    def log_det(self, coordinates: Theta) -> Scalar:
        r"""$\sum \log \Theta_c$, since $d\Theta_c = \Theta_c\, d\log\Theta_c$."""
        return sum((coordinates[column] for column in self.columns), start=jnp.zeros((), coordinates.dtype))

    def _map_columns(self, function: Callable[[Array], Array], values: Theta) -> Theta:
        """Apply a function to the named columns, by selection: scattering into a column is far slower."""
        named = np.zeros(values.shape[0], bool)
        named[list(self.columns)] = True
        return jnp.where(named, function(jnp.where(named, values, 1.0)), values)
