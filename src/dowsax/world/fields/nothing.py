"""Fields without a source: what is compared with, when one asks whether there is a source at all."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta


class Nothing(eqx.Module):
    """Zero everywhere."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        del station
        return jnp.zeros((), theta.dtype)

    def without_source(self) -> "Nothing":
        return self


class Flat(eqx.Module):
    """One column of Θ, everywhere the same."""

    column: int = eqx.field(static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        del station
        return theta[self.column]

    def without_source(self) -> "Flat":
        return self
