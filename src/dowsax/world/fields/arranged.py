"""What is known of a field: numbers in the place of columns."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field, Turnable, Turning
from dowsax.world.fields.absence import absent

KNOWN = -1


class Arranged(eqx.Module):
    """The field of a longer Θ, of which some columns are known numbers."""

    field: Field
    columns: tuple[int, ...] = eqx.field(static=True)
    """For each column of the field's Θ that of ours, or `KNOWN`."""
    numbers: tuple[float, ...] = eqx.field(static=True)
    """What is known, in the same places."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return self.field(self._full(theta), station)

    def turning(self, theta: Theta, station: Station) -> Turning:
        assert isinstance(self.field, Turnable)
        return self.field.turning(self._full(theta), station)

    def _full(self, theta: Theta) -> Float[Array, " full"]:
        """The field's own Θ."""
        entries = zip(self.columns, self.numbers, strict=True)
        full = [jnp.asarray(known, theta.dtype) if at == KNOWN else theta[at] for at, known in entries]
        return jnp.stack(full)

    def without_source(self) -> Field:
        return Arranged(absent(self.field), self.columns, self.numbers)
