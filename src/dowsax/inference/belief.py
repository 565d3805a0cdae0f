"""What the filter carries from reading to reading: weighted particles and the readings they must explain."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dowsax.types import Scalar, Station


class History(eqx.Module):
    """The readings so far, in arrays of fixed length (the horizon) of which the first `size` are filled."""

    stations: Station
    readings: Float[Array, " horizon"]
    size: Int[Array, ""]


class Belief(eqx.Module):
    r"""$b_k(\Theta) \approx \sum_i w_i\, \delta(\Theta - \Theta_i)$ given $o_{1:k}$.

    Capacity is fixed; a particle outside the current budget has log weight −∞. `log_likelihoods` holds
    $\sum_{t \ge \text{start}_i} \log p(o_t \mid \Theta_i)$: only proposals have to replay the history.
    """

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    log_likelihoods: Float[Array, " n"]
    starts: Int[Array, " n"]
    """The reading at which the particle's present regime began: 0 unless the source may jump."""
    history: History
    log_evidence: Scalar
    """$\\log p(z_{1:k})$, the sum of the evidence increments."""
    step_size: Scalar
    """Scale of the random-walk moves, adapted to the acceptance rate."""


def empty_history(template: Station, horizon: int) -> History:
    """A history with room for `horizon` stations of the template's kind."""

    def room(leaf):
        dtype = jnp.int32 if jnp.issubdtype(jnp.result_type(leaf), jnp.integer) else jnp.float32
        return jnp.zeros((horizon, *jnp.shape(leaf)), dtype)

    stations = jax.tree.map(room, template)
    return History(stations, jnp.zeros(horizon, jnp.float32), jnp.zeros((), jnp.int32))


def record(history: History, station: Station, reading: Scalar) -> History:
    """Append one reading. Beyond the horizon the last place is overwritten: callers size the horizon."""
    at = jnp.minimum(history.size, history.readings.shape[0] - 1)
    stations = jax.tree.map(lambda all_, new: all_.at[at].set(new), history.stations, station)
    return History(stations, history.readings.at[at].set(reading), history.size + 1)
