"""Readings in a wind whose measured direction has an independent error each time."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr

from dowsax.types import Key, Number, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, NeedsTheta, Sensor
from dowsax.world.ranges import as_number
from dowsax.world.sensors.binary import Binary, BinaryAt
from dowsax.world.sensors.fuzzy_edge import Edged
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.stated_uncertainty import Stated
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.wrapper import SensorWrapper

NUM_ANGLE_BINS = 8
"""With this many, log p is off by 0.05 nats on average in plumes of 1 to 30° and errors of 2 to 20°."""
NUM_PATH_BINS = 16
"""Of both sides of a path."""
NUM_PART_BINS = 12
"""About the axis of each of several sources."""
_MAX_ERRORS = 4.0
"""Standard deviations of the wind error beyond which an angle is in the tail."""
_UNSEEN_NOISE_SHARE = 0.1
"""A field below this share of the noise floor is in the tail."""
_SMOOTHING_STEP_SHARE = 0.4
"""Of the step between neighbouring nodes: a row of kernels this wide is flat to a tenth."""
_MIN_MASS = 1e-30
_MIN_HALF_RANGE = 1e-6
"""[rad], of the turns in which a plume is seen."""
_LOG_OF_NOTHING = -1e30
_MAX_PLAIN_DEGREES = 4.0
"""Of Student's t: its density 10⁷ scales away is 10⁻³³ of that in the middle."""


