"""The belief itself as a network sees it: some of its particles, its moments, where a reading would tell, and
where one has been: a faint source is found by going where nothing has been read yet.

Everything is relative to the sensor and in the frame of `frames`. What a reading is worth is in nats, so that
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
from dowsax.policies.frames import Frame, action_orders, frame_of
from dowsax.policies.lookahead import Outlook, imagine
from dowsax.policies.sight import SeenParticles
from dowsax.policies.utilities import information_gain
from dowsax.types import Key, Position, Scalar, Station, Theta
from dowsax.world import FOUR_MOVES, PARAMETERS, Model, Motion
from dowsax.world.source import unpack

NEAR = 3.0
"""[m], offsets much below this are told apart, those much above it are all far."""
AROUND = (3.0, 7.0)
"""[m], how far away the worth of a reading is asked for, besides one move away."""
UNVISITED = 4.0
"""[m], further from all earlier readings than this is as far as can be."""
RINGS = (1.0, 2.0, 3.5, 5.5, 8.5, 13.0)
"""[m], how far away the source may be: below the first, between two of them, or beyond the last."""
NUM_DIRECTIONS = 12
LARGEST = 5.0
"""No number that is seen is larger."""

_CORNER = math.sqrt(0.5)
# East, west, north, south, and between them.
_DIRECTIONS = (
    *((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)),
    *((_CORNER, _CORNER), (-_CORNER, _CORNER), (_CORNER, -_CORNER), (-_CORNER, -_CORNER)),
)
_PLACES = tuple((far * x, far * y) for far in AROUND for x, y in _DIRECTIONS)
# [m], or a share: below this a spread or a missing mass is as good as none.
_FINE = 1e-2
_TINY = 1e-12
# The mass that is seen is the one by which searches stop.
_RULE = Credible()


class Particles(eqx.Module):
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
    """M: how many are seen, and how many readings are imagined at each place."""

    def __check_init__(self) -> None:
        if self.num_particles < 2:
            raise ValueError(f"`num_particles` is at least 2; got {self.num_particles}.")

    @staticmethod
    def build(model: Model, motion: Motion = FOUR_MOVES, num_particles: int = 64) -> "Particles":
        """The sight for a model."""
        if model.prior.parameters != PARAMETERS:
            names = ", ".join(parameter.name for parameter in model.prior.parameters)
            raise ValueError(f"This policy knows sources of the benchmark's parameters alone; got {names}.")
        draws = prior_draws(model.prior)
        shape = jax.vmap(_shape)(draws)
        wind = jax.vmap(_wind)(draws)
        return Particles(
            model,
            jnp.mean(shape, axis=0),
            jnp.maximum(jnp.std(shape, axis=0), _FINE),
            jnp.maximum(jnp.sqrt(jnp.mean(jnp.sum(wind**2, axis=1))), _FINE),
            jnp.asarray(action_orders(motion)),
            motion,
            num_particles,
        )

    def __call__(self, key: Key, belief: Belief, station: Station) -> SeenParticles:
        draw_key, noise_key = jax.random.split(key)
        position = station.position
        rows = self._rows(belief.particles, position)
        middle = weighted_mean(rows, belief.log_weights)
        frame = frame_of(middle[:2])
        drawn = systematic(draw_key, belief.log_weights, self.num_particles)
        gains = self._gains(noise_key, belief.particles[drawn], position, frame)
        numbers = [
            self._offsets(frame, middle[:2]),
            self._spreads(frame, rows, middle, belief.log_weights),
            frame.into(middle[2:4]),
            middle[4:],
            _certainty(belief),
            self._rooms(frame, position),
            jnp.sqrt(_sectors(frame.into(rows[:, :2]), jnp.exp(normalise(belief.log_weights)))),
            self._visits(frame, belief.history, position),
            gains,
        ]
        return SeenParticles(
            _tame(jax.vmap(lambda row: self._particle(frame, row))(rows[drawn])),
            _tame(jnp.concatenate(numbers)),
            self.orders[frame.number],
            self.motion.free(position),
        )

    def _rows(self, particles: Float[Array, "n d"], position: Position) -> Float[Array, "n 7"]:
        """For each particle: offset from the sensor [m], wind and shape in units of the prior's."""

        def row(theta: Theta) -> Float[Array, "7"]:
            shape = (_shape(theta) - self.centre) / self.scale
            return jnp.concatenate([theta[:2] - position, _wind(theta) / self.speed, shape])

        return jax.vmap(row)(particles)

    def _particle(self, frame: Frame, row: Float[Array, "7"]) -> Float[Array, " features"]:
        return jnp.concatenate([self._offsets(frame, row[:2]), frame.into(row[2:4]), row[4:]])

    def _offsets(self, frame: Frame, offset: Float[Array, "2"]) -> Float[Array, "5"]:
        """An offset at two scales, and its length."""
        seen = frame.into(offset)
        distance = jnp.sqrt(jnp.sum(offset**2))
        return jnp.concatenate([seen / self._side, jnp.tanh(seen / NEAR), 0.5 * jnp.log1p(distance)[None]])

    @property
    def _side(self) -> float:
        return max(high - low for low, high in zip(self.motion.low, self.motion.high, strict=True))

    def _spreads(
        self, frame: Frame, rows: Float[Array, "n 7"], middle: Float[Array, "7"], log_weights: Array
    ) -> Float[Array, "12"]:
        """How wide the belief is: along the axes, along its own axes and where these point, and the rest."""
        centred = rows - middle[None, :]
        products = jnp.concatenate([centred**2, (centred[:, 0] * centred[:, 1])[:, None]], axis=1)
        moments = weighted_mean(products, log_weights)
        spread = jnp.sqrt(moments[:7])
        # Spreads have no sign: only the swap of the frame counts.
        location, wind = jnp.abs(frame.into(spread[:2])), jnp.abs(frame.into(spread[2:4]))
        variances = location**2
        mixed = moments[7] * frame.signs[0] * frame.signs[1]
        half, mean = 0.5 * (variances[0] - variances[1]), 0.5 * (variances[0] + variances[1])
        radius = jnp.sqrt(half**2 + mixed**2)
        own = jnp.sqrt(jnp.maximum(jnp.stack([mean + radius, mean - radius]), 0.0))
        angle = jnp.stack([half, mixed]) / jnp.maximum(radius, _TINY)
        lengths = jnp.concatenate([location, own, jnp.max(location)[None]])
        return jnp.concatenate([0.5 * jnp.log(lengths + _FINE), angle, wind, spread[4:]])

    def _rooms(self, frame: Frame, position: Position) -> Float[Array, "4"]:
        """The distances to the four walls as the frame has them, as shares of the side."""
        directions = frame.out_of(jnp.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
        above, below = jnp.array(self.motion.high) - position, position - jnp.array(self.motion.low)
        rooms = jnp.where(directions > 0, above[None, :], below[None, :]) * jnp.abs(directions)
        return jnp.clip(jnp.sum(rooms, axis=1) / self._side, 0.0, 1.0)

    def _places(self, frame: Frame, position: Position) -> Float[Array, "places 2"]:
        """One move away and further around, as the frame has them."""
        offsets = frame.out_of(jnp.array((*self.motion.moves, *_PLACES)))
        low, high = jnp.array(self.motion.low), jnp.array(self.motion.high)
        return jnp.clip(position[None, :] + offsets, low[None, :], high[None, :])

    def _gains(
        self, key: Key, particles: Float[Array, "m d"], position: Position, frame: Frame
    ) -> Float[Array, " places"]:
        """What a reading would tell at each place, as a share of all there is to learn."""
        gains = expected_gains(key, self.model, particles, self._places(frame, position))
        return gains / math.log(self.num_particles)

    def _visits(self, frame: Frame, history: History, position: Position) -> Float[Array, " visits"]:
        """How often each sector was visited, and how far each place is from where one was before."""
        visited = history.stations.position
        number = jnp.arange(visited.shape[0])
        often = _sectors(frame.into(visited - position[None, :]), (number < history.size).astype(jnp.float32))
        # The newest reading was taken here, which is near every place.
        earlier = number < history.size - 1
        gaps = self._places(frame, position)[:, None, :] - visited[None, :, :]
        squares = jnp.where(earlier[None, :], jnp.sum(gaps**2, axis=2), jnp.inf)
        nearest = jnp.sqrt(jnp.min(squares, axis=1))
        return jnp.concatenate([jnp.log1p(often) / 4, jnp.minimum(nearest, UNVISITED) / UNVISITED])


def expected_gains(
    key: Key, model: Model, particles: Float[Array, "m d"], places: Float[Array, "places 2"]
) -> Float[Array, " places"]:
    """The mutual information [nats] of the source and a reading at each place, in [0, log m].

    The source is one of the particles, each as likely, and each is asked for one reading. Its noise is the
    same at every place, so that places differ by what they are and not by luck.
    """
    num_particles = particles.shape[0]
    keys = jax.random.split(key, num_particles)
    log_weights = normalise(jnp.zeros(num_particles, jnp.float32))

    def gain(place: Position) -> Scalar:
        terms = imagine(keys, model, particles, particles, Station(place), sketched=True)
        return information_gain(Outlook(place, particles, log_weights, terms))

    gains = jax.vmap(gain)(places)
    return jnp.clip(jnp.where(jnp.isnan(gains), 0.0, gains), 0.0, math.log(num_particles))


def _wind(theta: Theta) -> Float[Array, "2"]:
    source = unpack(theta)
    return jnp.stack([source.wind_x, source.wind_y])


def _shape(theta: Theta) -> Float[Array, "3"]:
    """log q, log α and λ."""
    source = unpack(theta)
    sizes = jnp.stack([source.strength, source.diffusivity])
    return jnp.append(jnp.log(jnp.maximum(sizes, _TINY)), source.decay_length)


def _sectors(offsets: Float[Array, "n 2"], weights: Float[Array, " n"]) -> Float[Array, " sectors"]:
    """The weight in each sector around the sensor."""
    angle = jnp.arctan2(offsets[:, 1], offsets[:, 0]) / (2 * math.pi)
    # The first direction is east, from half a sector below to half a sector above it.
    direction = jnp.floor(angle * NUM_DIRECTIONS + 0.5).astype(jnp.int32) % NUM_DIRECTIONS
    squares = jnp.sum(offsets**2, axis=1)
    ring = jnp.sum(squares[:, None] >= jnp.array(RINGS)[None, :] ** 2, axis=1)
    number = ring * NUM_DIRECTIONS + direction
    # Compared and added, and no scatter: the same sum in the same order on every device.
    inside = number[:, None] == jnp.arange(NUM_DIRECTIONS * (len(RINGS) + 1))[None, :]
    return jnp.sum(jnp.where(inside, weights[:, None], 0.0), axis=0)


def _certainty(belief: Belief) -> Float[Array, "5"]:
    """How much of the belief is near its mean, how wide it is, how healthy, and the readings used up."""
    mass = mass_within(belief, _RULE.radius)
    missing = jnp.log(jnp.maximum(1.0 - mass, 0.0) + _FINE) / math.log(_FINE)
    entropy = location_entropy(belief) / math.log(BENCHMARK_GRID.num_cells)
    healthy = ess(normalise(belief.log_weights)) / belief.log_weights.shape[0]
    used = belief.history.size / belief.history.readings.shape[0]
    return jnp.stack([mass, missing, entropy, healthy, used])


def _tame(numbers: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """Finite whatever happens."""
    return jnp.clip(jnp.nan_to_num(numbers), -LARGEST, LARGEST)
