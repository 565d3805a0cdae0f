"""Smooth distributions of the source position in a box."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import xlogy
from jaxtyping import Array, Bool

from dowsax.types import Key, Number, Position, Scalar
from dowsax.world.ranges import Numbers, Pair, as_numbers, pair, require_box, require_positive

Triple = tuple[float, float, float]
_LOW_M, _HIGH_M = (5.0, 5.0), (20.0, 20.0)
"""The square of the benchmark."""


class UniformBox(eqx.Module):
    """Uniform on a box."""

    low: Numbers = eqx.field(default=_LOW_M, converter=as_numbers)
    high: Numbers = eqx.field(default=_HIGH_M, converter=as_numbers)

    def __check_init__(self) -> None:
        require_box(self.low, self.high)

    def sample(self, key: Key) -> Position:
        return jax.random.uniform(key, (2,), minval=jnp.array(self.low), maxval=jnp.array(self.high))

    def log_prob(self, position: Position) -> Scalar:
        inside = _within(position, self.low, self.high)
        return jnp.where(inside, -jnp.log(_area(self.low, self.high)), -jnp.inf)


class BetaBox(eqx.Module):
    r"""Independent $\text{Beta}(a_i, b_i)$ along each axis of a box; a, b ≥ 1 keep the density bounded."""

    first: Pair = eqx.field(default=(2.0, 2.0), converter=pair, static=True)
    """$a$: a larger value pushes to the high side."""
    second: Pair = eqx.field(default=(2.0, 2.0), converter=pair, static=True)
    """$b$: a larger value pushes to the low side."""
    low: Pair = eqx.field(default=_LOW_M, converter=pair, static=True)
    high: Pair = eqx.field(default=_HIGH_M, converter=pair, static=True)

    def __check_init__(self) -> None:
        require_box(self.low, self.high)
        if min(*self.first, *self.second) < 1:
            raise ValueError(f"Beta parameters must be at least 1; got {self.first} and {self.second}.")

    def sample(self, key: Key) -> Position:
        share = jax.random.beta(key, jnp.array(self.first), jnp.array(self.second))
        return _from_share(share, self.low, self.high)

    def log_prob(self, position: Position) -> Scalar:
        share = _to_share(position, self.low, self.high)
        log_norm = math.log(_area(self.low, self.high))
        for first, second in zip(self.first, self.second, strict=True):
            log_norm += math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)
        kernel = xlogy(jnp.array(self.first) - 1, share) + xlogy(jnp.array(self.second) - 1, 1 - share)
        return jnp.where(_within(position, self.low, self.high), jnp.sum(kernel) - log_norm, -jnp.inf)


class GaussianBox(eqx.Module):
    """Independent normal distributions along each axis, truncated to a box."""

    centre: Pair = eqx.field(default=(12.5, 12.5), converter=pair, static=True)
    spread: Pair = eqx.field(default=(2.5, 2.5), converter=pair, static=True)
    """[m], standard deviations before the truncation."""
    low: Pair = eqx.field(default=_LOW_M, converter=pair, static=True)
    high: Pair = eqx.field(default=_HIGH_M, converter=pair, static=True)

    def __check_init__(self) -> None:
        require_box(self.low, self.high)
        require_positive("spread", min(self.spread))
        if min(self._masses) < 1e-6:
            raise ValueError(
                "The box must hold at least 1e-6 of the normal distribution: move its centre or widen it."
            )

    @property
    def _masses(self) -> Pair:
        """The mass of each untruncated normal distribution in the box."""

        def mass(centre: float, spread: float, low: float, high: float) -> float:
            scaled = ((bound - centre) / (spread * math.sqrt(2)) for bound in (low, high))
            below, above = (math.erfc(-bound) / 2 for bound in scaled)
            return above - below

        return pair([mass(*axis) for axis in zip(self.centre, self.spread, self.low, self.high, strict=True)])

    def sample(self, key: Key) -> Position:
        centre, spread = jnp.array(self.centre), jnp.array(self.spread)
        low, high = jnp.array(self.low), jnp.array(self.high)
        scaled = jax.random.truncated_normal(key, (low - centre) / spread, (high - centre) / spread, (2,))
        return jnp.clip(centre + spread * scaled, low, high)

    def log_prob(self, position: Position) -> Scalar:
        residual = (position - jnp.array(self.centre)) / jnp.array(self.spread)
        log_norm = math.log(2 * math.pi * math.prod(self.spread) * math.prod(self._masses))
        inside = _within(position, self.low, self.high)
        return jnp.where(inside, -0.5 * jnp.sum(residual * residual) - log_norm, -jnp.inf)


class DirichletBox(eqx.Module):
    r"""The first two components of $\text{Dirichlet}(a_1, a_2, a_3)$, scaled to a box: its lower triangle."""

    concentration: Triple = eqx.field(default=(2.0, 2.0, 2.0), static=True)
    low: Pair = eqx.field(default=_LOW_M, converter=pair, static=True)
    high: Pair = eqx.field(default=_HIGH_M, converter=pair, static=True)

    def __check_init__(self) -> None:
        require_box(self.low, self.high)
        if min(self.concentration) < 1:
            raise ValueError(f"Dirichlet parameters must be at least 1; got {self.concentration}.")

    def sample(self, key: Key) -> Position:
        share = jax.random.dirichlet(key, jnp.array(self.concentration))
        return _from_share(share[:2], self.low, self.high)

    def log_prob(self, position: Position) -> Scalar:
        share = _to_share(position, self.low, self.high)
        rest = 1 - share[0] - share[1]
        log_norm = sum(map(math.lgamma, self.concentration)) - math.lgamma(sum(self.concentration))
        log_norm += math.log(_area(self.low, self.high))
        components = jnp.maximum(jnp.stack([share[0], share[1], rest]), 0.0)
        kernel = jnp.sum(xlogy(jnp.array(self.concentration) - 1, components))
        # The third component is a difference, so that rounding may put it just below zero at the edge.
        inside = _within(position, self.low, self.high) & (rest >= 0)
        return jnp.where(inside, kernel - log_norm, -jnp.inf)


def _area(low: Numbers, high: Numbers) -> Number:
    return (high[0] - low[0]) * (high[1] - low[1])


def _within(position: Position, low: Numbers, high: Numbers) -> Bool[Array, ""]:
    return jnp.all((position >= jnp.array(low)) & (position <= jnp.array(high)))


def _to_share(position: Position, low: Pair, high: Pair) -> Position:
    """Return the position as shares of the box's sides, clipped to [0, 1] so that no logarithm fails."""
    bottom, top = jnp.array(low), jnp.array(high)
    return jnp.clip((position - bottom) / (top - bottom), 0.0, 1.0)


def _from_share(share: Position, low: Pair, high: Pair) -> Position:
    bottom, top = jnp.array(low), jnp.array(high)
    return jnp.clip(bottom + share * (top - bottom), bottom, top)
