"""The observation of the trained policies: some particles, the moments of all, the information gain of
readings nearby, and where readings were taken, as a faint source is found where none was taken yet.

Everything is relative to the sensor and after the symmetry of `symmetry`. Information gains are in nats, so
one network serves every sensor.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference import Belief, Credible, History, systematic
from dowsax.inference.grid import BENCHMARK_GRID
from dowsax.inference.scaling import prior_draws
from dowsax.inference.summaries import location_entropy, mass_within, weighted_mean
from dowsax.inference.weights import ess, normalise
from dowsax.policies.encoders import ParticleObservation
from dowsax.policies.lookahead import Prediction, simulate_log_likelihoods
from dowsax.policies.symmetry import Symmetry, action_permutations, symmetry_for
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import (
    FOUR_MOVES,
    PARAMETERS,
    ActionSpace,
    Budget,
    Candidates,
    Model,
    Motion,
    PolicyMismatch,
    moves_of,
)
from dowsax.world.source import unpack
from dowsax.world.trails import move_station

OFFSET_SCALE_M = 3.0
"""The scale of the tanh of offsets: much longer ones are all alike."""
GAIN_DISTANCES_M = (3.0, 7.0)
"""Distances at which the information gain is computed, besides one move away."""
MAX_VISIT_DISTANCE_M = 4.0
"""Distances from the earlier readings are cut off here."""
RING_RADII_M = (1.0, 2.0, 3.5, 5.5, 8.5, 13.0)
"""Radii between the rings of sectors around the sensor."""
NUM_DIRECTIONS = 12
MAX_FEATURE = 5.0
"""Features are clipped to ± this."""

_SQRT_HALF = math.sqrt(0.5)
# East, west, north, south, and between them.
_DIRECTIONS = (
    *((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)),
    *(
        (_SQRT_HALF, _SQRT_HALF),
        (-_SQRT_HALF, _SQRT_HALF),
        (_SQRT_HALF, -_SQRT_HALF),
        (-_SQRT_HALF, -_SQRT_HALF),
    ),
)
_PLACES = tuple((far * x, far * y) for far in GAIN_DISTANCES_M for x, y in _DIRECTIONS)
# Floor [m, or a probability] of spreads and missing masses before their logarithm.
_FLOOR = 1e-2
_MIN_POSITIVE = 1e-12
# The mass is the one by which searches stop.
_STOP_RULE = Credible()


class ParticleEncoder(eqx.Module):
    """A subsample of the particles, the moments of all of them, and the information gain around."""

    model: Model
    centre: Float[Array, "3"]
    """Of log q, log α and λ under the prior."""
    scale: Float[Array, "3"]
    speed: Scalar
    """[m/s], the root mean square of the wind under the prior."""
    orders: Int[Array, "8 actions"]
    motion: Motion = FOUR_MOVES
    num_particles: int = eqx.field(default=64, static=True)
    """M: the number of particles observed, and of readings simulated at each place."""

    def __check_init__(self) -> None:
        if self.num_particles < 2:
            raise ValueError(f"`num_particles` must be at least 2; got {self.num_particles}.")

    @staticmethod
    def build(model: Model, actions: ActionSpace = FOUR_MOVES, num_particles: int = 64) -> "ParticleEncoder":
        """Build the encoder for a model."""
        motion = moves_of(actions)
        if model.prior.parameters != PARAMETERS:
            names = ", ".join(parameter.name for parameter in model.prior.parameters)
            raise PolicyMismatch(f"the parameters of the benchmark; got {names}.")
        draws = prior_draws(model.prior)
        shape = jax.vmap(_shape)(draws)
        wind = jax.vmap(_wind)(draws)
        return ParticleEncoder(
            model,
            jnp.mean(shape, axis=0),
            jnp.maximum(jnp.std(shape, axis=0), _FLOOR),
            jnp.maximum(jnp.sqrt(jnp.mean(jnp.sum(wind**2, axis=1))), _FLOOR),
            jnp.asarray(action_permutations(motion)),
            motion,
            num_particles,
        )

    def __call__(
        self, key: Key, belief: Belief, station: Station, candidates: Candidates, budget: Budget
    ) -> ParticleObservation:
        del budget
        draw_key, noise_key = jax.random.split(key)
        position = station.position
        rows = self._rows(belief.particles, position)
        middle = weighted_mean(rows, belief.log_weights)
        symmetry = symmetry_for(middle[:2])
        drawn = systematic(draw_key, belief.log_weights, self.num_particles)
        gains = self._gains(noise_key, belief.particles[drawn], station, symmetry)
        numbers = [
            self._offsets(symmetry, middle[:2]),
            self._spreads(symmetry, rows, middle, belief.log_weights),
            symmetry.apply(middle[2:4]),
            middle[4:],
            _certainty(belief),
            self._rooms(symmetry, position),
            jnp.sqrt(_sectors(symmetry.apply(rows[:, :2]), jnp.exp(normalise(belief.log_weights)))),
            self._visits(symmetry, belief.history, position),
            gains,
        ]
        return ParticleObservation(
            _clip(jax.vmap(lambda row: self._particle(symmetry, row))(rows[drawn])),
            _clip(jnp.concatenate(numbers)),
            self.orders[symmetry.number],
            candidates.mask,
        )

    def _rows(self, particles: Float[Array, "n d"], position: Position) -> Float[Array, "n 7"]:
        """For each particle: offset from the sensor [m], wind and shape in units of the prior's."""

        def row(theta: Theta) -> Float[Array, "7"]:
            shape = (_shape(theta) - self.centre) / self.scale
            return jnp.concatenate([theta[:2] - position, _wind(theta) / self.speed, shape])

        return jax.vmap(row)(particles)

    def _particle(self, symmetry: Symmetry, row: Float[Array, "7"]) -> Float[Array, " features"]:
        return jnp.concatenate([self._offsets(symmetry, row[:2]), symmetry.apply(row[2:4]), row[4:]])

    def _offsets(self, symmetry: Symmetry, offset: Float[Array, "2"]) -> Float[Array, "5"]:
        """An offset at two scales, and its length."""
        image = symmetry.apply(offset)
        distance = jnp.sqrt(jnp.sum(offset**2))
        return jnp.concatenate(
            [image / self._side, jnp.tanh(image / OFFSET_SCALE_M), 0.5 * jnp.log1p(distance)[None]]
        )

    @property
    def _side(self) -> float:
        return max(high - low for low, high in zip(self.motion.low, self.motion.high, strict=True))

    def _spreads(
        self, symmetry: Symmetry, rows: Float[Array, "n 7"], middle: Float[Array, "7"], log_weights: Array
    ) -> Float[Array, "12"]:
        """How wide the belief is: along the axes, along its own axes and where these point, and the rest."""
        centred = rows - middle[None, :]
        products = jnp.concatenate([centred**2, (centred[:, 0] * centred[:, 1])[:, None]], axis=1)
        moments = weighted_mean(products, log_weights)
        spread = jnp.sqrt(moments[:7])
        # Spreads have no sign: only the swap of the axes matters.
        location, wind = jnp.abs(symmetry.apply(spread[:2])), jnp.abs(symmetry.apply(spread[2:4]))
        variances = location**2
        mixed = moments[7] * symmetry.signs[0] * symmetry.signs[1]
        half, mean = 0.5 * (variances[0] - variances[1]), 0.5 * (variances[0] + variances[1])
        radius = jnp.sqrt(half**2 + mixed**2)
        own = jnp.sqrt(jnp.maximum(jnp.stack([mean + radius, mean - radius]), 0.0))
        angle = jnp.stack([half, mixed]) / jnp.maximum(radius, _MIN_POSITIVE)
        lengths = jnp.concatenate([location, own, jnp.max(location)[None]])
        return jnp.concatenate([0.5 * jnp.log(lengths + _FLOOR), angle, wind, spread[4:]])

    def _rooms(self, symmetry: Symmetry, position: Position) -> Float[Array, "4"]:
        """Distances to the four walls after the symmetry, as shares of the side."""
        directions = symmetry.undo(jnp.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
        above, below = jnp.array(self.motion.high) - position, position - jnp.array(self.motion.low)
        rooms = jnp.where(directions > 0, above[None, :], below[None, :]) * jnp.abs(directions)
        return jnp.clip(jnp.sum(rooms, axis=1) / self._side, 0.0, 1.0)

    def _places(self, symmetry: Symmetry, position: Position) -> Float[Array, "places 2"]:
        """Places one move away and further around, after the symmetry."""
        offsets = symmetry.undo(jnp.array((*self.motion.moves, *_PLACES)))
        low, high = jnp.array(self.motion.low), jnp.array(self.motion.high)
        return jnp.clip(position[None, :] + offsets, low[None, :], high[None, :])

    def _gains(
        self, key: Key, particles: Float[Array, "m d"], station: Station, symmetry: Symmetry
    ) -> Float[Array, " places"]:
        """Information gain of a reading at each place, as a share of its maximum log M."""
        places = self._places(symmetry, station.position)
        gains = expected_gains(key, self.model, particles, station, places)
        return gains / math.log(self.num_particles)

    def _visits(self, symmetry: Symmetry, history: History, position: Position) -> Float[Array, " visits"]:
        """How often each sector was visited, and how far each place is from all earlier readings."""
        visited = history.stations.position
        number = jnp.arange(visited.shape[0])
        often = _sectors(
            symmetry.apply(visited - position[None, :]), (number < history.size).astype(jnp.float32)
        )
        # The newest reading was taken here, which is near every place.
        earlier = number < history.size - 1
        gaps = self._places(symmetry, position)[:, None, :] - visited[None, :, :]
        squares = jnp.where(earlier[None, :], jnp.sum(gaps**2, axis=2), jnp.inf)
        nearest = jnp.sqrt(jnp.min(squares, axis=1))
        return jnp.concatenate(
            [jnp.log1p(often) / 4, jnp.minimum(nearest, MAX_VISIT_DISTANCE_M) / MAX_VISIT_DISTANCE_M]
        )


def expected_gains(
    key: Key,
    model: Model,
    particles: Float[Array, "m d"],
    station: Station,
    places: Float[Array, "places axes"],
) -> Float[Array, " places"]:
    """The mutual information [nats] of the source and a reading at each place, in [0, log m].

    What is measured along with a reading is as at the station.

    The source is one of the particles, all equally likely, with one simulated reading each. The noise is the
    same at every place, which removes most of the Monte Carlo error from their differences.
    """
    num_particles = particles.shape[0]
    keys = jax.random.split(key, num_particles)
    log_weights = normalise(jnp.zeros(num_particles, jnp.float32))

    def gain(place: Position) -> Scalar:
        there = move_station(station, place)
        terms = simulate_log_likelihoods(keys, model, particles, particles, there, approximate=True)
        return information_gain(Prediction(place, particles, log_weights, terms))

    gains = jax.vmap(gain)(places)
    return jnp.clip(jnp.where(jnp.isnan(gains), 0.0, gains), 0.0, math.log(num_particles))


def _wind(theta: Theta) -> Float[Array, "2"]:
    source = unpack(theta)
    return jnp.stack([source.wind_x, source.wind_y])


def _shape(theta: Theta) -> Float[Array, "3"]:
    """log q, log α and λ."""
    source = unpack(theta)
    sizes = jnp.stack([source.strength, source.diffusivity])
    return jnp.append(jnp.log(jnp.maximum(sizes, _MIN_POSITIVE)), source.decay_length)


def _sectors(offsets: Float[Array, "n 2"], weights: Float[Array, " n"]) -> Float[Array, " sectors"]:
    """The weight in each sector around the sensor."""
    angle = jnp.arctan2(offsets[:, 1], offsets[:, 0]) / (2 * math.pi)
    # The first direction is east, from half a sector below to half a sector above it.
    direction = jnp.floor(angle * NUM_DIRECTIONS + 0.5).astype(jnp.int32) % NUM_DIRECTIONS
    squares = jnp.sum(offsets**2, axis=1)
    ring = jnp.sum(squares[:, None] >= jnp.array(RING_RADII_M)[None, :] ** 2, axis=1)
    number = ring * NUM_DIRECTIONS + direction
    # Compared and added, and no scatter: the same sum in the same order on every device.
    inside = number[:, None] == jnp.arange(NUM_DIRECTIONS * (len(RING_RADII_M) + 1))[None, :]
    return jnp.sum(jnp.where(inside, weights[:, None], 0.0), axis=0)


def _certainty(belief: Belief) -> Float[Array, "5"]:
    """Mass near the mean, missing mass, entropy, share of effective particles, and share of readings used."""
    mass = mass_within(belief, _STOP_RULE.radius)
    missing = jnp.log(jnp.maximum(1.0 - mass, 0.0) + _FLOOR) / math.log(_FLOOR)
    entropy = location_entropy(belief) / math.log(BENCHMARK_GRID.num_cells)
    healthy = ess(normalise(belief.log_weights)) / belief.log_weights.shape[0]
    used = belief.history.size / belief.history.readings.shape[0]
    return jnp.stack([mass, missing, entropy, healthy, used])


def _clip(numbers: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Clip, and replace NaN by 0."""
    return jnp.clip(jnp.nan_to_num(numbers), -MAX_FEATURE, MAX_FEATURE)
