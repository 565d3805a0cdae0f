"""The field of several sources: what each adds to the background, added up."""

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.amounts import DB_PER_LOG_POWER
from dowsax.world.fields.nothing import remove_source
from dowsax.world.several_columns import SourceColumns

_MIN_SHARE = 1e-6
"""Of the power of all sources, that of the background taken away: rounding never leaves less than nothing."""


class SumOfSources(eqx.Module):
    r"""$b + \sum_k (\phi_k - b)$ with the field φₖ of one source and the background b that they share.

    Of levels the powers are added up.
    """

    field: Field
    """Of one source, with its background."""
    columns: SourceColumns
    levels: bool = eqx.field(default=False, static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        each = [self.field(self.columns.of(theta, number), station) for number in range(self.columns.number)]
        background = remove_source(self.field)(theta, station)
        if not self.levels:
            return sum(each[1:], start=each[0]) - (self.columns.number - 1) * background
        levels = jnp.stack(each)
        loudest = jnp.max(levels)
        powers = jnp.sum(jnp.exp((levels - loudest) / DB_PER_LOG_POWER))
        extra = (self.columns.number - 1) * jnp.exp((background - loudest) / DB_PER_LOG_POWER)
        return loudest + DB_PER_LOG_POWER * jnp.log(jnp.maximum(powers - extra, _MIN_SHARE * powers))

    def without_source(self) -> Field:
        return remove_source(self.field)
