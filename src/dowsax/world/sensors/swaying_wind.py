"""Readings in a wind whose direction is off by another angle each time."""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import ndtr

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Sensor, Turnable, Turning, Unsettled
from dowsax.world.ranges import number
from dowsax.world.sensors.fuzzy_edge import Edged
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.passed_on import AsGiven
from dowsax.world.sensors.student_t import StudentT

NUM_CELLS = 8
"""With these, log p is off by 0.05 nats on average in plumes of 1 to 30° and errors of 2 to 20°."""
_ERRORS = 4.0
"""Of the wind, beyond which an angle is in the tail."""
_UNSEEN = 0.1
"""Of the noise floor: what adds less is in the tail."""
_SMOOTHING = 0.4
"""Of the step between neighbouring nodes: a row of kernels this wide is even to a tenth."""
_LEAST_MASS = 1e-30
_NOTHING = -1e30


class SwayingWind(AsGiven):
    r"""$p(z \mid \Theta) = \int p(z \mid c(\delta))\, \mathcal N(\delta; 0, s^2)\, d\delta$.

    $c(\delta)$ is the field in a wind turned by δ from the measured one, independently at each reading: an
    anemometer that jitters, or air that goes elsewhere at the source than where its wind is measured. By
    itself, without Θ, it is the sensor as it was given.
    """

    sensor: Sensor
    """With a `noise_ratio` and a `noise_floor`, which may be unknown, or a fuzzy edge."""
    field: Turnable
    """What the sensor is told of: the source, without a background."""
    error: float = eqx.field(converter=number, static=True)
    """$s$ [°], above zero."""

    def __check_init__(self) -> None:
        if not 0 < self.error <= 45:
            raise ValueError(f"The error of a wind direction is from 0 to 45°; got {self.error:g}.")

    def settled(self, theta: Theta) -> "Swayed":
        sensor = self.sensor.settled(theta) if isinstance(self.sensor, Unsettled) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT | Edged)
        return Swayed(sensor, self.field, theta, math.radians(self.error))


def sways(sensor: Any) -> bool:
    """Whether this sensor, or one within it, has a swaying wind: it takes four times as long as another."""
    return isinstance(sensor, SwayingWind) or (hasattr(sensor, "sensor") and sways(sensor.sensor))


class Swayed(eqx.Module):
    r"""A swaying wind, were Θ the truth.

    A plume may be far narrower than the wind's error, and noise far less than its slope, so that nodes in δ
    alone would miss it: nine of Gauss and Hermite do, by hundreds of nats. Cells are where the plume is:
    angles $a$ from its axis up to where it can no longer be seen, or as far as the error reaches. Either side
    of the axis is alike, so that the density of $a \ge 0$ is that of both. Within a cell the field goes from
    one value to the next, and the noise about its mean is wider by as much. All angles further out are one
    more cell. Together they are a density in $z$ again.
    """

    sensor: Gaussian | StudentT | Edged
    field: Turnable
    theta: Theta
    error: float = eqx.field(static=True)
    """$s$ [rad]"""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        turn_key, noise_key = jax.random.split(key)
        value = self.field.turning(self.theta, station).value(self.error * jax.random.normal(turn_key))
        return self.sensor.sample(noise_key, value, station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del intensity
        turning = self.field.turning(self.theta, station)
        sensor = self.sensor.at(station) if isinstance(self.sensor, Edged) else self.sensor
        cells = _Cells.about(turning, self.error, _UNSEEN * sensor.noise_floor)

        def add(carry, number):
            before, total, mass, fold = carry
            value = turning.value(cells.turn(cells.low + cells.length * (number + 1)))
            share = cells.share(number) * (1 + fold)
            term = _widened(sensor, 0.5 * (value + before), value - before).log_prob(
                reading, 0.5 * (value + before), station
            )
            return (value, total.plus(term, share), mass + share, fold * cells.fold_step), None

        first = turning.value(cells.turn(cells.low))
        start = first, _LogSum.nothing(), jnp.zeros_like(first), cells.fold
        # A loop and no batch: its steps are of all particles each, which is far quicker than rows of cells.
        (_, total, mass, _), _ = jax.lax.scan(add, start, jnp.arange(NUM_CELLS) * 1.0)
        tail = sensor.log_prob(reading, turning.value(cells.turn(cells.tail)), station)
        inside = _LogSum(total.largest, total.total * cells.mass / mass)
        return inside.plus(tail, 1 - cells.mass).log()


class _LogSum(NamedTuple):
    """$e^m S$ of terms that come one by one, of which none overflows."""

    largest: Scalar
    total: Scalar

    @classmethod
    def nothing(cls) -> "_LogSum":
        return cls(jnp.float32(_NOTHING), jnp.float32(0.0))

    def plus(self, log_term: Scalar, share: Scalar) -> "_LogSum":
        """And share · e^term."""
        excess = log_term - self.largest
        factor = jnp.exp(-jnp.abs(excess))
        total = jnp.where(excess > 0, self.total * factor + share, self.total + share * factor)
        return _LogSum(jnp.maximum(self.largest, log_term), total)

    def log(self) -> Scalar:
        return self.largest + jnp.log(jnp.maximum(self.total, _LEAST_MASS))


class _Cells(NamedTuple):
    """Equal cells of the angle from the axis, and its density there."""

    low: Scalar
    length: Scalar
    tail: Scalar
    """Where all angles beyond the last cell are taken to be."""
    mass: Scalar
    """Of the cells together."""
    off: Scalar
    side: Scalar
    error: float
    nearest: Scalar
    fold: Scalar
    fold_step: Scalar
    """The density on the other side of the axis over that on this one: at the first cell, and its growth."""

    @classmethod
    def about(cls, turning: Turning, error: float, unseen: Scalar | float) -> "_Cells":
        off = jnp.abs(turning.angle)
        axis = turning.value(turning.angle)
        edge = turning.width * jnp.sqrt(2.0 * jnp.log1p(axis / unseen))
        high = jnp.minimum(off + _ERRORS * error, edge)
        low = jnp.minimum(jnp.maximum(off - _ERRORS * error, 0.0), high)
        length = (high - low) / NUM_CELLS
        mass = ndtr((high - off) / error) - ndtr((-high - off) / error)
        rate = 2 * off / error**2
        middle = low + 0.5 * length
        return cls(
            low=low,
            length=length,
            tail=jnp.maximum(high, off),
            mass=jnp.maximum(mass, _LEAST_MASS),
            off=off,
            side=jnp.where(turning.angle < 0, -1.0, 1.0),
            error=error,
            nearest=(jnp.clip(off, middle, high - 0.5 * length) - off) / error,
            fold=jnp.exp(-rate * middle),
            fold_step=jnp.exp(-rate * length),
        )

    def turn(self, angle: Scalar) -> Scalar:
        """Of the wind, with which the station is at this angle from the axis, on its own side."""
        return self.side * (self.off - angle)

    def share(self, number: Scalar) -> Scalar:
        """The density in the middle of a cell, over the largest of all cells."""
        away = (self.low + self.length * (number + 0.5) - self.off) / self.error
        return jnp.exp(0.5 * (self.nearest * self.nearest - away * away))


def _widened(sensor: Gaussian | StudentT, value: Scalar, step: Scalar) -> Gaussian | StudentT:
    """The sensor where the field goes through a whole step about this value."""
    scale, smoothing = sensor.scale(value), _SMOOTHING * step
    floor = sensor.noise_floor + jnp.sqrt(scale * scale + smoothing * smoothing) - scale
    return eqx.tree_at(lambda at: at.noise_floor, sensor, floor)
