"""Fields without a source: the null model of the test whether there is a source at all."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field, Removable


class Nothing(eqx.Module):
    """Zero everywhere."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        del station
        return jnp.zeros((), theta.dtype)

    def without_source(self) -> "Nothing":
        return self


class Flat(eqx.Module):
    """The same everywhere: one column of Θ."""

    column: int = eqx.field(static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        del station
        return theta[self.column]

    def without_source(self) -> "Flat":
        return self


def remove_source(field: Field) -> Field:
    """Return what is left of a field without its source: zero unless the field is `Removable`."""
    return field.without_source() if isinstance(field, Removable) else Nothing()
