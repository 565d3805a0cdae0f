"""A prior of independent factors: the source position, and one distribution for each further column."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Distribution, Location
from dowsax.world.coordinates import Logarithmic
from dowsax.world.distributions import log_prob_each, require_names, sample_each
from dowsax.world.source import PARAMETERS, Parameter


class ProductPrior(eqx.Module):
    r"""$p(\Theta) = p(x, y) \prod_i p_i(\Theta_{2+i})$."""

    location: Location
    distributions: tuple[Distribution, ...]
    named: tuple[Parameter, ...] = eqx.field(static=True)
    """The parameters after x and y, one for each distribution."""

    def __check_init__(self) -> None:
        require_names(self.distributions, self.named)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (*PARAMETERS[:2], *self.named)

    @property
    def coordinates(self) -> Logarithmic:
        """Θ itself, but for the columns that move by factors."""
        return Logarithmic(
            tuple(2 + at for at, distribution in enumerate(self.distributions) if distribution.logarithmic)
        )

    def sample(self, key: Key) -> Theta:
        location_key, distributions_key = jax.random.split(key)
        return jnp.concatenate(
            [self.location.sample(location_key), sample_each(distributions_key, self.distributions)]
        )

    def log_prob(self, theta: Theta) -> Scalar:
        return log_prob_each(self.distributions, theta[2:], self.location.log_prob(theta[:2]))

    def sample_given(self, key: Key, theta: Theta, columns: tuple[int, ...]) -> Theta:
        """Redraw these columns: they do not depend on the others."""
        at = jnp.array(columns)
        return theta.at[at].set(self.sample(key)[at])

    def log_prob_given(self, theta: Theta, columns: tuple[int, ...]) -> Scalar:
        """Return the log density of these columns."""
        if (0 in columns) != (1 in columns):
            raise ValueError(f"x and y depend on each other: take both columns or none; got {columns}.")
        place = self.location.log_prob(theta[:2]) if 0 in columns else jnp.zeros(())
        chosen = [column for column in columns if column >= 2]
        return sum((self.distributions[column - 2].log_prob(theta[column]) for column in chosen), start=place)
