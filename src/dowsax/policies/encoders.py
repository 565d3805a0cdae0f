"""Encoders: from a belief and a station to the observation of a network, scaled alike for every field."""

from dataclasses import fields, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference import Belief
from dowsax.inference.belief import empty_history
from dowsax.inference.scaling import latest_reading, prior_draws, scale_moments, scale_position, scale_reading
from dowsax.types import Key, Station, Theta, Trail
from dowsax.world import FOUR_MOVES, ActionSpace, Budget, Candidates, Model, position_columns


class MomentObservation(NamedTuple):
    """The paper's state vector."""

    numbers: Float[Array, " numbers"]
    """[p, z, μ, σ], in [−1, 1]."""
    free: Bool[Array, " actions"]
    """Whether each candidate can be reached."""


class ParticleObservation(NamedTuple):
    """A belief relative to the sensor, after the symmetry that moves its mean east and a little north."""

    particles: Float[Array, "m features"]
    numbers: Float[Array, " numbers"]
    order: Int[Array, " actions"]
    """The number of each action after the symmetry."""
    free: Bool[Array, " actions"]
    """Whether each move can be made; in the order of the actions before the symmetry."""


class CandidateObservation(NamedTuple):
    """The candidates of any problem, each with what makes it good, and the state of the search."""

    candidates: Float[Array, "actions features"]
    numbers: Float[Array, " numbers"]
    free: Bool[Array, " actions"]
    """Whether each candidate can be reached."""
    offsets: Float[Array, "actions axes"]
    """Of the candidates from the sensor, in units of the stop radius."""
    particles: Float[Array, "m axes"]
    """Offsets of some particles from the sensor, in units of the stop radius; of equal weight."""
    signals: Float[Array, "actions m"]
    """What a reading at each candidate tells for each particle, against no source: log(1 + nats)."""


Observation = MomentObservation | ParticleObservation | CandidateObservation


@runtime_checkable
class Encoder(Protocol):
    """A map from a belief to an observation. It is finite for any belief, also one without particles."""

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Observation: ...


class MomentEncoder(eqx.Module):
    """The paper's s = [p, z, μ, σ], each in [−1, 1]; μ and σ in units of the prior's standard deviation."""

    centre: Theta
    scale: Theta
    actions: ActionSpace = FOUR_MOVES

    @staticmethod
    def build(model: Model, actions: ActionSpace = FOUR_MOVES) -> "MomentEncoder":
        """Build the encoder for a model."""
        draws = prior_draws(model.prior)
        return MomentEncoder(jnp.mean(draws, axis=0), jnp.std(draws, axis=0), actions)

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> MomentObservation:
        del key, budget
        place = scale_position(station.position, jnp.array(self.actions.low), jnp.array(self.actions.high))
        reading = scale_reading(latest_reading(belief.history))
        moments = scale_moments(belief, self.centre, self.scale)
        numbers = jnp.concatenate([place, reading[None], moments])
        return MomentObservation(jnp.nan_to_num(numbers), candidates.mask)


def observation_shapes(encoder: Encoder, model: Model, actions: ActionSpace = FOUR_MOVES) -> Observation:
    """Return the shapes of the observations of a model's beliefs, without computing one."""

    def encode() -> Observation:
        num_axes = len(actions.low)
        station, zeros = _complete_station(num_axes), jnp.zeros(2)
        particles = jnp.zeros((2, len(model.prior.parameters)))
        history = empty_history(station, 2)
        belief = Belief(
            particles,
            zeros,
            zeros,
            jnp.zeros(2, jnp.int32),
            history,
            jnp.zeros(()),
            jnp.zeros(()),
            position_columns=position_columns(model.prior),
        )
        ways = jnp.zeros(actions.num_actions)
        candidates = Candidates(jnp.zeros((actions.num_actions, num_axes)), ways, ways, ways > 0)
        return encoder(jax.random.key(0), belief, station, candidates, Budget())

    return jax.eval_shape(encode)


def _complete_station(num_axes: int) -> Station:
    """Return a station with everything that a field or sensor may need."""

    def stations(*batch: int) -> Station:
        given: dict[str, Any] = {field.name: jnp.zeros(batch) for field in fields(Station)}
        given |= {"position": jnp.zeros((*batch, num_axes)), "wind": jnp.zeros((*batch, 2))}
        # The encoders do not use earlier readings, and no policy is stored for open paths.
        given.update(sensor=jnp.zeros(batch, jnp.int32), trail=None, earlier=None, far_end=None)
        given["searcher"] = None
        return Station(**given)

    return replace(stations(), trail=Trail(stations(2), jnp.zeros(2)))
