"""Distributions of one number: the factors of a prior."""

import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Key, Number, Scalar
from dowsax.world.base import Distribution
from dowsax.world.ranges import as_number, require_positive, require_range

_TINY = 1e-30
_HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Uniform(eqx.Module):
    """Uniform between `low` and `high`."""

    low: Number = eqx.field(converter=as_number)
    high: Number = eqx.field(converter=as_number)
    logarithmic: bool = eqx.field(default=False, init=False, static=True)

    def __check_init__(self) -> None:
        require_range("(low, high)", (self.low, self.high))

    def quantile(self, share: Scalar) -> Scalar:
        return jnp.clip(self.low + (self.high - self.low) * share, self.low, self.high)

    def sample(self, key: Key) -> Scalar:
        return self.quantile(jax.random.uniform(key))

    def log_prob(self, value: Scalar) -> Scalar:
        inside = (value >= self.low) & (value <= self.high)
        return jnp.where(inside, -jnp.log(self.high - self.low), -jnp.inf)


class LogUniform(eqx.Module):
    r"""Uniform in the logarithm: density $1/(v \log(\text{high}/\text{low}))$ between `low` and `high`."""

    low: Number = eqx.field(converter=as_number)
    high: Number = eqx.field(converter=as_number)
    logarithmic: bool = eqx.field(default=True, init=False, static=True)

    def __check_init__(self) -> None:
        require_range("(low, high)", (self.low, self.high))
        require_positive("low", self.low)

    def quantile(self, share: Scalar) -> Scalar:
        value = self.low * jnp.exp(jnp.log(self.high / self.low) * share)
        # The exponential may round to just outside.
        return jnp.clip(value, self.low, self.high)

    def sample(self, key: Key) -> Scalar:
        return self.quantile(jax.random.uniform(key))

    def log_prob(self, value: Scalar) -> Scalar:
        inside = (value >= self.low) & (value <= self.high)
        log_value = jnp.log(jnp.where(inside, value, 1.0))
        return jnp.where(inside, -log_value - jnp.log(jnp.log(self.high / self.low)), -jnp.inf)


class Normal(eqx.Module):
    """The normal distribution with this mean and standard deviation."""

    mean: Number = eqx.field(converter=as_number)
    std: Number = eqx.field(converter=as_number)
    logarithmic: bool = eqx.field(default=False, init=False, static=True)

    def __check_init__(self) -> None:
        require_positive("std", self.std)
        if not math.isfinite(self.mean):
            raise ValueError(f"`mean` must be a finite number; got {self.mean:g}.")

    def quantile(self, share: Scalar) -> Scalar:
        return self.mean + self.std * _normal_quantile(share)

    def sample(self, key: Key) -> Scalar:
        return self.quantile(jax.random.uniform(key))

    def log_prob(self, value: Scalar) -> Scalar:
        inside = jnp.isfinite(value)
        scaled = (jnp.where(inside, value, self.mean) - self.mean) / self.std
        return jnp.where(inside, -0.5 * scaled * scaled - jnp.log(self.std) - _HALF_LOG_TAU, -jnp.inf)


class LogNormal(eqx.Module):
    r"""$\log v \sim \mathcal N(\log \text{median}, \log^2 \text{factor})$, as a density of $v > 0$ itself.

    Two thirds of the draws are within the factor of the median, 95 % within its square.
    """

    median: Number = eqx.field(converter=as_number)
    factor: Number = eqx.field(converter=as_number)
    """One standard deviation of the logarithm as a factor, > 1."""
    logarithmic: bool = eqx.field(default=True, init=False, static=True)

    def __check_init__(self) -> None:
        require_positive("median", self.median)
        if not 1 < self.factor < math.inf:
            raise ValueError(f"`factor` must be > 1 and finite; got {self.factor:g}.")

    def quantile(self, share: Scalar) -> Scalar:
        return self.median * jnp.exp(jnp.log(self.factor) * _normal_quantile(share))

    def sample(self, key: Key) -> Scalar:
        return self.quantile(jax.random.uniform(key))

    def log_prob(self, value: Scalar) -> Scalar:
        inside = (value > 0) & (value < jnp.inf)
        log_value = jnp.log(jnp.maximum(jnp.where(inside, value, self.median), _TINY))
        spread = jnp.log(self.factor)
        scaled = (log_value - jnp.log(self.median)) / spread
        density = -0.5 * scaled * scaled - jnp.log(spread) - _HALF_LOG_TAU - log_value
        return jnp.where(inside, density, -jnp.inf)


def sample_each(key: Key, distributions: Sequence[Distribution]) -> Float[Array, " distributions"]:
    """Draw once from each distribution.

    One call of the generator for all: one for each takes seconds to compile. So does a number of shares that
    is no power of two, whose loop is unrolled; the first shares are the same.
    """
    number = len(distributions)
    shares = jax.random.uniform(key, (1 << (number - 1).bit_length(),))[:number]
    return jnp.array(
        [distribution.quantile(share) for distribution, share in zip(distributions, shares, strict=True)]
    )


def _normal_quantile(share: Scalar) -> Scalar:
    """Return the quantile of the standard normal distribution; a share of exactly 0 counts as 2⁻²⁵."""
    return math.sqrt(2) * jax.lax.erf_inv(2 * jnp.maximum(share, 2.0**-25) - 1)


def log_prob_each(distributions: Sequence[Distribution], values: Float[Array, " k"], start: Scalar) -> Scalar:
    """Return `start` plus the log densities of independent values."""
    return sum(
        (distribution.log_prob(values[at]) for at, distribution in enumerate(distributions)), start=start
    )


def require_names(distributions: Sequence[Distribution], named: Sequence[object]) -> None:
    """Raise a ValueError unless there is a name for each distribution."""
    if len(distributions) != len(named):
        raise ValueError(
            f"{len(distributions)} distributions for {len(named)} names: give each distribution a name."
        )
