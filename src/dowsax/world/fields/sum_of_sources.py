"""The field of several sources: what each adds to the background, added up."""

import equinox as eqx

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.nothing import remove_source
from dowsax.world.several_columns import SourceColumns


class SumOfSources(eqx.Module):
    r"""$b + \sum_k (\phi_k - b)$ with the field φₖ of one source and the background b that they share."""

    field: Field
    """Of one source, with its background; an amount, no level in decibel."""
    columns: SourceColumns

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        each = [self.field(self.columns.of(theta, number), station) for number in range(self.columns.number)]
        background = remove_source(self.field)(theta, station)
        return sum(each[1:], start=each[0]) - (self.columns.number - 1) * background

    def without_source(self) -> Field:
        return remove_source(self.field)
