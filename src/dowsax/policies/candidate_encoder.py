"""The observation of a network that scores candidates: those of any problem, however many there are.

Lengths are in units of the diagonal of the area, and information in nats, so that neither the size of the
area nor the unit of the sensor matters.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.summaries import location_spread, mean_position
from dowsax.policies.encoders import CandidateObservation, MomentEncoder
from dowsax.policies.particle_encoder import expected_gains
from dowsax.types import Key, Scalar, Station
from dowsax.world import FOUR_MOVES, ActionSpace, Budget, Candidates, Model

_MIN_SPREAD = 1e-4
"""Of the diagonal, before its logarithm."""


class CandidateEncoder(eqx.Module):
    """For each candidate: where it is, how far from the mean and from earlier readings, its cost, and what a
    reading there should tell. For the search: the paper's state, the spread, and what is left of the budget.
    """

    model: Model
    moments: MomentEncoder
    diagonal: float
    """[m], of the area."""
    num_particles: int = eqx.field(default=16, static=True)
    """Drawn from the belief, and readings simulated at each candidate."""

    def __check_init__(self) -> None:
        if self.num_particles < 2:
            raise ValueError(f"`num_particles` must be at least 2; got {self.num_particles}.")

    @staticmethod
    def build(model: Model, actions: ActionSpace = FOUR_MOVES, num_particles: int = 16) -> "CandidateEncoder":
        """Build the encoder for a model and its actions."""
        diagonal = float(np.linalg.norm(np.subtract(actions.high, actions.low)))
        return CandidateEncoder(model, MomentEncoder.build(model, actions), diagonal, num_particles)

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> CandidateObservation:
        state = self.moments(key, belief, station, candidates, budget).numbers
        spread = jnp.minimum(location_spread(belief) / self.diagonal, 1.0)
        numbers = jnp.stack([spread, jnp.log(spread + _MIN_SPREAD), *self._spent(candidates, budget)])
        return CandidateObservation(
            jnp.nan_to_num(self._features(key, belief, station, candidates, budget)),
            jnp.nan_to_num(jnp.concatenate([state, numbers])),
            candidates.mask,
        )

    def _features(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> Float[Array, "actions features"]:
        places = candidates.places
        offsets = (places - station.position[None, :]) / self.diagonal
        from_mean = jnp.linalg.norm(places - mean_position(belief)[None, :], axis=1)
        width = jnp.maximum(location_spread(belief), _MIN_SPREAD * self.diagonal)
        draw_key, noise_key = jax.random.split(key)
        drawn = systematic(draw_key, belief.log_weights, self.num_particles)
        gains = expected_gains(noise_key, self.model, belief.particles[drawn], station, places)
        columns = [
            candidates.way / self.diagonal,
            from_mean / self.diagonal,
            jnp.tanh(from_mean / width),
            self._apart(belief, places),
            jnp.clip(budget.shares(candidates), 0.0, 1.0),
            gains / math.log(self.num_particles),
        ]
        return jnp.concatenate([offsets, jnp.stack(columns, axis=1)], axis=1)

    def _apart(self, belief: Belief, places: Float[Array, "actions axes"]) -> Float[Array, " actions"]:
        """Return the distance of each place to the nearest reading, at most the diagonal."""
        visited = belief.history.stations.position
        is_read = jnp.arange(visited.shape[0]) < belief.history.size
        squares = jnp.sum((places[:, None, :] - visited[None, :, :]) ** 2, axis=2)
        nearest = jnp.sqrt(jnp.min(jnp.where(is_read[None, :], squares, jnp.inf), axis=1))
        return jnp.minimum(nearest / self.diagonal, 1.0)

    def _spent(self, candidates: Candidates, budget: Budget) -> tuple[Scalar, Scalar, Scalar]:
        """Return how scarce readings, way and time are: 0 without a limit, and near 1 at the end."""
        seconds = jnp.max(candidates.seconds)
        left = jnp.asarray(budget.readings), jnp.asarray(budget.distance), jnp.asarray(budget.time)
        readings, distance, time = (jnp.maximum(part, 0.0) for part in left)
        one = jnp.ones(())
        return one / (one + readings), self.diagonal / (self.diagonal + distance), seconds / (seconds + time)