class SwayingWind(SensorWrapper):
    r"""$p(z \mid \Theta) = \int p(z \mid c(\delta))\, \mathcal N(\delta; 0, s^2)\, d\delta$.

    $c(\delta)$ is the field in a wind turned by δ from the measured one, independently at each reading: an
    anemometer that jitters, or air that moves differently at the source than where its wind is measured.
    Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """With a `noise_ratio` and a `noise_floor`, which may be unknown, or a fuzzy edge; or `Binary`."""
    field: DirectionDependent
    """The field of the source, without its background."""
    error: Number = eqx.field(converter=as_number)
    """$s$ [°], > 0."""

    def __check_init__(self) -> None:
        if not 0 < self.error <= 45:
            raise ValueError(f"`error` of the wind direction must be in (0, 45] °; got {self.error:g}.")

    def bind(self, theta: Theta) -> "Swayed":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT | Stated | Edged | Binary)
        return Swayed(sensor, self.field, theta, jnp.deg2rad(self.error))


def sways(sensor: Any) -> bool:
    """Whether this sensor, or one inside it, has a swaying wind, which costs two to three times as much."""
    return isinstance(sensor, SwayingWind) or (hasattr(sensor, "sensor") and sways(sensor.sensor))


class Swayed(eqx.Module):
    r"""`SwayingWind` for one Θ.

    A plume may be far narrower than the wind's error, and the noise far smaller than its slope, so that nodes
    in δ would miss it: nine Gauss–Hermite nodes do, by hundreds of nats. The bins cover the plume instead:
    angles $a$ from its axis to where it vanishes in the noise, or as far as the error reaches. The two sides
    of the axis are alike, so their densities are added for $a \ge 0$. Within a bin the field goes from one
    value to the next, and the noise about its mean is widened accordingly. All angles further out are one
    more bin. The sum is a density in $z$.
    """

    sensor: Gaussian | StudentT | Stated | Edged | Binary
    field: DirectionDependent
    theta: Theta
    error: Scalar
    """$s$ [rad]"""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        turn_key, noise_key = jax.random.split(key)
        profile = self.field.direction_profile(self.theta, station, self.error)
        value = profile.value(self.error * jax.random.normal(turn_key))
        return self.sensor.sample(noise_key, value, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        direction_profile = self.field.direction_profile(self.theta, station, self.error)
        sensor = self.sensor.at(station) if isinstance(self.sensor, Stated | Edged | Binary) else self.sensor
        if direction_profile.parts:
            return _log_prob_of_sum(sensor, reading, direction_profile, self.error)
        if direction_profile.ends is not None:
            return _log_prob_of_path(sensor, reading, direction_profile, self.error)
        bins = _AngleBins.about(direction_profile, self.error, _UNSEEN_NOISE_SHARE * sensor.noise_floor)

        def add(carry, number):
            before, total, mass, (density, growth, fold) = carry
            value = direction_profile.value(bins.turn(bins.low + bins.length * (number + 1)))
            middle, share = 0.5 * (value + before), density * (1 + fold)
            total = total.plus(sensor, reading, middle, _widened(sensor, middle, value - before), share)
            weights = density * growth, growth * bins.growth_step, fold * bins.fold_step
            return (value, total, mass + share, weights), None

        first = direction_profile.value(bins.turn(bins.low))
        nothing = _PlainSum() if _has_heavy_tails(sensor) else _LogSum()
        weights = bins.density, bins.growth, bins.fold
        start = first, jax.tree.map(jnp.float32, nothing), jnp.zeros(()), weights
        # A loop over bins, not a batch: each step handles all particles at once, which is far faster.
        (_, total, mass, _), _ = jax.lax.scan(
            add, start, jnp.arange(NUM_ANGLE_BINS) * 1.0, unroll=NUM_ANGLE_BINS
        )
        tail = direction_profile.value(bins.turn(bins.tail))
        inside = total.times(bins.mass / mass)
        return inside.plus(sensor, reading, tail, sensor.scale(tail), 1 - bins.mass).log()


def _log_prob_of_path(
    sensor: Gaussian | StudentT | BinaryAt, reading: Scalar, profile: DirectionProfile, error: Scalar
) -> Scalar:
    """Return log p of a reading along a path, in bins of the turn of the wind.

    They cover the turns in which the path sees the plume, on both sides of it, as far as the error reaches.
    All others are one more bin.
    """
    assert profile.ends is not None
    unseen = _UNSEEN_NOISE_SHARE * sensor.noise_floor
    edge = profile.width * jnp.sqrt(2.0 * jnp.log1p(profile.value(profile.angle) / unseen))
    low = jnp.clip(jnp.minimum(*profile.ends) - edge, -_MAX_ERRORS * error, _MAX_ERRORS * error)
    high = jnp.clip(jnp.maximum(*profile.ends) + edge, low, _MAX_ERRORS * error)
    length = (high - low) / NUM_PATH_BINS

    def add(carry, number):
        before, below, total = carry
        turn = low + length * (number + 1)
        value, share = profile.value(turn), ndtr(turn / error)
        middle = 0.5 * (value + before)
        scale = _widened(sensor, middle, value - before)
        return (value, share, total.plus(sensor, reading, middle, scale, share - below)), None

    first, below = profile.value(low), ndtr(low / error)
    nothing = jax.tree.map(jnp.float32, _PlainSum() if _has_heavy_tails(sensor) else _LogSum())
    (last, share, total), _ = jax.lax.scan(add, (first, below, nothing), jnp.arange(NUM_PATH_BINS) * 1.0)
    above = 1.0 - share
    tail = jnp.where(below > above, first, last)
    return total.plus(sensor, reading, tail, sensor.scale(tail), below + above).log()


def _log_prob_of_sum(
    sensor: Gaussian | StudentT | BinaryAt, reading: Scalar, profile: DirectionProfile, error: Scalar
) -> Scalar:
    r"""Return log p of a reading of several sources, in bins of the turn of the wind.

    There are bins for each plume, which cover the turns in which it is seen, as far as the error reaches.
    Where plumes overlap, each of their bins counts in part: by $h_k = u_k / \sum_j u_j$, with
    $u_k = (1 - (\delta - a_k)^2 / e_k^2) / e_k$ about the middle $a_k$ of the bins, which end $e_k$ away.
    All other turns are one more bin.
    """
    ranges = [_seen_turns(part, profile, sensor, error) for part in profile.parts]

    def overlap(turn: Scalar) -> Scalar:
        return sum((_bump(turn, *each) for each in ranges), start=jnp.full((), _MIN_MASS))

    total, mass = jax.tree.map(jnp.float32, _PlainSum() if _has_heavy_tails(sensor) else _LogSum()), 0.0
    for middle, half in ranges:
        length = 2 * half / NUM_PART_BINS

        def add(carry, number, middle=middle, half=half, length=length):
            before, below, total, mass = carry
            turn = middle - half + length * (number + 1)
            value, share = profile.value(turn), ndtr(turn / error)
            mean, between = 0.5 * (value + before), turn - 0.5 * length
            counted = (share - below) * _bump(between, middle, half) / overlap(between)
            total = total.plus(sensor, reading, mean, _widened(sensor, mean, value - before), counted)
            return (value, share, total, mass + counted), None

        low = middle - half
        first = profile.value(low), ndtr(low / error), total, jnp.float32(mass)
        (_, _, total, mass), _ = jax.lax.scan(add, first, jnp.arange(NUM_PART_BINS) * 1.0)
    # Outside all bins: the least of the values at no turn and at the largest either way.
    tail = jnp.minimum(profile.value(jnp.zeros(())), profile.value(jnp.float32(_MAX_ERRORS * error)))
    tail = jnp.minimum(tail, profile.value(jnp.float32(-_MAX_ERRORS * error)))
    return total.plus(sensor, reading, tail, sensor.scale(tail), jnp.maximum(1.0 - mass, 0.0)).log()


def _seen_turns(
    part: DirectionProfile,
    profile: DirectionProfile,
    sensor: Gaussian | StudentT | BinaryAt,
    error: Scalar,
) -> tuple[Scalar, Scalar]:
    """Return the middle of the turns [rad] in which a plume is seen, and half of their range."""
    unseen = _UNSEEN_NOISE_SHARE * sensor.noise_floor
    edge = part.width * jnp.sqrt(2.0 * jnp.log1p(profile.value(part.angle) / unseen))
    ends = (part.angle, part.angle) if part.ends is None else part.ends
    low = jnp.clip(jnp.minimum(*ends) - edge, -_MAX_ERRORS * error, _MAX_ERRORS * error)
    high = jnp.clip(jnp.maximum(*ends) + edge, low, _MAX_ERRORS * error)
    return 0.5 * (low + high), jnp.maximum(0.5 * (high - low), _MIN_HALF_RANGE)


def _bump(turn: Scalar, middle: Scalar, half: Scalar) -> Scalar:
    """Return a bump of area 4/3 about the middle, which ends `half` away."""
    share = (turn - middle) / half
    return jnp.maximum(1.0 - share * share, 0.0) / half


def _has_heavy_tails(sensor: Gaussian | StudentT | BinaryAt) -> bool:
    """Whether its density is above zero at every distance that two numbers of 32 bits can have."""
    return isinstance(sensor, StudentT) and sensor.degrees <= _MAX_PLAIN_DEGREES


class _PlainSum(NamedTuple):
    """A running sum of densities: twice as fast, where none is too small to be represented."""

    total: Scalar | float = 0.0

    def plus(
        self, sensor: StudentT, reading: Scalar, value: Scalar, scale: Scalar, share: Scalar
    ) -> "_PlainSum":
        return _PlainSum(self.total + share * sensor.density(reading, value, scale))

    def times(self, factor: Scalar) -> "_PlainSum":
        return _PlainSum(self.total * factor)

    def log(self) -> Scalar:
        return jnp.log(jnp.maximum(self.total, jnp.finfo(jnp.float32).tiny))


class _LogSum(NamedTuple):
    """A running sum $e^m S$ of densities, however small they are."""

    largest: Scalar | float = _LOG_OF_NOTHING
    total: Scalar | float = 0.0

    def plus(
        self,
        sensor: Gaussian | StudentT | BinaryAt,
        reading: Scalar,
        value: Scalar,
        scale: Scalar,
        share: Scalar,
    ) -> "_LogSum":
        log_term = sensor.log_density(reading, value, scale)
        excess = log_term - self.largest
        factor = jnp.exp(-jnp.abs(excess))
        total = jnp.where(excess > 0, self.total * factor + share, self.total + share * factor)
        return _LogSum(jnp.maximum(self.largest, log_term), total)

    def times(self, factor: Scalar) -> "_LogSum":
        return _LogSum(self.largest, self.total * factor)

    def log(self) -> Scalar:
        return self.largest + jnp.log(jnp.maximum(self.total, _MIN_MASS))


class _AngleBins(NamedTuple):
    """Equal bins of the angle from the axis, and its density."""

    low: Scalar
    length: Scalar
    tail: Scalar
    """The angle that stands for all angles beyond the last bin."""
    mass: Scalar
    """Of all bins."""
    off: Scalar
    side: Scalar
    density: Scalar
    """In the middle of the first bin, relative to the largest of all bins."""
    growth: Scalar
    growth_step: Scalar
    """The density of the second bin over that of the first, and how this ratio changes from bin to bin."""
    fold: Scalar
    fold_step: Scalar
    """The density on the other side of the axis over that on this one: at the first bin, and its growth."""

    @classmethod
    def about(
        cls, direction_profile: DirectionProfile, error: Scalar, unseen: Scalar | float
    ) -> "_AngleBins":
        off = jnp.abs(direction_profile.angle)
        axis = direction_profile.value(direction_profile.angle)
        edge = direction_profile.width * jnp.sqrt(2.0 * jnp.log1p(axis / unseen))
        high = jnp.minimum(off + _MAX_ERRORS * error, edge)
        low = jnp.minimum(jnp.maximum(off - _MAX_ERRORS * error, 0.0), high)
        length = (high - low) / NUM_ANGLE_BINS
        mass = ndtr((high - off) / error) - ndtr((-high - off) / error)
        rate = 2 * off / error**2
        middle = low + 0.5 * length
        first, step = (middle - off) / error, length / error
        nearest = (jnp.clip(off, middle, high - 0.5 * length) - off) / error
        return cls(
            low=low,
            length=length,
            tail=jnp.maximum(high, off),
            mass=jnp.maximum(mass, _MIN_MASS),
            off=off,
            side=jnp.where(direction_profile.angle < 0, -1.0, 1.0),
            density=jnp.exp(0.5 * (nearest * nearest - first * first)),
            growth=jnp.exp(-step * (first + 0.5 * step)),
            growth_step=jnp.exp(-step * step),
            fold=jnp.exp(-rate * middle),
            fold_step=jnp.exp(-rate * length),
        )

    def turn(self, angle: Scalar) -> Scalar:
        """Return the turn of the wind that puts the station at this angle from the axis, on its own side."""
        return self.side * (self.off - angle)


def _widened(sensor: Gaussian | StudentT | BinaryAt, value: Scalar, step: Scalar) -> Scalar:
    """Return the scale of the noise, widened for a field that varies by `step` about this value."""
    if isinstance(sensor, BinaryAt):
        return step
    scale, smoothing = sensor.scale(value), _SMOOTHING_STEP_SHARE * step
    return jnp.sqrt(scale * scale + smoothing * smoothing)
