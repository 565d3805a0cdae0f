"""The likelihood of the whole history: the hot loop of the filter."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.inference.belief import History
from dowsax.inference.jumps import Paths
from dowsax.inference.reading_loop import loop_over_chunks, readings_per_chunk
from dowsax.types import Scalar, Station
from dowsax.world import Model


def reading_log_likelihood(
    model: Model, thetas: Float[Array, "d n"], station: Station, reading: Scalar
) -> Float[Array, " n"]:
    r"""Return $\log p(z \mid \Theta_i)$ of one reading for every column."""
    return jax.vmap(model.log_likelihood, in_axes=(1, None, None))(thetas, station, reading)


def replay(
    model: Model,
    thetas: Float[Array, "d n"],
    history: History,
    stop: Int[Array, ""],
    paths: Paths | None = None,
) -> Float[Array, " n"]:
    r"""Return $\sum_{t<\text{stop}} \log p(o_t \mid \Theta_i)$ for every column; with `paths`, Θ of time t.

    Particles are columns, so that each parameter is contiguous in memory. The loop ends at `stop`, not at the
    horizon. Terms are added by chunks, which compiles in seconds; one long masked reduction took minutes.
    """
    last, size = jnp.maximum(stop - 1, 0), readings_per_chunk()

    def add_chunk(number, total):
        for offset in range(size):
            at = number * size + offset
            # Beyond the end the last reading is evaluated again and discarded: its term is finite.
            filled = jnp.minimum(at, last)
            station = jax.tree.map(lambda leaf, filled=filled: leaf[filled], history.stations)
            thetas_then = thetas if paths is None else paths.thetas_at(thetas, filled)
            terms = reading_log_likelihood(model, thetas_then, station, history.readings[filled])
            counts = at < stop if paths is None else (at < stop) & paths.remembers(at)
            total = total + jnp.where(counts, terms, 0.0)
        return total

    return loop_over_chunks(stop, add_chunk, jnp.zeros(thetas.shape[1], thetas.dtype))
