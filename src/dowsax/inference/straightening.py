"""Coordinates in which curved ridges of the posterior are straight.

A weak source nearby and a strong one far away explain the same readings, and so do many winds: particles
lie on long thin curved ridges, on which straight proposals are rejected. If the logarithm of the field is
linear in some coordinates given the others, weighted least squares predicts those from the others, and a
particle moves in the difference to the prediction. The shift depends on the other coordinates only, so the
Jacobian is one and the moves are exact, even if the least squares are rough.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import History
from dowsax.inference.reading_loop import loop_over_chunks, readings_per_chunk
from dowsax.types import Scalar, Station
from dowsax.world import LogLinear, Model

Rows = Float[Array, "m n"]

# The range of log intensities, searched first on a coarse grid, then on a fine one about the best.
_MIN_LOG_INTENSITY, _MAX_LOG_INTENSITY, _NUM_COARSE = -12.0, 18.0, 76
_NUM_FINE = 33
_MIN_VARIANCE = 1e-5
_MIN_PIVOT = 1e-6
_MAX_SHIFT = 1e3


class Levels(eqx.Module):
    """Mean and precision of the log intensity at each station given its reading alone."""

    stations: Station
    means: Float[Array, " horizon"]
    precisions: Float[Array, " horizon"]
    size: Int[Array, ""]


class Straightening(eqx.Module):
    """A shift of the linear coordinates as a function of the others."""

    coordinates: LogLinear
    levels: Levels

    def straighten(self, rows: Rows) -> Rows:
        """Subtract the least-squares prediction from the linear coordinates."""
        return rows.at[jnp.array(self.coordinates.linear)].add(-self._fit(rows))

    def bend(self, rows: Rows) -> Rows:
        """Add it again: the inverse of `straighten`."""
        return rows.at[jnp.array(self.coordinates.linear)].add(self._fit(rows))

    def _fit(self, rows: Rows) -> Float[Array, "k n"]:
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
        return jnp.clip(jnp.where(jnp.isfinite(solved), solved, 0.0), -_MAX_SHIFT, _MAX_SHIFT)

    def _normal_equations(self, rows: Rows) -> tuple[list[list[Array]], list[Array]]:
        """Return the sums over the readings so far; of the matrix, the lower triangle."""
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

        def add_chunk(number, sums):
            for offset in range(readings_per_chunk()):
                sums = add(number * readings_per_chunk() + offset, sums)
            return sums

        zero = jnp.zeros(rows.shape[1], rows.dtype)
        start = ([[zero] * (row + 1) for row in range(size)], [zero] * size)
        return loop_over_chunks(levels.size, add_chunk, start)


def build_straightening(
    model: Model, coordinates: LogLinear, history: History, exponent: Scalar
) -> Straightening:
    """Return the shift for the readings so far, of which the last is weighted by its exponent."""
    horizon = history.readings.shape[0]
    last = jnp.maximum(history.size - 1, 0)

    def add_chunk(number, levels):
        at = jnp.minimum(number * readings_per_chunk() + jnp.arange(readings_per_chunk()), last)
        stations = jax.tree.map(lambda leaf: leaf[at], history.stations)
        found = jax.vmap(log_intensity_moments, in_axes=(None, 0, 0))(model, stations, history.readings[at])
        return tuple(all_.at[at].set(new) for all_, new in zip(levels, found, strict=True))

    nothing = jnp.zeros(horizon, jnp.float32)
    means, precisions = loop_over_chunks(history.size, add_chunk, (nothing, nothing))
    precisions = precisions.at[last].multiply(exponent)
    return Straightening(coordinates, Levels(history.stations, means, precisions, history.size))


def log_intensity_moments(model: Model, station: Station, reading: Scalar) -> tuple[Scalar, Scalar]:
    """Return mean and precision of the log intensity given one reading, under a wide flat prior."""
    step = (_MAX_LOG_INTENSITY - _MIN_LOG_INTENSITY) / (_NUM_COARSE - 1)
    coarse = jnp.linspace(_MIN_LOG_INTENSITY, _MAX_LOG_INTENSITY, _NUM_COARSE)
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
    # A reading that no intensity explains is uninformative.
    return jax.nn.softmax(jnp.where(jnp.any(terms > -jnp.inf), terms, 0.0))


def _moments(logs: Float[Array, " l"], density: Float[Array, " l"]) -> tuple[Scalar, Scalar]:
    mean = jnp.sum(density * logs)
    return mean, jnp.sum(density * (logs - mean) ** 2) + _MIN_VARIANCE


def _solve(normal: list[list[Array]], right: list[Array]) -> list[Array]:
    """Solve many small systems at once by Cholesky, one per column; batched library calls are far slower."""
    size = len(right)
    factor: list[list[Array]] = []
    for row in range(size):
        factor.append([])
        for column in range(row):
            inner = sum((factor[row][k] * factor[column][k] for k in range(column)), start=jnp.zeros(()))
            factor[row].append((normal[row][column] - inner) * factor[column][column])
        pivot = normal[row][row] - sum((entry**2 for entry in factor[row]), start=jnp.zeros(()))
        # The diagonal is stored as its inverse.
        factor[row].append(jax.lax.rsqrt(jnp.maximum(pivot, _MIN_PIVOT)))
    forward: list[Array] = []
    for row in range(size):
        inner = sum((factor[row][k] * forward[k] for k in range(row)), start=jnp.zeros(()))
        forward.append((right[row] - inner) * factor[row][row])
    solution: list[Array] = [jnp.zeros(())] * size
    for row in reversed(range(size)):
        inner = sum((factor[k][row] * solution[k] for k in range(row + 1, size)), start=jnp.zeros(()))
        solution[row] = (forward[row] - inner) * factor[row][row]
    return solution
