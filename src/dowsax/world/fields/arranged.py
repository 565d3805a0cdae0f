"""Fields some of whose columns of Θ are known numbers."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, Field
from dowsax.world.fields.nothing import remove_source

KNOWN_COLUMN = -1


class Arranged(eqx.Module):
    """The field of a longer Θ, of which some columns are known numbers."""

    field: Field
    columns: tuple[int, ...] = eqx.field(static=True)
    """For each column of the field's Θ the column of the model's Θ, or `KNOWN_COLUMN`."""
    numbers: tuple[Number, ...]
    """The known numbers, at the same indices."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return self.field(self._full(theta), station)

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        assert isinstance(self.field, DirectionDependent)
        return self.field.direction_profile(self._full(theta), station, spread)

    def _full(self, theta: Theta) -> Float[Array, " full"]:
        """Return the field's own Θ."""
        entries = zip(self.columns, self.numbers, strict=True)
        full = [jnp.asarray(known, theta.dtype) if at == KNOWN_COLUMN else theta[at] for at, known in entries]
        return jnp.stack(full)

    def without_source(self) -> Field:
        return Arranged(remove_source(self.field), self.columns, self.numbers)
