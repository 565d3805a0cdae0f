"""The belief: weighted particles, and the history of readings that they explain."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int

from dowsax.inference.jumps import Regimes
from dowsax.types import Scalar, Station
from dowsax.world import POSITION_COLUMNS, Model, PerhapsAbsent, take_position


class History(eqx.Module):
    """The readings so far, in arrays of fixed length (the horizon) of which the first `size` are filled."""

    stations: Station
    readings: Float[Array, " horizon"]
    size: Int[Array, ""]


class Belief(eqx.Module):
    r"""$b_k(\Theta) \approx \sum_i w_i\, \delta(\Theta - \Theta_i)$ given $o_{1:k}$.

    Capacity is fixed; a particle outside the current budget has log weight −∞. `log_likelihoods` holds
    $\sum_t \log p(o_t \mid \Theta_i)$: only proposals have to replay the history.
    """

    particles: Float[Array, "n d"]
    log_weights: Float[Array, " n"]
    log_likelihoods: Float[Array, " n"]
    starts: Int[Array, " n"]
    """Index of the reading at which the particle's present regime began: 0 unless the source may jump."""
    history: History
    log_evidence: Scalar
    """$\\log p(z_{1:k})$, the sum of the evidence increments."""
    step_size: Float[Array, "*strata"]
    """Scale of the random-walk moves, adapted to the acceptance rate; one for each number of sources, where
    that is unknown (`strata`)."""
    earlier: Regimes | None = None
    """The source before its latest jumps; `None` unless it may jump."""
    ranks: Float[Array, " horizon"] | None = None
    """One-step-ahead predictive ranks of the readings (`ranks`); `None` unless they are kept."""
    position_columns: tuple[int, ...] = eqx.field(default=POSITION_COLUMNS, static=True)
    """The columns of Θ that are the position of the source, as the prior says; of several, of the first."""
    other_columns: tuple[tuple[int, ...], ...] = eqx.field(default=(), static=True)
    """Those of each other source."""
    number_column: int | None = eqx.field(default=None, static=True)
    """The column of Θ that is the number of sources; `None` where it is known."""

    @property
    def positions(self) -> Float[Array, "n axes"]:
        """[m], of the source, for each particle."""
        return self.position(self.particles)

    @property
    def source_positions(self) -> Float[Array, "n sources axes"]:
        """[m], of each source, for each particle."""
        columns = (self.position_columns, *self.other_columns)
        return jnp.stack([take_position(self.particles, each) for each in columns], axis=1)

    def position(self, thetas: Float[Array, "*batch d"]) -> Float[Array, "*batch axes"]:
        """Return the position in Θ, or in a mean or standard deviation of Θ [m]."""
        return take_position(thetas, self.position_columns)

    def select(self, ancestors: Int[Array, " n"]) -> "Belief":
        """Return the belief with the particles of these indices; weights stay."""
        return replace(
            self,
            particles=self.particles[ancestors],
            log_likelihoods=self.log_likelihoods[ancestors],
            starts=self.starts[ancestors],
            earlier=jax.tree.map(lambda leaf: leaf[ancestors], self.earlier),
        )

    def thin(self, members: Int[Array, " m"]) -> "Belief":
        """Return the belief with these particles alone, of equal weight."""
        number = members.shape[0]
        return replace(
            self,
            particles=self.particles[members],
            log_weights=jnp.full(number, -jnp.log(number)),
            log_likelihoods=self.log_likelihoods[members],
            starts=self.starts[members],
            earlier=jax.tree.map(lambda leaf: leaf[members], self.earlier),
        )


def empty_history(template: Station, horizon: int) -> History:
    """Return a history with room for `horizon` stations like the template."""

    def room(leaf):
        kinds = {jnp.integer: jnp.int32, jnp.bool_: jnp.bool_}
        found = (dtype for kind, dtype in kinds.items() if jnp.issubdtype(jnp.result_type(leaf), kind))
        return jnp.zeros((horizon, *jnp.shape(leaf)), next(found, jnp.float32))

    stations = jax.tree.map(room, template)
    return History(stations, jnp.zeros(horizon, jnp.float32), jnp.zeros((), jnp.int32))


def is_full(history: History) -> Bool[Array, ""]:
    """Whether there is no room for another reading."""
    return history.size >= history.readings.shape[0]


def require_room(
    history: History,
    advice: str = "give the filter a larger `horizon`, or make room with `with_horizon(belief, horizon)`",
) -> None:
    """Raise a ValueError if the history is full; does nothing in a compiled program."""
    if not isinstance(history.size, Tracer) and bool(is_full(history)):
        room = history.readings.shape[0]
        raise ValueError(f"The history has room for {room} readings and is full: {advice}.")


def record(history: History, station: Station, reading: Scalar) -> History:
    """Append one reading; a full history stays as it is."""
    at = history.size
    stations = jax.tree.map(lambda all_, new: all_.at[at].set(new, mode="drop"), history.stations, station)
    readings = history.readings.at[at].set(reading, mode="drop")
    return History(stations, readings, at + ~is_full(history))


def recall(model: Model | PerhapsAbsent, history: History, station: Station) -> Station:
    """Return the station with its nearest earlier readings, where the sensor's noise depends on them."""
    return model.recall(station, history.stations, history.readings, history.size)


def with_horizon(belief: Belief, horizon: int) -> Belief:
    """Return the same belief with room for `horizon` readings; programs compile again for it."""
    room = belief.history.readings.shape[0]
    if horizon < room:
        raise ValueError(f"`horizon` must be at least the present {room} readings; got {horizon}.")

    def longer(leaf: Array) -> Array:
        return jnp.pad(leaf, [(0, horizon - room), *[(0, 0)] * (leaf.ndim - 1)])

    parts = belief.history.stations, belief.history.readings, belief.ranks
    stations, readings, ranks = jax.tree.map(longer, parts)
    return replace(belief, history=History(stations, readings, belief.history.size), ranks=ranks)
