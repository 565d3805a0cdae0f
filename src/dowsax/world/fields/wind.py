"""Wind that was not measured with the readings: known, or unknown."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp

from dowsax.types import Scalar, Station, Theta
from dowsax.world.base import Field
from dowsax.world.fields.efficient import Efficient
from dowsax.world.fields.gaussian_plume import GaussianPlume
from dowsax.world.fields.lagged import Lagged
from dowsax.world.fields.nothing import remove_source
from dowsax.world.fields.path_mean import PathMean
from dowsax.world.fields.sum_of_sources import SumOfSources
from dowsax.world.ranges import Numbers, as_numbers


class GivenWind(eqx.Module):
    """The field in one known wind."""

    field: Field
    velocity: Numbers = eqx.field(converter=as_numbers)
    """[m/s], where the air goes."""

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return self.field(theta, replace(station, wind=jnp.array(self.velocity, theta.dtype)))

    def without_source(self) -> Field:
        return GivenWind(remove_source(self.field), self.velocity)


class InferredWind(eqx.Module):
    """The field in one unknown wind: two neighbouring columns of Θ [m/s], where the air goes."""

    field: Field
    column: int = eqx.field(static=True)

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        return self.field(theta, replace(station, wind=theta[self.column : self.column + 2]))

    def without_source(self) -> Field:
        return InferredWind(remove_source(self.field), self.column)


def along_axis(field: Field) -> Field:
    """Return a plume evaluated on its axis at each station: the wind blows from the source to it."""
    return _with_plume(field, on_axis=True)


def widened(field: Field, sway: float) -> Field:
    """Return the mean plume in a wind whose direction varies by `sway` [rad] from reading to reading."""
    return _with_plume(field, sway=sway)


def _with_plume(field: Field, **changes: Any) -> Field:
    """Return a field with these changes of its gas plume."""
    if isinstance(field, GaussianPlume):
        return replace(field, **changes)
    if isinstance(field, PathMean | GivenWind | InferredWind | SumOfSources | Efficient | Lagged):
        return replace(field, field=_with_plume(field.field, **changes))
    raise ValueError(f"{type(field).__name__} has no axis: only a gas plume does.")
