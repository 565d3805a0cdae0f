"""Encoders: from a belief and a station to the observation of a network, scaled alike for every field."""

from typing import NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.inference.belief import empty_history
from dowsax.inference.scaling import latest_reading, prior_draws, scale_moments, scale_position, scale_reading
from dowsax.types import Key, Station, Theta
from dowsax.world import FOUR_MOVES, Model, Motion


class MomentObservation(NamedTuple):
    """The paper's state vector."""

    numbers: Float[Array, " numbers"]
    """[p, z, μ, σ], in [−1, 1]."""
    free: Bool[Array, " actions"]
    """Whether each move fits into the area."""


class ParticleObservation(NamedTuple):
    """A belief relative to the sensor, after the symmetry that moves its mean east and a little north."""

    particles: Float[Array, "m features"]
    numbers: Float[Array, " numbers"]
    order: Int[Array, " actions"]
    """The number of each action after the symmetry."""
    free: Bool[Array, " actions"]
    """Whether each move fits into the area; in the order of the actions before the symmetry."""


Observation = MomentObservation | ParticleObservation


@runtime_checkable
class Encoder(Protocol):
    """A map from a belief to an observation. It is finite for any belief, also one without particles."""

    def __call__(self, key: Key, belief: Belief, station: Station) -> Observation: ...


class MomentEncoder(eqx.Module):
    """The paper's s = [p, z, μ, σ], each in [−1, 1]; μ and σ in units of the prior's standard deviation."""

    centre: Theta
    scale: Theta
    motion: Motion = FOUR_MOVES

    @staticmethod
    def build(model: Model, motion: Motion = FOUR_MOVES) -> "MomentEncoder":
        """Build the encoder for a model."""
        draws = prior_draws(model.prior)
        return MomentEncoder(jnp.mean(draws, axis=0), jnp.std(draws, axis=0), motion)

    def __call__(self, key: Key, belief: Belief, station: Station) -> MomentObservation:
        del key
        place = scale_position(station.position, jnp.array(self.motion.low), jnp.array(self.motion.high))
        reading = scale_reading(latest_reading(belief.history))
        moments = scale_moments(belief, self.centre, self.scale)
        numbers = jnp.concatenate([place, reading[None], moments])
        return MomentObservation(jnp.nan_to_num(numbers), self.motion.free(station.position))


def observation_shapes(encoder: Encoder, model: Model) -> Observation:
    """Return the shapes of the observations of a model's beliefs, without computing one."""

    def encode() -> Observation:
        station, zeros = Station(jnp.zeros(2)), jnp.zeros(2)
        particles = jnp.zeros((2, len(model.prior.parameters)))
        history = empty_history(station, 2)
        belief = Belief(
            particles, zeros, zeros, jnp.zeros(2, jnp.int32), history, jnp.zeros(()), jnp.zeros(())
        )
        return encoder(jax.random.key(0), belief, station)

    return jax.eval_shape(encode)
