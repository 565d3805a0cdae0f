"""Coordinates for moves over several plumes in one wind."""

import math

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.types import Scalar, Theta
from dowsax.world.priors.plume_coordinates import PlumeCoordinates

_TINY = 1e-30


class SeveralPlumesCoordinates(eqx.Module):
    r"""$(x_1, y_1, \log A_1, v_x, v_y, \log\lambda, x_2, y_2, \log A_2, \ldots, t)$ with $A_k = q_k/\alpha$.

    As for one plume (`PlumeCoordinates`), the field depends on α through the $A_k$ and $v$ only. Given these,
    the prior density of α is $\propto \alpha^{K+1}$ between the bounds that all strengths and the wind leave,
    and $t$ is its share below α, which no reading tells. An unknown number of sources is the last
    column of Θ and the last coordinate but $t$.
    """

    single: PlumeCoordinates
    number: int = eqx.field(static=True)
    free: int = eqx.field(default=1, static=True)

    def forward(self, theta: Theta) -> Theta:
        first = self.single.forward(theta[:7])
        diffusivity = theta[5]
        end = 4 + 3 * self.number
        others = theta[7:end].reshape(self.number - 1, 3)
        log_ratios = jnp.log(jnp.maximum(others[:, 2], _TINY) / diffusivity)
        low, high = self._bounds(first[2], log_ratios, first[3], first[4])
        share = _powered(low, diffusivity, self._power) / jnp.maximum(_powered(low, high, self._power), _TINY)
        own = jnp.column_stack([others[:, :2], log_ratios]).reshape(-1)
        return jnp.concatenate([first[:6], own, theta[end:], jnp.clip(share, 0.0, 1.0)[None]])

    def inverse(self, coordinates: Theta) -> Theta:
        diffusivity, others, log_ratios = self._diffusivity(coordinates)
        x, y, log_ratio, drift_x, drift_y, log_length = coordinates[:6]
        longest = math.log(self.single.max_decay_length) + 1
        first = jnp.stack(
            [
                x,
                y,
                diffusivity * self.single.ratio(log_ratio),
                2 * diffusivity * drift_x,
                2 * diffusivity * drift_y,
                diffusivity,
                jnp.exp(jnp.minimum(log_length, longest)),
            ]
        )
        strengths = diffusivity * self.single.ratio(log_ratios)
        own = jnp.column_stack([others[:, :2], strengths]).reshape(-1)
        return jnp.concatenate([first, own, coordinates[3 + 3 * self.number : -1]])

    def log_det(self, coordinates: Theta) -> Scalar:
        r"""$\log\big(\tfrac{4}{K+2} \lambda \alpha \prod A_k (\text{hi}^{K+2} - \text{lo}^{K+2})\big)$."""
        diffusivity, _, log_ratios = self._diffusivity(coordinates)
        log_ratio, drift_x, drift_y, log_length = coordinates[2:6]
        low, high = self._bounds(log_ratio, log_ratios, drift_x, drift_y)
        share = coordinates[-1]
        inside = (high > low) & (share >= 0) & (share <= 1)
        volume = jnp.where(inside, diffusivity * _powered(low, high, self._power), 1.0)
        log_volume = (
            math.log(4 / self._power) + log_ratio + jnp.sum(log_ratios) + log_length + jnp.log(volume)
        )
        return jnp.where(inside, log_volume, -jnp.inf)

    @property
    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The coordinates of each source."""
        others = (6 + 3 * number for number in range(self.number - 1))
        return ((0, 1, 2), *((start, start + 1, start + 2) for start in others))

    @property
    def _power(self) -> int:
        return self.number + 2

    def _bounds(
        self, log_ratio: Scalar, log_ratios: Float[Array, " others"], drift_x: Scalar, drift_y: Scalar
    ) -> tuple[Scalar, Scalar]:
        """Return the bounds of α; the lower one is not below the upper where no diffusivity fits."""
        low, high = self.single.bounds(log_ratio, drift_x, drift_y)
        ratios = self.single.ratio(log_ratios)
        low = jnp.maximum(low, jnp.max(self.single.strength[0] / ratios))
        return low, jnp.minimum(high, jnp.min(self.single.strength[1] / ratios))

    def _diffusivity(
        self, coordinates: Theta
    ) -> tuple[Scalar, Float[Array, "others 3"], Float[Array, " others"]]:
        """Return α, the other sources in coordinates, and their log ratios."""
        others = coordinates[6 : 3 + 3 * self.number].reshape(self.number - 1, 3)
        low, high = self._bounds(coordinates[2], others[:, 2], coordinates[3], coordinates[4])
        high = jnp.maximum(high, low)
        share = jnp.clip(coordinates[-1], 0.0, 1.0)
        power = low**self._power + share * _powered(low, high, self._power)
        return jnp.clip(jnp.exp(jnp.log(power) / self._power), low, high), others, others[:, 2]


def _powered(low: Scalar, high: Scalar, power: int) -> Scalar:
    r"""$\text{hi}^p - \text{lo}^p$, without the cancellation."""
    terms = (high ** (power - 1 - at) * low**at for at in range(power))
    return (high - low) * sum(terms, start=jnp.zeros(()))
