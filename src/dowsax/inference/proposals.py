"""Proposals for the moves. Each is exact given the frozen population.

The population is that before the moves, and no particle is paired with its own start. Its share of 1/n in the
covariance is the usual small error of adaptation.

All work on columns (d, n) in the prior's coordinates, and return the proposed columns with
$\\log q(\\Theta \\mid \\Theta') - \\log q(\\Theta' \\mid \\Theta)$.
"""

import math
from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.types import Key, Scalar

Columns = Float[Array, "d n"]
Ratios = Float[Array, " n"]


class Population(NamedTuple):
    """The particles before the moves, frozen: proposals adapt to them."""

    columns: Columns
    factor: Float[Array, "d d"]
    """Lower Cholesky factor of their covariance."""
    gradients: Columns | None
    """Gradient of the new log likelihood at each particle; only for proposals that need it."""


@runtime_checkable
class Proposal(Protocol):
    """A kernel's proposal, applied to all particles at once."""

    @property
    def needs_gradients(self) -> bool: ...
    def __call__(
        self, key: Key, current: Columns, population: Population, step_size: Scalar
    ) -> tuple[Columns, Ratios]: ...


def freeze(
    columns: Columns, log_weights: Float[Array, " n"] | None = None, gradients: Columns | None = None
) -> Population:
    """Return the population with its covariance, which has a floor for directions without width.

    Particles without `log_weights` count alike.
    """
    num_rows, num_particles = columns.shape
    weights = jnp.full(num_particles, 1 / num_particles) if log_weights is None else jnp.exp(log_weights)
    centred = columns - (columns @ weights)[:, None]
    covariance = (weights[None, :] * centred) @ centred.T
    floor = 1e-6 * jnp.trace(covariance) / num_rows + 1e-12
    factor = jnp.linalg.cholesky(covariance + floor * jnp.eye(num_rows, dtype=columns.dtype))
    # A covariance with an infinite entry has no factor: do not move rather than spread NaN.
    factor = jnp.where(jnp.all(jnp.isfinite(factor)), factor, jnp.zeros_like(factor))
    return Population(columns, factor, gradients)


class RandomWalk(eqx.Module):
    r"""$\Theta' = \Theta + h\, s\, L\xi$ with $LL^\top = \Sigma$ and $s$ log-uniform in `scales`.

    $h$ is the adapted step size times $2.38/\sqrt d$. Mixed scales help where the posterior is curved.
    """

    scales: tuple[float, float] = eqx.field(default=(0.3, 1.3), static=True)
    needs_gradients: bool = eqx.field(default=False, static=True)

    def __call__(
        self, key: Key, current: Columns, population: Population, step_size: Scalar
    ) -> tuple[Columns, Ratios]:
        noise_key, scale_key = jax.random.split(key)
        num_rows, num_particles = current.shape
        scale = step_size * 2.38 / math.sqrt(num_rows) * _draw_scale(scale_key, self.scales)
        noise = jax.random.normal(noise_key, current.shape, current.dtype)
        return current + scale * (population.factor @ noise), jnp.zeros(num_particles)


class DifferentialEvolution(eqx.Module):
    r"""$\Theta'_i = \Theta_i + \gamma\,(\Theta_a - \Theta_b)$ with $a \ne b$ two other frozen particles.

    Differences of the population follow its correlations and lead between its modes. Pairs are taken by
    rolling the population twice by random amounts: every other particle is equally likely, exchanging the two
    rolls reverses the step, and no gather and hardly any random numbers are needed.
    $\gamma$ is the adapted step size times $2.38/\sqrt{2d}$ times a log-uniform factor from `scales`.
    """

    scales: tuple[float, float] = eqx.field(default=(0.3, 1.3), static=True)
    needs_gradients: bool = eqx.field(default=False, static=True)

    def __call__(
        self, key: Key, current: Columns, population: Population, step_size: Scalar
    ) -> tuple[Columns, Ratios]:
        first_key, second_key, scale_key = jax.random.split(key, 3)
        num_rows, num_particles = current.shape
        difference = _difference(first_key, second_key, population)
        scale = step_size * 2.38 / math.sqrt(2 * num_rows) * _draw_scale(scale_key, self.scales)
        return current + scale * difference, jnp.zeros(num_particles)


