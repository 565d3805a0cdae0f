"""Moves along straight lines: coordinates that follow what the readings say of the source, wherever it is.

A weak source nearby and a strong one far away explain the same readings, and so do many winds: particles
lie on long thin curved ridges, on which straight proposals are refused. Where the logarithm of the field is
linear in some coordinates given the others, weighted least squares says what those would have to be, and a
particle moves in its distance from that. The shift depends on the other coordinates alone, so the Jacobian is
one and any shift is exact, however rough the least squares.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import History
from dowsax.inference.turns import READINGS_A_TURN, over_readings
from dowsax.types import Scalar, Station
from dowsax.world import LogLinear, Model

Rows = Float[Array, "m n"]

# Log intensities that are told apart, first coarsely over all of these, then finely about the best.
_LOWEST, _HIGHEST, _NUM_COARSE = -12.0, 18.0, 76
_NUM_FINE = 33
_LEAST_VARIANCE = 1e-5
_LEAST_PIVOT = 1e-6
_LARGEST = 1e3


class Levels(eqx.Module):
    """What each reading alone says of the log intensity at its station: a mean and a precision."""

    stations: Station
    means: Float[Array, " horizon"]
    precisions: Float[Array, " horizon"]
    size: Int[Array, ""]


class Straightening(eqx.Module):
    """The shift of the linear coordinates as a function of the others."""

    coordinates: LogLinear
    levels: Levels

    def straight(self, rows: Rows) -> Rows:
        """Coordinates as distances from what least squares says."""
        return rows.at[jnp.array(self.coordinates.linear)].add(-self._fitted(rows))

    def bent(self, rows: Rows) -> Rows:
        """The inverse of `straight`."""
        return rows.at[jnp.array(self.coordinates.linear)].add(self._fitted(rows))

    def _fitted(self, rows: Rows) -> Float[Array, "k n"]:
        r"""$\arg\min_\beta \sum_t w_t (y_t - a_t - h_t \cdot \beta)^2 + \sum_j p_j (\beta_j - \beta_{0j})^2$.

        $y_t$ and $w_t$ are the levels, $a_t$ and $h_t$ the terms of the log intensity at the column.
        """
        guess, precision = (jnp.asarray(values) for values in self.coordinates.linear_guess)
        normal, right = self._normal_equations(rows)
        size = len(self.coordinates.linear)
        for row in range(size):
            normal[row][row] = normal[row][row] + precision[row]
            right[row] = right[row] + precision[row] * guess[row]
        solved = jnp.stack(_solve(normal, right))
        return jnp.clip(jnp.where(jnp.isfinite(solved), solved, 0.0), -_LARGEST, _LARGEST)

    def _normal_equations(self, rows: Rows) -> tuple[list[list[Array]], list[Array]]:
        """The sums over the readings so far; the lower triangle of the matrix."""
        levels, size = self.levels, len(self.coordinates.linear)
        last = jnp.maximum(levels.size - 1, 0)
        terms = jax.vmap(self.coordinates.log_terms, in_axes=(1, None))

        def add(at, sums):
            filled = jnp.minimum(at, last)
            weight = jnp.where(at < levels.size, levels.precisions[filled], 0.0)
            station = jax.tree.map(lambda leaf: leaf[filled], levels.stations)
            offset, design = terms(rows, station)
            residual = weight * (levels.means[filled] - offset)
            normal, right = sums
            for row in range(size):
                right[row] = right[row] + design[:, row] * residual
                weighted = weight * design[:, row]
                normal[row] = [old + weighted * design[:, column] for column, old in enumerate(normal[row])]
            return normal, right

        def turn(number, sums):
            for offset in range(READINGS_A_TURN):
                sums = add(number * READINGS_A_TURN + offset, sums)
            return sums

        zero = jnp.zeros(rows.shape[1], rows.dtype)
        start = ([[zero] * (row + 1) for row in range(size)], [zero] * size)
        return over_readings(levels.size, turn, start)


def straightening(model: Model, coordinates: LogLinear, history: History, exponent: Scalar) -> Straightening:
    """The shift for the readings so far, of which the newest counts by its exponent."""
    horizon = history.readings.shape[0]
    last = jnp.maximum(history.size - 1, 0)

    def turn(number, levels):
        at = jnp.minimum(number * READINGS_A_TURN + jnp.arange(READINGS_A_TURN), last)
        stations = jax.tree.map(lambda leaf: leaf[at], history.stations)
        found = jax.vmap(level, in_axes=(None, 0, 0))(model, stations, history.readings[at])
        return tuple(all_.at[at].set(new) for all_, new in zip(levels, found, strict=True))

    nothing = jnp.zeros(horizon, jnp.float32)
    means, precisions = over_readings(history.size, turn, (nothing, nothing))
    precisions = precisions.at[last].multiply(exponent)
    return Straightening(coordinates, Levels(history.stations, means, precisions, history.size))


def level(model: Model, station: Station, reading: Scalar) -> tuple[Scalar, Scalar]:
    """Mean and precision of the log intensity given one reading, for a flat prior on a wide range."""
    step = (_HIGHEST - _LOWEST) / (_NUM_COARSE - 1)
    coarse = jnp.linspace(_LOWEST, _HIGHEST, _NUM_COARSE)
    density = _density(model, station, reading, coarse)
    best = coarse[jnp.argmax(density)]
    fine = best + jnp.linspace(-2 * step, 2 * step, _NUM_FINE)
    coarse_mean, coarse_variance = _moments(coarse, density)
    fine_mean, fine_variance = _moments(fine, _density(model, station, reading, fine))
    sharp = coarse_variance < step**2
    mean = jnp.where(sharp, fine_mean, coarse_mean)
    return mean, 1 / jnp.where(sharp, fine_variance, coarse_variance)


def _density(model: Model, station: Station, reading: Scalar, logs: Float[Array, " l"]) -> Float[Array, " l"]:
    terms = jax.vmap(lambda log: model.sensor.log_prob(reading, jnp.exp(log), station))(logs)
    terms = jnp.where(jnp.isfinite(terms), terms, -jnp.inf)
    # A reading that nothing explains says nothing.
    return jax.nn.softmax(jnp.where(jnp.any(terms > -jnp.inf), terms, 0.0))


def _moments(logs: Float[Array, " l"], density: Float[Array, " l"]) -> tuple[Scalar, Scalar]:
    mean = jnp.sum(density * logs)
    return mean, jnp.sum(density * (logs - mean) ** 2) + _LEAST_VARIANCE


def _solve(normal: list[list[Array]], right: list[Array]) -> list[Array]:
    """Cholesky's solution of many small systems at once, one column each; a batch of calls is far slower."""
    size = len(right)
    factor: list[list[Array]] = []
    for row in range(size):
        factor.append([])
        for column in range(row):
            inner = sum((factor[row][k] * factor[column][k] for k in range(column)), start=jnp.zeros(()))
            factor[row].append((normal[row][column] - inner) * factor[column][column])
        pivot = normal[row][row] - sum((entry**2 for entry in factor[row]), start=jnp.zeros(()))
        # The diagonal is kept as its inverse.
        factor[row].append(jax.lax.rsqrt(jnp.maximum(pivot, _LEAST_PIVOT)))
    forward: list[Array] = []
    for row in range(size):
        inner = sum((factor[row][k] * forward[k] for k in range(row)), start=jnp.zeros(()))
        forward.append((right[row] - inner) * factor[row][row])
    solution: list[Array] = [jnp.zeros(())] * size
    for row in reversed(range(size)):
        inner = sum((factor[k][row] * solution[k] for k in range(row + 1, size)), start=jnp.zeros(()))
        solution[row] = (forward[row] - inner) * factor[row][row]
    return solution
