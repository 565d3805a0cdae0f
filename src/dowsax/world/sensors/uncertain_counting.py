"""Counts whose expected rate is itself uncertain: efficiencies, scatter and shields that no model has."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Key, Scalar, Station, Theta
from dowsax.world.base import Field, NeedsTheta, Sensor
from dowsax.world.sensors.counting import Counting
from dowsax.world.sensors.wrapper import SensorWrapper

_MIN_RATE = 1e-6
"""[1/s], in a dwell time of a day less than a count in ten: what errs does not matter."""
_MAX_SHAPE = 1e8
"""Of the gamma distribution: from here on counts vary as Poisson's, to within float32."""
_TRANSMISSION, _TRANSMISSION_ERROR = 1 / 3, 0.6
"""What a shield lets through, and its relative standard deviation: a centimetre of lead for 662 keV, give or
take as much."""
# From here on Stirling's series for log x! is exact in float32.
_MIN_STIRLING = 16.0


class UncertainCounting(eqx.Module):
    r"""$z \sim \text{Poisson}(\lambda)$, where λ is gamma distributed about the mean count.

    Its variance is that of two errors: `noise_ratio` of what the source adds, and `variation` of the
    background. So counts have a negative binomial distribution. A share of the readings is `shielded`, and
    sees a third of the source, within a factor of about two.

    Without a background, all of the intensity is the source's.
    """

    counting: Counting
    noise_ratio: float
    """Relative error of what the source adds, at least zero."""
    variation: float = 0.0
    """Relative error of the background, at least zero."""
    shielded: float = eqx.field(default=0.0, static=True)
    """The share of readings behind a shield, in [0, 1)."""

    def __check_init__(self) -> None:
        if not self.variation >= 0:
            raise ValueError(f"`variation` must be at least 0; got {self.variation:g}.")
        if not 0 <= self.shielded < 1:
            raise ValueError(f"`shielded` must be in [0, 1); got {self.shielded:g}.")

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sample_over(key, intensity, jnp.zeros_like(intensity), station)

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sketch_over(key, intensity, jnp.zeros_like(intensity), station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.log_prob_over(reading, intensity, jnp.zeros_like(intensity), station)

    def sample_over(self, key: Key, intensity: Scalar, background: Scalar, station: Station) -> Scalar:
        """Draw a count; the background is part of the intensity [1/s]."""
        shield_key, gamma_key, count_key = jax.random.split(key, 3)
        mean, shape = self._drawn(shield_key, intensity, background, station)
        rate = mean * jax.random.gamma(gamma_key, shape) / shape
        return jax.random.poisson(count_key, jnp.where(shape < _MAX_SHAPE, rate, mean)).astype(jnp.float32)

    def sketch_over(self, key: Key, intensity: Scalar, background: Scalar, station: Station) -> Scalar:
        """Draw an approximate count (Wilson and Hilferty, then Cornish and Fisher); exact draws are slow."""
        shield_key, gamma_key, count_key = jax.random.split(key, 3)
        mean, shape = self._drawn(shield_key, intensity, background, station)
        root = 1.0 - 1.0 / (9.0 * shape) + jax.random.normal(gamma_key) / (3.0 * jnp.sqrt(shape))
        rate, normal = mean * jnp.maximum(root, 0.0) ** 3, jax.random.normal(count_key)
        return jnp.maximum(jnp.round(rate + jnp.sqrt(rate) * normal + (normal * normal - 1) / 6), 0.0)

    def log_prob_over(
        self, reading: Scalar, intensity: Scalar, background: Scalar, station: Station
    ) -> Scalar:
        """Return the log probability of a count; the background is part of the intensity [1/s]."""
        possible = (reading >= 0) & (reading == jnp.floor(reading))
        count = jnp.where(possible, reading, 0.0)
        source = jnp.maximum(intensity - background, 0.0)
        log_prob = _log_negative_binomial(count, *self._law(source, self.noise_ratio, background, station))
        if self.shielded:
            behind = self._law(_TRANSMISSION * source, self._shielded_ratio, background, station)
            log_prob = jnp.logaddexp(
                math.log1p(-self.shielded) + log_prob,
                math.log(self.shielded) + _log_negative_binomial(count, *behind),
            )
        return jnp.where(possible, log_prob, -jnp.inf)

    def fault(self, readings: np.ndarray) -> str | None:
        return self.counting.fault(readings)

    @property
    def _shielded_ratio(self) -> Scalar:
        return jnp.hypot(jnp.asarray(self.noise_ratio), _TRANSMISSION_ERROR)

    def _law(
        self, source: Scalar, ratio: float | Scalar, background: Scalar, station: Station
    ) -> tuple[Scalar, Scalar]:
        """Return the mean count, and the shape of the gamma distribution of λ."""
        rate = jnp.maximum(source + background, _MIN_RATE)
        # Relative errors of the mean count, which grows more slowly than the rate where there is a dead time.
        slope = 1.0 / (1.0 + rate * self.counting.dead_time)
        errors = ratio * (source / rate) * slope, self.variation * (background / rate) * slope
        shape = 1.0 / jnp.maximum(errors[0] ** 2 + errors[1] ** 2, 1.0 / _MAX_SHAPE)
        return self.counting.mean(source + background, station), shape

    def _drawn(
        self, key: Key, intensity: Scalar, background: Scalar, station: Station
    ) -> tuple[Scalar, Scalar]:
        """Return mean and shape, with a shield or without."""
        source = jnp.maximum(intensity - background, 0.0)
        if not self.shielded:
            return self._law(source, self.noise_ratio, background, station)
        is_shielded = jax.random.uniform(key) < self.shielded
        return self._law(
            jnp.where(is_shielded, _TRANSMISSION * source, source),
            jnp.where(is_shielded, self._shielded_ratio, self.noise_ratio),
            background,
            station,
        )


class OverBackground(SensorWrapper):
    """An uncertain counter that knows which part of the intensity is the background."""

    sensor: Sensor
    """An `UncertainCounting`, once it is bound to Θ."""
    background: Field
    """The field without its source."""

    def bind(self, theta: Theta) -> "Over":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, UncertainCounting)
        return Over(sensor, self.background, theta)


