"""The likelihood of the whole history: the hot loop of the filter."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

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
    paths: Paths | None = None,
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    r"""Return $\sum_{t<k} \log p(o_t \mid \Theta_i)$ and $\log p(o_k \mid \Theta_i)$ for every column.

    $o_k$ is the newest reading; with `paths`, Θ is that of time t. Particles are columns, so that each
    parameter is contiguous in memory. The loop ends at the newest reading, not at the horizon. Terms are
    added by chunks, which compiles in seconds; one long masked reduction took minutes.
    """
    newest, size = jnp.maximum(history.size - 1, 0), readings_per_chunk()

    def add_chunk(number, terms_so_far):
        past, terms = terms_so_far
        for offset in range(size):
            at = number * size + offset
            # Beyond the end the newest reading is evaluated again: the last terms are always those of it.
            filled = jnp.minimum(at, newest)
            station = jax.tree.map(lambda leaf, filled=filled: leaf[filled], history.stations)
            thetas_then = thetas if paths is None else paths.thetas_at(thetas, filled)
            terms = reading_log_likelihood(model, thetas_then, station, history.readings[filled])
            counts = at < newest if paths is None else (at < newest) & paths.remembers(at)
            past = past + jnp.where(counts, terms, 0.0)
        return past, terms

    nothing = jnp.zeros(thetas.shape[1], thetas.dtype)
    return loop_over_chunks(history.size, add_chunk, (nothing, nothing))
