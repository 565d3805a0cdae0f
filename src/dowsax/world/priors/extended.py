"""A prior with further columns: nuisance parameters, independent of the source."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Coordinates, Distribution, Prior, SeveralSources
from dowsax.world.conditional import log_prob_given, sample_given
from dowsax.world.coordinates import Logarithmic
from dowsax.world.distributions import log_prob_each, require_names, sample_each
from dowsax.world.positions import position_columns, source_columns
from dowsax.world.several_columns import SourceColumns
from dowsax.world.source import Parameter


class ExtendedCoordinates(eqx.Module):
    """Coordinates of the source and of the nuisance parameters; free coordinates stay last."""

    source: Coordinates
    nuisances: Coordinates
    num_nuisances: int = eqx.field(static=True)
    free: int = eqx.field(static=True)

    def forward(self, theta: Theta) -> Theta:
        split = theta.shape[0] - self.num_nuisances
        source, nuisances = self.source.forward(theta[:split]), self.nuisances.forward(theta[split:])
        bound = split - self.free
        return jnp.concatenate([source[:bound], nuisances, source[bound:]])

    def inverse(self, coordinates: Theta) -> Theta:
        source, nuisances = self._split(coordinates)
        return jnp.concatenate([self.source.inverse(source), self.nuisances.inverse(nuisances)])

    def log_det(self, coordinates: Theta) -> Scalar:
        source, nuisances = self._split(coordinates)
        return self.source.log_det(source) + self.nuisances.log_det(nuisances)

    def _split(self, coordinates: Theta) -> tuple[Array, Array]:
        bound = coordinates.shape[0] - self.num_nuisances - self.free
        end = bound + self.num_nuisances
        return jnp.concatenate([coordinates[:bound], coordinates[end:]]), coordinates[bound:end]


class ExtendedPrior(eqx.Module):
    r"""$p(\Theta) = p(\Theta_{\text{source}}) \prod_i p_i(\Theta_i)$, the nuisance parameters last."""

    source: Prior
    distributions: tuple[Distribution, ...]
    named: tuple[Parameter, ...] = eqx.field(static=True)
    """The nuisance parameters, one for each distribution."""

    def __check_init__(self) -> None:
        require_names(self.distributions, self.named)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (*self.source.parameters, *self.named)

    @property
    def position_columns(self) -> tuple[int, ...]:
        return position_columns(self.source)

    @property
    def source_columns(self) -> SourceColumns | None:
        columns = source_columns(self.source)
        return None if columns is None else replace(columns, num_nuisances=len(self.distributions))

    @property
    def source_rows(self) -> tuple[tuple[int, ...], ...]:
        return self.source.source_rows if isinstance(self.source, SeveralSources) else ()

    @property
    def coordinates(self) -> ExtendedCoordinates:
        by_factors = tuple(
            at for at, distribution in enumerate(self.distributions) if distribution.logarithmic
        )
        source = self.source.coordinates
        return ExtendedCoordinates(source, Logarithmic(by_factors), len(self.distributions), source.free)

    def sample(self, key: Key) -> Theta:
        source_key, distributions_key = jax.random.split(key)
        return jnp.concatenate(
            [self.source.sample(source_key), sample_each(distributions_key, self.distributions)]
        )

    def log_prob(self, theta: Theta) -> Scalar:
        split = theta.shape[0] - len(self.distributions)
        return log_prob_each(self.distributions, theta[split:], self.source.log_prob(theta[:split]))

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        """Redraw these columns given the others."""
        source_key, distributions_key = jax.random.split(key)
        split, (own, nuisances) = len(self.source.parameters), self._divide(columns)
        source = sample_given(source_key, self.source, theta[:split], own) if own else theta[:split]
        fresh = sample_each(distributions_key, self.distributions)
        values = [
            fresh[at] if at in nuisances else theta[split + at] for at in range(len(self.distributions))
        ]
        return jnp.concatenate([source, jnp.array(values)])

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        """Return the log density of these columns given the others, up to a constant."""
        split, (own, nuisances) = len(self.source.parameters), self._divide(columns)
        source = log_prob_given(self.source, theta[:split], own) if own else jnp.zeros(())
        return sum((self.distributions[at].log_prob(theta[split + at]) for at in nuisances), start=source)

    def _divide(self, columns: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Split columns into those of the source and the indices of the nuisance parameters."""
        split = len(self.source.parameters)
        own = tuple(column for column in columns if column < split)
        return own, tuple(column - split for column in columns if column >= split)
