"""Noise that nearby readings share: walls, trees and bodies shadow a whole neighbourhood."""

from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.types import Earlier, Key, Number, Scalar, Station, Theta
from dowsax.world.base import Distribution, Field, NeedsTheta, Sensor
from dowsax.world.sensors.gaussian import Gaussian
from dowsax.world.sensors.stated_uncertainty import Stated
from dowsax.world.sensors.student_t import StudentT
from dowsax.world.sensors.wrapper import SensorWrapper

NUM_EARLIER = 64
_NUM_SINGLE, _NUM_HALVINGS = 4, 2
"""The nearest of them count one by one, the others in groups, by halving their area so many times."""
NUM_UNGROUPED = _NUM_SINGLE + 2**_NUM_HALVINGS
"""Of so few each is a group of its own: for antennas, as there is no mean of headings."""
MAX_CORRELATION = 0.95
"""What two readings of one place do not share keeps their covariance well conditioned."""
_CORRELATIONS = (0.0, 0.5, MAX_CORRELATION)
_NUM_LENGTHS, _TAIL = 4, 0.05
"""Lengths for which weights are computed, and the share of the distribution of the length beyond each end."""
# A GPU would otherwise round the factors of a product to ten bits.
_PRECISION = jax.lax.Precision.HIGHEST


class Correlated(SensorWrapper):
    r"""Additive noise of which a share of the variance is correlated in space.

    $\operatorname{corr}(e_i, e_j) = s\, e^{-|p_i - p_j|/\ell}$ for errors $e = (z - c)/\sigma(c)$ of two
    readings, with the correlation s at one place and the length ℓ [m] (Gudmundson 1991). Given the earlier
    errors, that of a reading has mean $w \cdot \bar e$ and variance v, from the nearest four of them and the
    means $\bar e$ of four groups of others (Vecchia 1988; single ones would leave out most of what many tell
    together). The field at the middle of a group stands for its mean over the group.

    w and v are computed once a reading for a grid of s and ℓ, and interpolated between. With Student's t an
    earlier error counts for less where it is an outlier. Without Θ this is the inner sensor.
    """

    sensor: Sensor
    """`Gaussian` or `StudentT`, once it is bound to Θ, perhaps with stated uncertainties."""
    field: Field
    correlation: float | Scalar
    """s, in [0, 0.95]: of the noise of two readings at one place."""
    length: float | Scalar
    """ℓ [m], above zero."""
    columns: tuple[tuple[str, int], ...] = eqx.field(static=True)
    """Pairs of `correlation` or `length`, where it is unknown, and its column of Θ."""
    lengths: tuple[Number, ...]
    """[m], of the grid, in order."""
    num_earlier: int = eqx.field(default=NUM_EARLIER, static=True)

    def bind(self, theta: Theta) -> "CorrelatedFor":
        sensor = self.sensor.bind(theta) if isinstance(self.sensor, NeedsTheta) else self.sensor
        assert isinstance(sensor, Gaussian | StudentT | Stated)
        numbers = {"correlation": self.correlation, "length": self.length}
        numbers |= {name: theta[column] for name, column in self.columns}
        of_correlation = _hats(jnp.asarray(numbers["correlation"]), _CORRELATIONS)
        of_length = _hats(jnp.log(numbers["length"]), [jnp.log(length) for length in self.lengths])
        return CorrelatedFor(sensor, self.field, theta, of_correlation, of_length)

    def gaps(self, station: Station, stations: Station, ages: Float[Array, " k"]) -> Float[Array, " k"]:
        """Return the squared distances [m²]."""
        del ages
        return jnp.sum((stations.place - station.place[None, :]) ** 2, axis=-1)

    def condense(self, station: Station, earlier: Earlier) -> Earlier:
        """Return the means of groups of neighbours, with w and v for the whole grid, which need no Θ."""
        places, is_taken = earlier.stations.place, earlier.is_taken
        shares = _group_shares(places, is_taken)
        is_used = jnp.sum(shares, axis=1) > 0
        apart = jnp.linalg.norm(places[:, None, :] - places[None, :, :], axis=-1)
        away = jnp.linalg.norm(places - station.place[None, :], axis=-1)
        own = jnp.sum(shares * shares, axis=1)

        def solve(correlation: Scalar, length: Scalar) -> Float[Array, " columns"]:
            """Return w and v of the means: averages of the covariances of their members."""
            near = jnp.exp(-apart / length)
            shared = jnp.matmul(
                jnp.matmul(shares, near, precision=_PRECISION), shares.T, precision=_PRECISION
            )
            # A group without members has a weight of zero.
            noise = jnp.diag(jnp.where(is_used, (1 - correlation) * own, 1.0))
            across = correlation * jnp.matmul(shares, jnp.exp(-away / length), precision=_PRECISION)
            weights = jnp.linalg.solve(correlation * shared + noise, across)
            return jnp.append(weights, 1.0 - jnp.dot(across, weights, precision=_PRECISION))

        over_lengths = jax.vmap(solve, in_axes=(None, 0))
        grid = jax.vmap(over_lengths, in_axes=(0, None))
        weights = grid(jnp.asarray(_CORRELATIONS[1:]), jnp.asarray(self.lengths))
        means = jax.tree.map(lambda leaf, here: _means(shares, leaf, here), earlier.stations, station)
        return Earlier(means, jnp.matmul(shares, earlier.readings, precision=_PRECISION), is_used, weights)


