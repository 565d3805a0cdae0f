"""The likelihood of the whole history: the one hot loop of the filter."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import History
from dowsax.inference.jumps import Paths
from dowsax.inference.turns import READINGS_A_TURN, over_readings
from dowsax.types import Scalar, Station
from dowsax.world import Model


def reading_log_likelihood(
    model: Model, thetas: Float[Array, "d n"], station: Station, reading: Scalar
) -> Float[Array, " n"]:
    r"""$\log p(z \mid \Theta_i)$ of one reading for every column."""
    return jax.vmap(model.log_likelihood, in_axes=(1, None, None))(thetas, station, reading)


def replay(
    model: Model,
    thetas: Float[Array, "d n"],
    history: History,
    stop: Int[Array, ""],
    paths: Paths | None = None,
) -> Float[Array, " n"]:
    r"""$\sum_{t<\text{stop}} \log p(o_t \mid \Theta_i)$ for every column; Θ is that of the time on `paths`.

    Particles are columns, so that each parameter is contiguous in memory; the loop ends at `stop` and not at
    the horizon; terms are added turn by turn, which compiles in seconds where one long masked reduction took
    minutes.
    """
    last = jnp.maximum(stop - 1, 0)

    def turn(number, total):
        for offset in range(READINGS_A_TURN):
            at = number * READINGS_A_TURN + offset
            # Beyond the end the last reading is evaluated again and thrown away: its term is finite.
            filled = jnp.minimum(at, last)
            station = jax.tree.map(lambda leaf, filled=filled: leaf[filled], history.stations)
            then = thetas if paths is None else paths.thetas_at(thetas, filled)
            terms = reading_log_likelihood(model, then, station, history.readings[filled])
            counts = at < stop if paths is None else (at < stop) & paths.counts(at)
            total = total + jnp.where(counts, terms, 0.0)
        return total

    return over_readings(stop, turn, jnp.zeros(thetas.shape[1], thetas.dtype))
