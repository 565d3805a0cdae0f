"""The observation of a network that scores candidates: those of any problem, however many there are.

Lengths are in units of the stop radius, the spread of the belief and the diagonal of the area. Costs are
shares of the budget, and readings are compared by their log-likelihoods [nats]. So neither sizes nor units
matter. There are only lengths and angles between places, so that turns and mirrors do not matter either.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dowsax.inference import Belief, systematic
from dowsax.inference.replay import reading_log_likelihood
from dowsax.inference.weights import normalise
from dowsax.policies.encoders import CandidateObservation
from dowsax.policies.location_planner import RADIUS_95, LocationPlanner
from dowsax.policies.lookahead import simulate_log_likelihoods
from dowsax.types import Key, Position, Scalar, Station
from dowsax.world import (
    FOUR_MOVES,
    ActionSpace,
    Budget,
    Candidates,
    Model,
    PolicyMismatch,
    source_columns,
    without_source,
)
from dowsax.world.trails import move_station

_MIN_LENGTH = 1e-3
"""Of the stop radius, for what is divided by."""
_MIN_GAIN = 1e-3
"""[nats], of a gain before its logarithm."""
_MAX_NUMBER = 1e3
"""In an observation: nothing overflows, also where the belief has no particle left."""
_MAX_LOG = 12.0
"""Of logarithms in the observation."""
_NEAR = 3.0
"""Radii within which the belief and earlier readings are near to a candidate."""
_PRECISION = jax.lax.Precision.HIGHEST


class Shape(NamedTuple):
    """The belief on the location of the source."""

    weights: Float[Array, " n"]
    positions: Float[Array, "n axes"]
    mean: Position
    covariance: Float[Array, "axes axes"]
    spread: Scalar
    """[m], root mean square of the standard deviations along the axes."""


class CandidateEncoder(eqx.Module):
    """For each candidate: where it is, what it costs, what a reading there should tell, how near the belief
    and earlier readings are. For the search: spread and form of the belief, and what is left of the budget.
    """

    model: Model
    planner: LocationPlanner
    """Whose gains are observed."""
    radius: float | Scalar
    """[m], of the stop rule."""
    diagonal: Scalar
    """[m], of the area."""
    num_particles: int = eqx.field(default=32, static=True)
    """Drawn from the belief, and readings simulated at each candidate."""

    def __check_init__(self) -> None:
        if self.num_particles < 2:
            raise ValueError(f"`num_particles` must be at least 2; got {self.num_particles}.")

    @staticmethod
    def build(
        model: Model,
        actions: ActionSpace = FOUR_MOVES,
        radius: float | Scalar = 1.0,
        num_particles: int = 32,
        num_readings: int = 8,
        num_reweighted: int = 256,
    ) -> "CandidateEncoder":
        """Build the encoder for a model, its actions and the radius [m] of the stop rule.

        The gains are those of the planner with `num_readings` and `num_reweighted` particles.
        """
        if source_columns(model.prior) is not None:
            raise PolicyMismatch("one source: choose location-gain for several.")
        planner = LocationPlanner(
            model, radius / RADIUS_95, num_readings=num_readings, num_particles=num_reweighted
        )
        sides = jnp.asarray(actions.high, jnp.float32) - jnp.asarray(actions.low, jnp.float32)
        return CandidateEncoder(model, planner, radius, jnp.linalg.norm(sides), num_particles)

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> CandidateObservation:
        draw_key, noise_key, gain_key = jax.random.split(key, 3)
        shape = _shape_of(belief)
        drawn = systematic(draw_key, belief.log_weights, self.num_particles)
        between, information, signals = self._predict(
            noise_key, belief.particles[drawn], station, candidates.places
        )
        targets = jax.tree.map(lambda leaf: leaf[:, None], candidates.targets)
        gains = self.planner.expected_gains(gain_key, belief, station, targets, candidates.mask)
        columns = [
            *self._geometry(shape, station, candidates),
            *_utilities(gains, budget.shares(candidates), candidates),
            between,
            information / math.log(self.num_particles),
            jnp.mean(signals, axis=1),
            *self._masses(shape, candidates.places),
            *self._coverage(belief, shape, candidates.places),
        ]
        best = jnp.max(jnp.where(candidates.mask, between, 0.0))
        numbers = [
            *self._form(shape, station, shape.positions[drawn]),
            *self._left(candidates, budget),
            _log(jnp.max(jnp.where(candidates.mask, gains, 0.0))),
            best,
        ]
        from_here = lambda places: (places - station.position[None, :]) / self.radius  # noqa: E731
        observation = CandidateObservation(
            jnp.stack(columns, axis=1),
            jnp.stack(numbers),
            candidates.mask,
            from_here(candidates.places),
            from_here(shape.positions[drawn]),
            signals,
        )
        return jax.tree.map(_bound, observation)

    def _geometry(
        self, shape: Shape, station: Station, candidates: Candidates
    ) -> list[Float[Array, " actions"]]:
        """Lengths of the way and from the mean of the belief, and the angle between the two directions."""
        offsets, to_mean = candidates.places - station.position[None, :], shape.mean - station.position
        lengths, length = _norm(offsets), _norm(to_mean)
        from_mean = candidates.places - shape.mean[None, :]
        distances = _norm(from_mean)
        tiny = _MIN_LENGTH * self.radius
        directions = from_mean / jnp.maximum(distances, tiny)[:, None]
        along = jnp.sqrt(jnp.einsum("ka,ab,kb->k", directions, shape.covariance, directions))
        return [
            candidates.way / self.diagonal,
            jnp.log1p(candidates.way / self.radius),
            candidates.way / (candidates.way + shape.spread),
            distances / self.diagonal,
            jnp.log1p(distances / self.radius),
            distances / (distances + along + tiny),
            jnp.matmul(offsets, to_mean, precision=_PRECISION) / jnp.maximum(lengths * length, tiny**2),
        ]

    def _predict(
        self,
        key: Key,
        particles: Float[Array, "m d"],
        station: Station,
        places: Float[Array, "actions axes"],
    ) -> tuple[Float[Array, " actions"], Float[Array, " actions"], Float[Array, "actions m"]]:
        """Return how far readings of different particles are apart, and from one without a source [log nats];
        and the mutual information [nats] of the reading and the particle.

        In normal noise the first two are half the squared difference in units of the noise.
        """
        number = particles.shape[0]
        keys, null = jax.random.split(key, number), without_source(self.model)

        def predict(place: Position) -> tuple[Scalar, Scalar, Float[Array, " m"]]:
            there = move_station(station, place)
            terms = simulate_log_likelihoods(keys, self.model, particles, particles, there, approximate=True)
            readings = jax.vmap(self.model.sketch_reading, in_axes=(0, 0, None))(keys, particles, there)
            absent = jax.vmap(
                lambda theta, reading: reading_log_likelihood(null, theta[:, None], there, reading)[0]
            )(particles, readings)
            own = jnp.diagonal(terms)
            information = jnp.mean(own - jax.nn.logsumexp(terms, axis=1)) + math.log(number)
            between = jnp.mean(own[:, None] - terms)
            return _log1p(between), jnp.clip(information, 0.0, math.log(number)), _log1p(own - absent)

        return jax.vmap(predict)(places)

    def _masses(self, shape: Shape, places: Float[Array, "actions axes"]) -> list[Float[Array, " actions"]]:
        """Return the mass of the belief within three radii of each candidate."""
        distances = _norm(places[:, None, :] - shape.positions[None, :, :])
        radii = self.radius, _NEAR * self.radius, shape.spread
        return [
            jnp.sum(jnp.where(distances <= radius, shape.weights[None, :], 0.0), axis=1) for radius in radii
        ]

    def _coverage(
        self, belief: Belief, shape: Shape, places: Float[Array, "actions axes"]
    ) -> list[Float[Array, " actions"]]:
        """Return how near earlier readings are to each candidate, and how many."""
        visited = belief.history.stations.position
        is_read = (jnp.arange(visited.shape[0]) < belief.history.size)[None, :]
        distances = jnp.where(is_read, _norm(places[:, None, :] - visited[None, :, :]), jnp.inf)
        nearest = jnp.minimum(jnp.min(distances, axis=1), self.diagonal)
        within = lambda radius: jnp.log1p(jnp.sum(distances <= radius, axis=1).astype(jnp.float32))  # noqa: E731
        return [
            jnp.log1p(nearest / self.radius),
            nearest / (nearest + shape.spread),
            within(self.radius),
            within(shape.spread),
        ]

    def _form(self, shape: Shape, station: Station, drawn: Float[Array, "m axes"]) -> list[Scalar]:
        """Return spread and roundness of the belief, its mass around the mean and around its best place."""
        from_mean = _norm(shape.positions - shape.mean[None, :])
        from_drawn = _norm(drawn[:, None, :] - shape.positions[None, :, :])
        around = lambda distances, radius: jnp.sum(jnp.where(distances <= radius, shape.weights, 0.0))  # noqa: E731
        best = jnp.max(jax.vmap(lambda distances: around(distances, self.radius))(from_drawn))
        far = _norm(station.position - shape.mean)
        axes = shape.mean.shape[0]
        volume = jnp.maximum(jnp.linalg.det(shape.covariance / shape.spread**2), 0.0)
        return [
            _log(shape.spread / self.diagonal),
            _log(shape.spread / self.radius),
            _log(self.diagonal / self.radius),
            volume ** (1 / (2 * axes)),
            jnp.matmul(shape.weights, from_mean) / shape.spread,
            around(from_mean, self.radius),
            around(from_mean, _NEAR * self.radius),
            best,
            far / self.diagonal,
            far / (far + shape.spread),
        ]

    def _left(self, candidates: Candidates, budget: Budget) -> list[Scalar]:
        """Return how scarce readings, way and time are: 0 without a limit, and near 1 at the end."""
        seconds = jnp.max(jnp.where(candidates.mask, candidates.seconds, 0.0))
        left = jnp.asarray(budget.readings), jnp.asarray(budget.distance), jnp.asarray(budget.time)
        readings, distance, time = (jnp.maximum(part, 0.0) for part in left)
        seconds = jnp.maximum(seconds, jnp.finfo(seconds.dtype).tiny)
        one = jnp.ones(())
        return [
            one / (one + readings),
            jnp.where(jnp.isinf(readings), 0.0, 10.0 / (10.0 + readings)),
            self.diagonal / (self.diagonal + distance),
            self.radius / (self.radius + distance),
            seconds / (seconds + time),
        ]


def _shape_of(belief: Belief) -> Shape:
    weights, positions = jnp.exp(normalise(belief.log_weights)), belief.positions
    mean = jnp.matmul(weights, positions, precision=_PRECISION)
    centred = positions - mean[None, :]
    covariance = jnp.matmul((weights[:, None] * centred).T, centred, precision=_PRECISION)
    spread = jnp.sqrt(jnp.trace(covariance) / mean.shape[0])
    return Shape(weights, positions, mean, covariance, jnp.maximum(spread, jnp.finfo(spread.dtype).tiny))


def _utilities(
    gains: Float[Array, " actions"], shares: Float[Array, " actions"], candidates: Candidates
) -> list[Float[Array, " actions"]]:
    """Return gains and costs, and what the planner maximises, as a share of its best."""
    rates = gains / shares
    best = lambda values: jnp.max(jnp.where(candidates.mask, values, 0.0))  # noqa: E731
    share_of_best = lambda values: values / jnp.maximum(best(values), jnp.finfo(values.dtype).tiny)  # noqa: E731
    return [
        _log(gains),
        jnp.clip(share_of_best(gains), 0.0, 1.0),
        jnp.clip(share_of_best(rates), 0.0, 1.0),
        jnp.clip(shares, 0.0, 1.0),
        0.25 * _log(shares),
    ]


def _bound(leaf: Array) -> Array:
    if leaf.dtype == bool:
        return leaf
    return jnp.clip(jnp.nan_to_num(leaf), -_MAX_NUMBER, _MAX_NUMBER)


def _norm(offsets: Float[Array, "*batch axes"]) -> Float[Array, "*batch"]:
    return jnp.sqrt(jnp.sum(offsets**2, axis=-1))


def _log(numbers: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jnp.clip(jnp.log(numbers + _MIN_GAIN), -_MAX_LOG, _MAX_LOG)


def _log1p(numbers: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Return log(1 + x) of what is not negative but for the error of a simulation."""
    return jnp.minimum(jnp.log1p(jnp.maximum(numbers, 0.0)), _MAX_LOG)
