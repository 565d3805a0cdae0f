"""A sensor without calibration: only the order of its readings means something."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Earlier, Key, Scalar, Station, Theta
from dowsax.world.base import Field

NUM_EARLIER = 512
"""The latest readings, of which `NUM_RANKED` are compared with."""
NUM_RANKED = 8
"""Up to this many earlier readings the probability is that of the order of all."""
_GUMBEL_STD = math.pi / math.sqrt(6)
_MIN_SCALE = 1e-3
_TINY = 1e-37
_LOG_OF_NOTHING = -1e30
_MARGIN = 0.05
"""Share of the gap between two readings: nearer to either, a drawn value might round to it."""


class Rank(eqx.Module):
    r"""The place of a reading in the order of the earlier ones; its value means nothing else.

    A reading is an unknown increasing function of $x = \log(\theta + c) + s\,g$, with what the source adds c,
    the concentration θ at which the sensor begins to respond, and noise g of Gumbel's distribution, whose
    long upper tail is that of the gusts in a plume. The order of such readings has Plackett and Luce's
    distribution with the weights $w = (\theta + c)^{1/s}$. Given the order of m earlier ones, from the
    highest to the lowest, that of the next is

    $$P(j \text{ of them are higher}) = \prod_{k < j} \frac{S_k}{S_k + w} \cdot \frac{w}{S_j + w},\qquad
      S_k = \sum_{i \ge k} w_i,\quad S_m = 0 .$$

    Each reading is compared with up to eight earlier ones of the same sensor: the highest, the lowest, and
    some between, more of them near the top. Where it is equal to some of them, the mean over the places among
    them counts. Only the ratio of c to θ matters. The first reading says nothing, and without Θ none does.
    """

    field: Field
    """c"""
    threshold: float
    """θ > 0, in the unit of the field."""
    fluctuation: float
    r"""i > 0: the standard deviation of x is $\sqrt{\log(1 + i^2)}$."""
    columns: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Pairs of `threshold` or `fluctuation`, where it is unknown, and its column of Θ."""
    has_sensors: bool = eqx.field(default=False, static=True)
    """Whether there are several sensors, each with an order of its own."""
    num_earlier: int = eqx.field(default=NUM_EARLIER, static=True)

    def bind(self, theta: Theta) -> "Ranked":
        numbers = {"threshold": self.threshold, "fluctuation": self.fluctuation}
        numbers |= {name: theta[column] for name, column in self.columns}
        spread = jnp.sqrt(jnp.log1p(jnp.asarray(numbers["fluctuation"]) ** 2))
        scale = jnp.maximum(spread / _GUMBEL_STD, _MIN_SCALE)
        return Ranked(self.field, theta, jnp.asarray(numbers["threshold"]), scale, self.has_sensors)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        del station
        return intensity + jax.random.gumbel(key)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        del intensity, station
        return jnp.zeros_like(reading)

    def comparable(self, reading: Scalar, station: Station) -> Scalar:
        """Return the place among the earlier readings, from the lowest on; the middle one of equal ones."""
        if station.earlier is None:
            return jnp.zeros_like(reading)
        higher, not_lower = _places_of(reading, station.earlier)
        return -0.5 * (higher + not_lower).astype(reading.dtype)

    def gaps(self, station: Station, stations: Station, ages: Float[Array, " k"]) -> Float[Array, " k"]:
        """Return the ages of the readings; those of other sensors do not compare."""
        if station.sensor is None or stations.sensor is None:
            return ages
        return jnp.where(stations.sensor == station.sensor, ages, jnp.inf)

    def condense(self, station: Station, earlier: Earlier) -> Earlier:
        """Return those that a reading is compared with, the highest first."""
        del station
        number = jnp.sum(earlier.is_taken)
        order = jnp.argsort(jnp.where(earlier.is_taken, -earlier.readings, jnp.inf), stable=True)
        steps = jnp.arange(NUM_RANKED)
        # Dense at the top: that is where the readings in the plume are.
        spread = jnp.floor((number - 1) * (steps / (NUM_RANKED - 1)) ** 2).astype(jnp.int32)
        at = order[jnp.minimum(jnp.maximum(steps, spread), earlier.readings.shape[0] - 1)]
        stations, readings = jax.tree.map(lambda leaf: leaf[at], (earlier.stations, earlier.readings))
        return Earlier(stations, readings, steps < number)


