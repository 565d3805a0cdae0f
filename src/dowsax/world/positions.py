"""The position of the source in Θ: the only place that knows which columns it is."""

from typing import TypeVar

import numpy as np
from jaxtyping import Array, Float

from dowsax.types import Position, Theta
from dowsax.world.base import Positioned, Prior, SeveralSources
from dowsax.world.several_columns import SourceColumns

POSITION_COLUMNS = (0, 1)
"""The default: east and north."""

Values = TypeVar("Values", Array, np.ndarray)


def position_columns(prior: Prior) -> tuple[int, ...]:
    """Return the columns of Θ that are the position [m] of the source: two of them, or three."""
    if not isinstance(prior, Positioned):
        return POSITION_COLUMNS
    columns, number = tuple(prior.position_columns), len(prior.parameters)
    if (
        len(columns) not in (2, 3)
        or len(set(columns)) < len(columns)
        or not set(columns) <= set(range(number))
    ):
        raise ValueError(
            f"`position_columns` must be two or three different columns of Θ, from 0 to {number - 1}; "
            f"got {columns}."
        )
    return columns


def source_columns(prior: Prior) -> SourceColumns | None:
    """Return which columns of Θ belong to which of several sources; `None` for one source."""
    return prior.source_columns if isinstance(prior, SeveralSources) else None


def take_position(values: Values, columns: tuple[int, ...]) -> Values:
    """Return the position of each Θ, in the last axis."""
    return values[..., _index(columns)]


def put_position(theta: Theta, place: Position, columns: tuple[int, ...]) -> Float[Array, " d"]:
    """Return Θ with its source at another place."""
    return theta.at[_index(columns)].set(place)


def _index(columns: tuple[int, ...]) -> slice | np.ndarray:
    """Return the index of the columns: a slice where they follow each other, as a gather is slower."""
    first, end = columns[0], columns[0] + len(columns)
    return slice(first, end) if columns == tuple(range(first, end)) else np.array(columns)
