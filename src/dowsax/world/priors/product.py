"""A prior of independent factors: the law of the source position, and one law for each further column."""

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Law, Location
from dowsax.world.coordinates import Logarithmic
from dowsax.world.laws import log_prob_each, require_names, sample_each
from dowsax.world.source import PARAMETERS, Parameter


class ProductPrior(eqx.Module):
    r"""$p(\Theta) = p(x, y) \prod_i p_i(\Theta_{2+i})$."""

    location: Location
    laws: tuple[Law, ...]
    named: tuple[Parameter, ...] = eqx.field(static=True)
    """What the columns after x and y are called, one for each law."""

    def __check_init__(self) -> None:
        require_names(self.laws, self.named)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (*PARAMETERS[:2], *self.named)

    @property
    def coordinates(self) -> Logarithmic:
        """Θ itself, but for the columns that move by factors."""
        return Logarithmic(tuple(2 + at for at, law in enumerate(self.laws) if law.logarithmic))

    def sample(self, key: Key) -> Theta:
        location_key, laws_key = jax.random.split(key)
        return jnp.concatenate([self.location.sample(location_key), sample_each(laws_key, self.laws)])

    def log_prob(self, theta: Theta) -> Scalar:
        return log_prob_each(self.laws, theta[2:], self.location.log_prob(theta[:2]))
