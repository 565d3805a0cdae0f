"""The record of a search: a row for every reading."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from dowsax.envs import SUCCESS_RADIUS_M, SearchProblem, SearchState, error
from dowsax.inference import FilterInfo
from dowsax.inference.summaries import location_entropy, location_spread, mass_within, mean_position
from dowsax.inference.weights import max_weight


class Row(NamedTuple):
    """One reading of a search. A belief without particles has infinite spread and no mass anywhere."""

    position: Float[Array, "*batch axes"]
    """[m], of the sensor."""
    reading: Float[Array, "*batch"]
    path_length: Float[Array, "*batch"]
    """[m], walked so far."""
    mean: Float[Array, "*batch axes"]
    """[m], the mean position of the source."""
    error: Float[Array, "*batch"]
    """[m], from the mean to the true position."""
    spread: Float[Array, "*batch"]
    """[m], max(σx, σy)."""
    mass: Float[Array, "*batch"]
    """The probability that the source is within the success radius of the mean."""
    entropy: Float[Array, "*batch"]
    """[nats], of the position in cells of 1 m."""
    max_weight: Float[Array, "*batch"]
    ess: Float[Array, "*batch"]


class Episode(NamedTuple):
    """One search: its source at the first and the last reading, and its rows as arrays over readings."""

    theta: np.ndarray
    final_theta: np.ndarray
    rows: Row
    seconds: float
    """Wall time without compilation; a share of the batch where several ran together."""
    max_readings: int
    """The readings after which the search ends without a stop."""
    radius: float = SUCCESS_RADIUS_M
    """[m], a stop with a smaller error is right."""


@runtime_checkable
class Recorder(Protocol):
    """What is recorded of a reading: a row with a `spread`, which is infinite when no particle is left."""

    def __call__(self, search: SearchProblem, state: SearchState, info: FilterInfo) -> Any: ...


def row(search: SearchProblem, state: SearchState, info: FilterInfo) -> Row:
    """Return the row of one reading."""
    belief = state.belief
    return Row(
        state.station.position,
        state.reading,
        state.path_length,
        mean_position(belief),
        error(state),
        location_spread(belief),
        mass_within(belief, search.success_radius),
        location_entropy(belief),
        max_weight(belief.log_weights),
        info.ess,
    )
