"""The field of several sources: what each adds, added up."""

from functools import reduce

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, Field
from dowsax.world.fields.amounts import add_amounts
from dowsax.world.fields.nothing import remove_source
from dowsax.world.several_columns import SourceColumns

_SILENCE_DB = -1e4
"""The level of a source that is not there."""


class SumOfSources(eqx.Module):
    r"""$\sum_k \phi_k$ with the field φₖ of each source; of levels, that of all powers together.

    Where their number is unknown, of as many as Θ says.
    """

    field: Field
    """Of one source, without a background."""
    columns: SourceColumns
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return self._add(theta, [self.field(each, station) for each in self._each(theta)])

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        assert isinstance(self.field, DirectionDependent)
        parts = tuple(self.field.direction_profile(each, station, spread) for each in self._each(theta))
        first = parts[0]
        return first._replace(
            value=lambda turn: self._add(theta, [part.value(turn) for part in parts]), parts=parts
        )

    def _each(self, theta: Theta) -> list[Float[Array, " single"]]:
        return [self.columns.of(theta, number) for number in range(self.columns.number)]

    def _add(self, theta: Theta, amounts: list[Scalar]) -> Scalar:
        if self.columns.number_column is not None:
            number, nothing = theta[self.columns.number_column], _SILENCE_DB if self.levels else 0.0
            amounts = [jnp.where(at < number, amount, nothing) for at, amount in enumerate(amounts)]
        return reduce(lambda one, other: add_amounts(one, other, self.levels), amounts)

    def without_source(self) -> Field:
        return remove_source(self.field)