class Ranked(eqx.Module):
    """`Rank` for one Θ."""

    field: Field
    theta: Theta
    threshold: Scalar
    scale: Scalar
    """s"""
    has_sensors: bool = eqx.field(static=True)

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        """Draw a place in the order, and a value there; of a first reading x itself, relative to θ."""
        noise_key, place_key, value_key = jax.random.split(key, 3)
        first = jnp.log1p(intensity / self.threshold) + self.scale * jax.random.gumbel(noise_key)
        if station.earlier is None:
            return first
        # By the distribution function: how many places have less than a random share of all.
        share = jnp.log(jax.random.uniform(place_key, minval=_TINY))
        total, place = jnp.float32(_LOG_OF_NOTHING), jnp.zeros((), jnp.int32)
        for log_prob in self._log_places(intensity, station)[:-1]:
            total = jnp.logaddexp(total, log_prob)
            place += share > total
        return jnp.where(station.earlier.is_taken[0], _value_at(value_key, place, station.earlier), first)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        if self.has_sensors and station.sensor is None:
            raise ValueError("Several sensors that rank need the sensor of each reading: `Station.sensor`.")
        if station.earlier is None:
            return jnp.zeros_like(reading)
        higher, not_lower = _places_of(reading, station.earlier)
        total = jnp.float32(_LOG_OF_NOTHING)
        for place, log_prob in enumerate(self._log_places(intensity, station)):
            is_here = (higher <= place) & (place <= not_lower)
            total = jnp.where(is_here, jnp.logaddexp(total, log_prob), total)
        return total - jnp.log(1.0 + not_lower - higher)

    def _log_places(self, intensity: Scalar, station: Station) -> list[Scalar]:
        """Return the log probability of each place, from above all to below all; next to none of the others.

        Sums of scalars, as arrays of a few numbers for each particle would take ten times as long.
        """
        earlier = station.earlier
        assert earlier is not None
        own = self._log_weight(intensity)
        # A loop, as the field would otherwise be compiled eight times.
        weigh = lambda before: self._log_weight(self.field(self.theta, before))  # noqa: E731
        log_weights = jnp.where(earlier.is_taken, jax.lax.map(weigh, earlier.stations), _LOG_OF_NOTHING)
        rest, rests = jnp.full_like(own, _LOG_OF_NOTHING), []
        for number in reversed(range(NUM_RANKED)):
            rest = jnp.logaddexp(rest, log_weights[number])
            rests.insert(0, rest)
        places, passed = [], jnp.zeros_like(own)
        for rest in rests:
            places.append(passed - jax.nn.softplus(rest - own))
            passed = passed - jax.nn.softplus(own - rest)
        return [*places, passed]

    def _log_weight(self, intensity: Scalar) -> Scalar:
        return jnp.log(jnp.maximum(self.threshold + intensity, _TINY)) / self.scale


def _places_of(reading: Scalar, earlier: Earlier) -> tuple[Int[Array, ""], Int[Array, ""]]:
    """Return the first and the last place that a reading may have: how many are higher, and not lower."""
    higher = jnp.sum(earlier.is_taken & (earlier.readings > reading))
    return higher, jnp.sum(earlier.is_taken & (earlier.readings >= reading))


def _value_at(key: Key, place: Array, earlier: Earlier) -> Scalar:
    """Return a random value between the readings of two neighbouring places, or beyond the ends."""
    readings, last = earlier.readings, jnp.sum(earlier.is_taken) - 1
    highest, lowest = readings[0], readings[last]
    step = (highest - lowest) / NUM_RANKED
    step = jnp.where(step > 0, step, jnp.maximum(jnp.abs(highest), 1.0))
    above = jnp.where(place == 0, highest + step, readings[jnp.maximum(place - 1, 0)])
    below = jnp.where(place > last, lowest - step, readings[jnp.minimum(place, last)])
    return below + (above - below) * jax.random.uniform(key, minval=_MARGIN, maxval=1 - _MARGIN)
