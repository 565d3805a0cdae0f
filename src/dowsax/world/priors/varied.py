"""Distributions whose limits are arrays, so that problems which differ by them share a compiled program."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Key, Position, Scalar
from dowsax.world.distributions import LogUniform, Uniform
from dowsax.world.priors.locations import UniformBox


class Between(eqx.Module):
    """Uniform between `low` and `high`, or, if `logarithmic`, uniform in the logarithm."""

    low: Scalar
    high: Scalar
    logarithmic: bool = eqx.field(static=True)

    def quantile(self, share: Scalar) -> Scalar:
        value = self.low + (self.high - self.low) * share
        if self.logarithmic:
            value = self.low * jnp.exp(jnp.log(self.high / self.low) * share)
        return jnp.clip(value, self.low, self.high)

    def sample(self, key: Key) -> Scalar:
        return self.quantile(jax.random.uniform(key))

    def log_prob(self, value: Scalar) -> Scalar:
        inside = (value >= self.low) & (value <= self.high)
        if not self.logarithmic:
            return jnp.where(inside, -jnp.log(self.high - self.low), -jnp.inf)
        log_value = jnp.log(jnp.where(inside, value, 1.0))
        return jnp.where(inside, -log_value - jnp.log(jnp.log(self.high / self.low)), -jnp.inf)


class Box(eqx.Module):
    """Uniform on a box."""

    low: Float[Array, "2"]
    high: Float[Array, "2"]
    """[m]"""

    def sample(self, key: Key) -> Position:
        return self.low + jax.random.uniform(key, (2,)) * (self.high - self.low)

    def log_prob(self, position: Position) -> Scalar:
        inside = jnp.all((position >= self.low) & (position <= self.high))
        return jnp.where(inside, -jnp.sum(jnp.log(self.high - self.low)), -jnp.inf)


def with_array_limits(tree: Any) -> Any:
    """Return the tree with the limits of all uniform distributions as arrays."""
    known = Uniform, LogUniform, UniformBox

    def lift(leaf: Any) -> Any:
        if isinstance(leaf, UniformBox):
            return Box(jnp.asarray(leaf.low, jnp.float32), jnp.asarray(leaf.high, jnp.float32))
        if isinstance(leaf, Uniform | LogUniform):
            return Between(jnp.float32(leaf.low), jnp.float32(leaf.high), leaf.logarithmic)
        return leaf

    return jax.tree.map(lift, tree, is_leaf=lambda leaf: isinstance(leaf, known))
