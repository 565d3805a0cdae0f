"""Readings in a wind whose measured direction has an independent error each time."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import DirectionDependent, DirectionProfile, NeedsTheta, Sensor
from dowsax.world.ranges import number
from dowsax.world.sensors.fuzzy_edge import Edged
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.wrapper import SensorWrapper

NUM_ANGLE_BINS = 8
"""With this many, log p is off by 0.05 nats on average in plumes of 1 to 30° and errors of 2 to 20°."""
_MAX_ERRORS = 4.0
"""Standard deviations of the wind error beyond which an angle is in the tail."""
_UNSEEN_NOISE_SHARE = 0.1
"""A field below this share of the noise floor is in the tail."""
_SMOOTHING_STEP_SHARE = 0.4
"""Of the step between neighbouring nodes: a row of kernels this wide is flat to a tenth."""
_MIN_MASS = 1e-30
_LOG_OF_NOTHING = -1e30


class SwayingWind(SensorWrapper):
    r"""$p(z \mid \Theta) = \int p(z \mid c(\delta))\, \mathcal N(\delta; 0, s^2)\, d\delta$.

    $c(\delta)$ is the field in a wind turned by δ from the measured one, independently at each reading: an
    anemometer that jitters, or air that moves differently at the source than where its wind is measured.
    Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """With a `noise_ratio` and a `noise_floor`, which may be unknown, or a fuzzy edge."""
    field: DirectionDependent
    """The field of the source, without its background."""
    error: float = eqx.field(converter=number, static=True)
    """$s$ [°], > 0."""

    def __check_init__(self) -> None:
        if not 0 < self.error <= 45:
            raise ValueError(f"`error` of the wind direction must be in (0, 45] °; got {self.error:g}.")

    def bind(self, theta: Theta) -> "Swayed":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT | Edged)
        return Swayed(sensor, self.field, theta, math.radians(self.error))


def sways(sensor: Any) -> bool:
    """Whether this sensor, or one inside it, has a swaying wind, which costs four times as much."""
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

    sensor: Gaussian | StudentT | Edged
    field: DirectionDependent
    theta: Theta
    error: float = eqx.field(static=True)
    """$s$ [rad]"""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        turn_key, noise_key = jax.random.split(key)
        value = self.field.direction_profile(self.theta, station).value(
            self.error * jax.random.normal(turn_key)
        )
        return self.sensor.sample(noise_key, value, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        direction_profile = self.field.direction_profile(self.theta, station)
        sensor = self.sensor.at(station) if isinstance(self.sensor, Edged) else self.sensor
        cells = _AngleBins.about(direction_profile, self.error, _UNSEEN_NOISE_SHARE * sensor.noise_floor)

        def add(carry, number):
            before, total, mass, fold = carry
            value = direction_profile.value(cells.turn(cells.low + cells.length * (number + 1)))
            share = cells.share(number) * (1 + fold)
            term = _widen(sensor, 0.5 * (value + before), value - before).log_prob(
                reading, 0.5 * (value + before), station
            )
            return (value, total.plus(term, share), mass + share, fold * cells.fold_step), None

        first = direction_profile.value(cells.turn(cells.low))
        start = first, _LogSum.nothing(), jnp.zeros_like(first), cells.fold
        # A loop over bins, not a batch: each step handles all particles at once, which is far faster.
        (_, total, mass, _), _ = jax.lax.scan(add, start, jnp.arange(NUM_ANGLE_BINS) * 1.0)
        tail = sensor.log_prob(reading, direction_profile.value(cells.turn(cells.tail)), station)
        inside = _LogSum(total.largest, total.total * cells.mass / mass)
        return inside.plus(tail, 1 - cells.mass).log()


class _LogSum(NamedTuple):
    """A running sum $e^m S$ of exponentials that does not overflow."""

    largest: Scalar
    total: Scalar

    @classmethod
    def nothing(cls) -> "_LogSum":
        return cls(jnp.float32(_LOG_OF_NOTHING), jnp.float32(0.0))

    def plus(self, log_term: Scalar, share: Scalar) -> "_LogSum":
        """Add share · e^term."""
        excess = log_term - self.largest
        factor = jnp.exp(-jnp.abs(excess))
        total = jnp.where(excess > 0, self.total * factor + share, self.total + share * factor)
        return _LogSum(jnp.maximum(self.largest, log_term), total)

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
    error: float
    nearest: Scalar
    fold: Scalar
    fold_step: Scalar
    """The density on the other side of the axis over that on this one: at the first bin, and its growth."""

    @classmethod
    def about(cls, direction_profile: DirectionProfile, error: float, unseen: Scalar | float) -> "_AngleBins":
        off = jnp.abs(direction_profile.angle)
        axis = direction_profile.value(direction_profile.angle)
        edge = direction_profile.width * jnp.sqrt(2.0 * jnp.log1p(axis / unseen))
        high = jnp.minimum(off + _MAX_ERRORS * error, edge)
        low = jnp.minimum(jnp.maximum(off - _MAX_ERRORS * error, 0.0), high)
        length = (high - low) / NUM_ANGLE_BINS
        mass = ndtr((high - off) / error) - ndtr((-high - off) / error)
        rate = 2 * off / error**2
        middle = low + 0.5 * length
        return cls(
            low=low,
            length=length,
            tail=jnp.maximum(high, off),
            mass=jnp.maximum(mass, _MIN_MASS),
            off=off,
            side=jnp.where(direction_profile.angle < 0, -1.0, 1.0),
            error=error,
            nearest=(jnp.clip(off, middle, high - 0.5 * length) - off) / error,
            fold=jnp.exp(-rate * middle),
            fold_step=jnp.exp(-rate * length),
        )

    def turn(self, angle: Scalar) -> Scalar:
        """Return the turn of the wind that puts the station at this angle from the axis, on its own side."""
        return self.side * (self.off - angle)

    def share(self, number: Scalar) -> Scalar:
        """Return the density in the middle of a bin, relative to the largest of all bins."""
        away = (self.low + self.length * (number + 0.5) - self.off) / self.error
        return jnp.exp(0.5 * (self.nearest * self.nearest - away * away))


def _widen(sensor: Gaussian | StudentT, value: Scalar, step: Scalar) -> Gaussian | StudentT:
    """Return the sensor with its noise widened for a field that varies by `step` about this value."""
    scale, smoothing = sensor.scale(value), _SMOOTHING_STEP_SHARE * step
    floor = sensor.noise_floor + jnp.sqrt(scale * scale + smoothing * smoothing) - scale
    return eqx.tree_at(lambda at: at.noise_floor, sensor, floor)
