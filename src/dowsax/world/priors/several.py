"""Priors of several sources that share wind, background and noise."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Coordinates, Prior
from dowsax.world.conditional import log_prob_given, sample_given
from dowsax.world.coordinates import Identity, Logarithmic
from dowsax.world.positions import position_columns
from dowsax.world.priors.plume_coordinates import PlumeCoordinates
from dowsax.world.priors.several_plumes import SeveralPlumesCoordinates
from dowsax.world.several_columns import SourceColumns
from dowsax.world.source import Parameter


class SeveralSourcesPrior(eqx.Module):
    r"""$p(\Theta_1) \prod_{k \ge 2} p(\text{own}_k \mid \text{shared})$: sources are alike and independent.

    The density is that of labelled sources, so it is the same for any order of them. Where their number is
    unknown, all numbers are equally probable, and Θ has columns for as many as there may be.
    """

    source: Prior
    """Of one source."""
    columns: SourceColumns

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.columns.named(self.source.parameters)

    @property
    def position_columns(self) -> tuple[int, ...]:
        return position_columns(self.source)

    @property
    def source_columns(self) -> SourceColumns:
        return self.columns

    @property
    def coordinates(self) -> Coordinates:
        """The source's, for each source; a plume's diffusivity depends on all strengths."""
        single = self.source.coordinates
        if isinstance(single, PlumeCoordinates):
            return SeveralPlumesCoordinates(single, self.columns.number)
        if not isinstance(single, Logarithmic):
            return Identity()
        shared = tuple(column for column in single.columns if column not in self.columns.own)
        by_factors = [at for at, column in enumerate(self.columns.own) if column in single.columns]
        own = tuple(block[at] for block in self.columns.blocks for at in by_factors)
        return Logarithmic((*shared, *own))

    @property
    def source_rows(self) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each source: its own columns."""
        if not isinstance(self.coordinates, SeveralPlumesCoordinates):
            return self.columns.blocks
        return self.coordinates.rows

    def sample(self, key: Key) -> Theta:
        number_key = jax.random.fold_in(key, self.columns.number)
        first_key, *keys = jax.random.split(key, self.columns.number)
        first = self.source.sample(first_key)
        own = jnp.array(self.columns.own)
        others = [sample_given(each, self.source, first, self.columns.own)[own] for each in keys]
        if self.columns.fewest is None:
            return jnp.concatenate([first, *others])
        number = jax.random.randint(number_key, (1,), self.columns.fewest, self.columns.number + 1)
        return jnp.concatenate([first, *others, number.astype(first.dtype)])

    def log_prob(self, theta: Theta) -> Scalar:
        first = self.source.log_prob(self.columns.of(theta, 0)) - math.log(len(self.columns.numbers))
        if self.columns.number_column is not None:
            number = theta[self.columns.number_column]
            is_possible = (number >= self.columns.numbers[0]) & (number <= self.columns.numbers[-1])
            first = jnp.where(is_possible, first, -jnp.inf)
        return sum(
            (
                log_prob_given(self.source, self.columns.of(theta, number), self.columns.own)
                for number in range(1, self.columns.number)
            ),
            start=first,
        )