class SourceEvolution(eqx.Module):
    r"""`DifferentialEvolution` of all rows, of those of one source, or of those that sources share.

    Which is drawn for each move. A share of the moves takes $\gamma = 1$: the difference of two particles
    then leads from one mode to another (ter Braak 2006).
    """

    blocks: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    """The rows of each source."""
    leap_share: float = eqx.field(default=0.15, static=True)
    scales: tuple[float, float] = eqx.field(default=(0.3, 1.3), static=True)
    needs_gradients: bool = eqx.field(default=False, static=True)

    def __call__(
        self, key: Key, current: Columns, population: Population, step_size: Scalar
    ) -> tuple[Columns, Ratios]:
        first_key, second_key, block_key, leap_key, scale_key = jax.random.split(key, 5)
        num_rows, num_particles = current.shape
        masks = self._masks(num_rows)
        chosen = jnp.asarray(masks)[jax.random.randint(block_key, (), 0, len(masks))]
        scale = step_size * 2.38 * jax.lax.rsqrt(2 * jnp.sum(chosen)) * _draw_scale(scale_key, self.scales)
        scale = jnp.where(jax.random.uniform(leap_key) < self.leap_share, 1.0, scale)
        step = scale * chosen[:, None] * _difference(first_key, second_key, population)
        return current + step, jnp.zeros(num_particles)

    def _masks(self, num_rows: int) -> np.ndarray:
        """Return what may move, (choices, num_rows), as often as it is to be drawn."""
        own = np.zeros((len(self.blocks), num_rows), np.float32)
        for mask, block in zip(own, self.blocks, strict=True):
            mask[list(block)] = 1.0
        shared = 1.0 - own.sum(axis=0, keepdims=True)
        parts = np.concatenate([own, shared]) if shared.any() else own
        return np.concatenate([parts, np.ones_like(own)])


class AttentionLangevin(eqx.Module):
    r"""$\Theta' = \Theta + \tfrac{h^2}{2} \Sigma\, b(\Theta) + h L \xi$ with an attention-weighted direction.

    $b(\Theta) = \sum_j \alpha_j(\Theta)\, \nabla \log p(o_k \mid \Theta_j)$ over the `num_neighbours` nearest
    frozen particles $j \ne i$, $\alpha_j \propto \exp(e \cdot e_j/\sqrt d)$ with whitened coordinates $e$.
    The direction depends on the state, so the reverse density uses the attention recomputed at the proposal;
    with the population frozen that makes the ratio exact.
    """

    num_neighbours: int = eqx.field(default=16, static=True)
    step: float = eqx.field(default=0.5, static=True)
    needs_gradients: bool = eqx.field(default=True, static=True)

    def __call__(
        self, key: Key, current: Columns, population: Population, step_size: Scalar
    ) -> tuple[Columns, Ratios]:
        step = self.step * step_size
        noise = jax.random.normal(key, current.shape, current.dtype)
        drift = 0.5 * step**2 * self.direction(current, population)
        proposed = current + population.factor @ (drift + step * noise)
        back = 0.5 * step**2 * self.direction(proposed, population)
        # In whitened coordinates both densities are spherical: compare the noise that leads there and back.
        returning = -(drift + step * noise + back) / step
        return proposed, 0.5 * (jnp.sum(noise**2, axis=0) - jnp.sum(returning**2, axis=0))

    def direction(self, columns: Columns, population: Population) -> Columns:
        r"""$L^\top b(\Theta_i)$ for every column."""
        assert population.gradients is not None
        centre = jnp.mean(population.columns, axis=1, keepdims=True)
        whiten = jax.scipy.linalg.solve_triangular
        keys = whiten(population.factor, population.columns - centre, lower=True)
        queries = whiten(population.factor, columns - centre, lower=True)
        num_rows, num_particles = columns.shape
        products = queries.T @ keys
        distances = jnp.sum(keys**2, axis=0)[None, :] - 2 * products
        distances = distances.at[jnp.arange(num_particles), jnp.arange(num_particles)].set(jnp.inf)
        _, nearest = jax.lax.top_k(-distances, min(self.num_neighbours, num_particles - 1))
        scores = jnp.take_along_axis(products, nearest, axis=1) / math.sqrt(num_rows)
        attention = jax.nn.softmax(scores, axis=1)
        gradients = population.gradients[:, nearest]
        return population.factor.T @ jnp.sum(attention[None, :, :] * gradients, axis=2)


def _difference(first_key: Key, second_key: Key, population: Population) -> Columns:
    """Return the difference of two other particles for each: the population rolled by two random amounts."""
    num_particles = population.columns.shape[1]
    # Shifts 1 … n−1, so that no particle meets its own start, and never the same twice.
    first = jax.random.randint(first_key, (), 1, num_particles)
    second = 1 + (first - 1 + jax.random.randint(second_key, (), 1, num_particles - 1)) % (num_particles - 1)
    return jnp.roll(population.columns, first, axis=1) - jnp.roll(population.columns, second, axis=1)


def _draw_scale(key: Key, scales: tuple[float, float]) -> Scalar:
    """Draw one log-uniform factor for all particles of a move: random numbers are expensive."""
    low, high = (math.log(scale) for scale in scales)
    return jnp.exp(jax.random.uniform(key, minval=low, maxval=high))
