"""Transitions: how the source may change between two readings. A constant source needs none."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Key, Scalar, Theta
from dowsax.world.base import Coordinates, Prior
from dowsax.world.conditional import log_prob_given, sample_given
from dowsax.world.positions import position_columns


def _as_floats(numbers: Iterable[Any]) -> tuple[float, ...]:
    return tuple(float(number) for number in numbers)


class Drift(eqx.Module):
    r"""A random walk in the prior's coordinates: $\Theta' = T^{-1}(T(\Theta) + \sigma\xi)$.

    `spread` is one standard deviation a reading for each coordinate. A particle that walks out of the prior's
    support loses its weight.
    """

    coordinates: Coordinates
    spread: tuple[float, ...] = eqx.field(converter=_as_floats, static=True)

    def sample(self, key: Key, theta: Theta) -> Theta:
        noise = jax.random.normal(key, theta.shape, theta.dtype)
        return self.coordinates.inverse(self.coordinates.forward(theta) + jnp.array(self.spread) * noise)

    def log_prob(self, new: Theta, old: Theta) -> Scalar:
        """Return the log density over Θ, Jacobian included; coordinates without spread do not count."""
        there = self.coordinates.forward(new)
        spreads = jnp.array(self.spread)
        moves = spreads > 0
        spread = jnp.where(moves, spreads, 1.0)
        scaled = jnp.where(moves, (there - self.coordinates.forward(old)) / spread, 0.0)
        log_terms = jnp.where(moves, -0.5 * scaled**2 - jnp.log(spread) - 0.5 * jnp.log(2 * jnp.pi), 0.0)
        return jnp.sum(log_terms) - self.coordinates.log_det(there)


class Jump(eqx.Module):
    """At each reading, with a small probability, the source jumps: its position is redrawn.

    The other columns of Θ persist. A filter lets `birth_share` of the particles jump at every reading, more
    than the hazard, and corrects their weights.

    Columns that jump must be independent of the others under the prior, or the prior must be `Conditional`.
    """

    hazard: float = eqx.field(default=0.01, static=True)
    """Probability of a jump at one reading."""
    birth_share: float = eqx.field(default=0.1, static=True)
    """Share of the particles that jump at each reading, at least the hazard."""
    columns: tuple[int, ...] = eqx.field(default=(), static=True)
    """The columns of Θ that are redrawn; empty: the position, as the prior says."""

    def __check_init__(self) -> None:
        if not 0 <= self.hazard < 1:
            raise ValueError(f"`hazard` must be a probability per reading in [0, 1); got {self.hazard}.")
        if not self.hazard <= self.birth_share < 1:
            raise ValueError(
                "`birth_share` must be a share of the particles, >= the hazard and < 1; "
                f"got {self.birth_share}."
            )

    def for_prior(self, prior: Prior) -> "Jump":
        """Return the jump with its columns named."""
        return replace(self, columns=self.columns or position_columns(prior))

    def sample(self, key: Key, prior: Prior, theta: Theta) -> Theta:
        """Draw Θ after a jump: the columns that jump, given those that persist."""
        return sample_given(key, prior, theta, self.for_prior(prior).columns)

    def log_prob(self, prior: Prior, theta: Theta) -> Scalar:
        """Return the log density of `sample`, up to a constant."""
        return log_prob_given(prior, theta, self.for_prior(prior).columns)