class CorrelatedFor(eqx.Module):
    """`Correlated` for one Θ."""

    sensor: Gaussian | StudentT | Stated
    field: Field
    theta: Theta
    of_correlation: list[Scalar]
    of_length: list[Scalar]
    """The share of each point of the grid in w and v."""

    def sample(self, key: Key, intensity: Scalar, station: Station) -> Scalar:
        mean, spread = self._given_earlier(intensity, station)
        return mean + spread * (self._at(station).sample(key, intensity, station) - intensity)

    def log_prob(self, reading: Scalar, intensity: Scalar, station: Station) -> Scalar:
        mean, spread = self._given_earlier(intensity, station)
        sensor = self._at(station)
        return sensor.log_density(reading, mean, spread * sensor.scale(intensity))

    def _at(self, station: Station) -> Gaussian | StudentT:
        return self.sensor.at(station) if isinstance(self.sensor, Stated) else self.sensor

    def _given_earlier(self, intensity: Scalar, station: Station) -> tuple[Scalar, Scalar]:
        """Return the mean given the earlier readings, and its spread relative to that of a first reading."""
        earlier = station.earlier
        if earlier is None:
            return intensity, jnp.ones_like(intensity)
        weights = earlier.weights
        assert weights is not None
        # Sums of scalars, as arrays of a few numbers for each particle would take ten times as long.
        of_grid = [
            [correlation * length for length in self.of_length] for correlation in self.of_correlation[1:]
        ]

        def interpolate(column: int) -> Scalar:
            parts = [
                share * weights[row, at, column]
                for row, shares in enumerate(of_grid)
                for at, share in enumerate(shares)
            ]
            return sum(parts[1:], parts[0])

        shift = jnp.zeros_like(intensity)
        for number in range(earlier.readings.shape[0]):
            before = jax.tree.map(lambda leaf, number=number: leaf[number], earlier.stations)
            shift += interpolate(number) * self._error(before, earlier.readings[number])
        # Without correlation, the first of the grid, the variance is one and all other weights are zero.
        variance = self.of_correlation[0] + interpolate(-1)
        return intensity + self._at(station).scale(intensity) * shift, jnp.sqrt(variance)

    def _error(self, station: Station, reading: Scalar) -> Scalar:
        """Return the error of an earlier reading in units of its noise; less of it where it is an outlier."""
        expected, sensor = self.field(self.theta, station), self._at(station)
        error = (reading - expected) / sensor.scale(expected)
        if not isinstance(sensor, StudentT):
            return error
        degrees = sensor.degrees
        return error * jnp.minimum((degrees + 1) / (degrees + error * error), 1.0)


def _group_shares(places: Float[Array, "m axes"], is_taken: Bool[Array, " m"]) -> Float[Array, "groups m"]:
    """Return the share of each reading in the mean of each group; the nearest are groups of their own.

    The others are halves of halves, along the longer side.
    """
    single = jnp.eye(_NUM_SINGLE, places.shape[0], dtype=bool) & is_taken[None, :]
    places, is_taken = places[_NUM_SINGLE:], is_taken[_NUM_SINGLE:]
    groups = jnp.zeros(places.shape[0], jnp.int32)
    numbers = jnp.arange(places.shape[0])
    for level in range(_NUM_HALVINGS):
        member = (groups[None, :] == jnp.arange(2**level)[:, None]) & is_taken[None, :]
        inside = lambda fill, member=member: jnp.where(member[:, :, None], places[None], fill)  # noqa: E731
        sides = jnp.max(inside(-jnp.inf), axis=1) - jnp.min(inside(jnp.inf), axis=1)
        longer = jnp.argmax(sides, axis=1)[groups]
        along = jnp.take_along_axis(places, longer[:, None], axis=1)[:, 0]
        ahead = (along[None, :] < along[:, None]) | (
            (along[None, :] == along[:, None]) & (numbers[None, :] < numbers[:, None])
        )
        same = (groups[None, :] == groups[:, None]) & is_taken[None, :]
        rank, size = jnp.sum(same & ahead, axis=1), jnp.sum(same, axis=1)
        groups = 2 * groups + (2 * rank >= size).astype(jnp.int32)
    far = (groups[None, :] == jnp.arange(2**_NUM_HALVINGS)[:, None]) & is_taken[None, :]
    member = jnp.concatenate([single, jnp.pad(far, ((0, 0), (_NUM_SINGLE, 0)))])
    return member / jnp.maximum(jnp.sum(member, axis=1, keepdims=True), 1)


def _means(shares: Float[Array, "groups m"], members: Array, own: Array) -> Array:
    """Return the mean of each group, or its first where there is no mean; the own value for an empty one."""
    is_used = (jnp.sum(shares, axis=1) > 0).reshape(-1, *[1] * (members.ndim - 1))
    first = members[jnp.argmax(shares, axis=1)]
    if jnp.issubdtype(members.dtype, jnp.floating):
        first = jnp.tensordot(shares, members, axes=1, precision=_PRECISION)
    return jnp.where(is_used, first, jnp.asarray(own)[None])


def lengths_for(length: Distribution | float) -> tuple[float, ...]:
    """Return the lengths [m] of the grid: evenly spaced in their logarithm, over nearly all of the prior."""
    if not isinstance(length, Distribution):
        return (float(length),)
    low, high = (float(length.quantile(jnp.asarray(share))) for share in (_TAIL, 1 - _TAIL))
    return tuple(np.geomspace(low, high, _NUM_LENGTHS).tolist())


def _hats(at: Scalar, nodes: Sequence[float | Scalar]) -> list[Scalar]:
    """Return the linear interpolation between the nodes as a share of each; beyond the ends, the end's."""
    parts = [jnp.clip((at - low) / (high - low), 0.0, 1.0) for low, high in pairwise(nodes)]
    before, after = [jnp.ones_like(at), *parts], [*parts, jnp.zeros_like(at)]
    return [upper - lower for upper, lower in zip(before, after, strict=True)]
