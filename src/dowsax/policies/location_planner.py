"""The planner of sites: what a reading tells about the location, per share of the budget.

The gain of a candidate is the information of a reading there about the location at the resolution of the stop
rule. What it tells about strength, wind, background or noise alone counts for nothing.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.weights import normalise
from dowsax.policies.base import Action, choose_best
from dowsax.policies.lookahead import simulate_log_likelihoods
from dowsax.types import Key, Position, Scalar, Station
from dowsax.world import Budget, Candidates, Model, without_source
from dowsax.world.trails import move_station

RADIUS_95 = 2.45
"""The radius [σ] of the disc that holds 95 % of a round normal distribution."""
_BATCH_SIZE = 8
"""Candidates that are evaluated at once, to bound the memory."""
_SKEW = 3.0
"""How many more of the simulated sources are strong than weak at the candidate: see `_levels`."""
_SPACING = 0.5
"""The width of the kernel, in units of what would suit a normal distribution (Silverman 1986)."""
# A GPU would otherwise round the factors of a product to ten bits.
_PRECISION = jax.lax.Precision.HIGHEST


class Places(NamedTuple):
    """The particles that the planner reweights, and how near to each other they are."""

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    kernel: Float[Array, "n n"]
    """One for particles at the same place, falling to zero with their distance."""


class LocationPlanner(eqx.Module):
    r"""Go where the gain per cost is highest; the cost is the share of what is left of the budget.

    The gain is $\mathbb E_z \sum_i w_i^+(z) \log (\bar p_i(z) / p(z))$ [nats], with $\bar p_i$ the likelihood
    of the other particles near particle i, in the mean: the mutual information of reading and location. That
    of the particle itself would know its strength, background and noise as well. Near is what the kernel
    covers: it is as wide as `scale`, or as the particles lie apart.
    """

    model: Model
    scale: float | Scalar
    """[m], within which it does not matter where the source is."""
    num_readings: int = eqx.field(default=32, static=True)
    """Simulated at each candidate."""
    num_particles: int = eqx.field(default=512, static=True)
    """Of the belief that are reweighted."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Action:
        number, _ = self.choose(key, belief, station, candidates, budget)
        return number

    def choose(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> tuple[Action, Scalar]:
        """Return the number of a candidate, and the expected gain [nats] of a reading there."""
        gain_key, tie_key = jax.random.split(key)
        gains = self.expected_gains(gain_key, belief, station, candidates)
        number = choose_best(tie_key, gains / budget.shares(candidates), candidates.mask)
        return number, gains[number]

    def expected_gains(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates
    ) -> Float[Array, " k"]:
        """Return the expected gain [nats] of a reading at each candidate, never negative."""
        thin_key, noise_key = jax.random.split(key)
        places = self._places(thin_key, belief)
        noise_keys = jax.random.split(noise_key, self.num_readings)
        levels, shares = _levels(self.num_readings)
        near = _near(jnp.exp(places.log_weights)[None, :], places.kernel)

        def gain_at(place: Position) -> Scalar:
            there = move_station(station, place)
            sources = places.particles[_members_by_signal(self.model, places, there, levels)]
            terms = simulate_log_likelihoods(noise_keys, self.model, places.particles, sources, there)
            posteriors = jnp.exp(jax.vmap(normalise)(places.log_weights[None, :] + terms))
            ratios = jnp.log(_near(posteriors, places.kernel)) - jnp.log(near)
            return jnp.sum(shares * jnp.sum(posteriors * ratios, axis=1))

        gains = jax.lax.map(gain_at, candidates.positions, batch_size=_BATCH_SIZE)
        return jnp.maximum(jnp.nan_to_num(gains), 0.0)

    def _places(self, key: Key, belief: Belief) -> Places:
        """Return at most `num_particles` particles, of equal weight where there were more."""
        particles, log_weights = belief.particles, normalise(belief.log_weights)
        if particles.shape[0] > self.num_particles:
            particles = particles[systematic(key, log_weights, self.num_particles)]
            log_weights = jnp.full(self.num_particles, -jnp.log(self.num_particles))
        positions = particles[:, :2]
        weights = jnp.exp(log_weights)
        centred = positions - jnp.matmul(weights, positions, precision=_PRECISION)[None, :]
        spread = jnp.sqrt(jnp.sum(jnp.matmul(weights, centred**2, precision=_PRECISION)) / 2)
        width = jnp.maximum(self.scale, _SPACING * spread * self.num_particles ** (-1 / 6))
        squares = jnp.sum((positions[:, None, :] - positions[None, :, :]) ** 2, axis=2)
        kernel = jnp.exp(-0.5 * squares / width**2) * (1 - jnp.eye(squares.shape[0]))
        return Places(particles, log_weights, kernel)


def _levels(number: int) -> tuple[Float[Array, " readings"], Float[Array, " readings"]]:
    """Return levels of a distribution function, dense at the top, and what each of them stands for.

    A source near the candidate is rare and decides what a reading there tells. Sources at even levels would
    be near in none of the simulated readings or in one, by chance.
    """
    even = (jnp.arange(number) + 0.5) / number
    shares = (1 - even) ** (_SKEW - 1)
    return 1 - (1 - even) ** _SKEW, shares / jnp.sum(shares)


def _members_by_signal(model: Model, places: Places, there: Station, levels: Array) -> Array:
    """Return the particles at these levels of the signal, the reading with the source less that without."""
    null = without_source(model)
    signals = jax.vmap(lambda theta: model.intensity(theta, there) - null.intensity(theta, there))(
        places.particles
    )
    order = jnp.argsort(jnp.abs(signals))
    cumulative = jnp.cumsum(jnp.exp(places.log_weights)[order])
    return order[jnp.minimum(jnp.searchsorted(cumulative, levels * cumulative[-1]), order.shape[0] - 1)]


def _near(weights: Float[Array, "readings n"], kernel: Float[Array, "n n"]) -> Float[Array, "readings n"]:
    """Return the weight of the other particles near each particle, and a little more."""
    return jnp.matmul(weights, kernel, precision=_PRECISION) + 1 / weights.shape[1]