class Over(eqx.Module):
    """`OverBackground` for one Θ."""

    sensor: UncertainCounting
    background: Field
    theta: Theta

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sample_over(key, intensity, self.background(self.theta, station), station)

    def sketch(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.sketch_over(key, intensity, self.background(self.theta, station), station)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        return self.sensor.log_prob_over(reading, intensity, self.background(self.theta, station), station)


def _log_negative_binomial(count: Scalar, mean: Scalar, shape: Scalar) -> Scalar:
    r"""$\log p(k)$ of a Poisson count whose mean is gamma distributed, with mean μ and shape r.

    By the deviances of a binomial distribution (Loader 2000), in which no large numbers cancel:
    $k\,d((1 + r/k) \mu / (r + \mu)) + r\,d((r + k)/(r + \mu))$ with $d(1 + u) = u - \log(1 + u)$.
    """
    some = jnp.maximum(count, 1.0)
    total = some + shape
    of_count = shape * (mean - some) / (some * (shape + mean))
    of_shape = (some - mean) / (shape + mean)
    log_shape = jnp.log(total) - jnp.log(shape + mean)
    log_count = jnp.log(mean) - jnp.log(some) + log_shape
    deviance = some * _excess(of_count, log_count) + shape * _excess(of_shape, log_shape)
    errors = _stirling_error(total) - _stirling_error(shape) - _stirling_error(some)
    # r/n of the probability of r in n = r + k, and its Gaussian factor.
    factor = 0.5 * (jnp.log(shape) - jnp.log(total) - jnp.log(some) - math.log(2 * math.pi))
    return jnp.where(count < 1, -shape * jnp.log1p(mean / shape), errors - deviance + factor)


def _excess(part: Scalar, logarithm: Scalar) -> Scalar:
    r"""$u - \log(1 + u)$; with the logarithm itself where 1 + u would round."""
    return part - jnp.where(part > -0.5, jnp.log1p(jnp.maximum(part, -0.5)), logarithm)


def _stirling_error(value: Scalar) -> Scalar:
    r"""$\log \Gamma(x + 1) - (x + \frac12) \log x + x - \frac12 \log 2\pi$.

    Below 16 by that of $y = x + 4$, as $\Gamma(x + 1) = \Gamma(y + 1) / ((x + 1) \dots (x + 4))$, which takes
    a fraction of the time of the logarithm of Γ.
    """
    few = jnp.minimum(value, _MIN_STIRLING)
    more = few + 4.0
    product = (few + 1.0) * (few + 2.0) * (few + 3.0) * more
    moved = (more + 0.5) * jnp.log(more) - (few + 0.5) * jnp.log(few) - 4.0 - jnp.log(product)
    is_few = value < _MIN_STIRLING
    inverse = 1.0 / jnp.where(is_few, more, jnp.maximum(value, _MIN_STIRLING))
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square / 1260))
    return jnp.where(is_few, moved, 0.0) + series
