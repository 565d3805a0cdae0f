"""The columns of Θ of the benchmark source: names, order and units."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from dowsax.types import Scalar, Theta


@dataclass(frozen=True)
class Parameter:
    """Name, unit and meaning of one column of Θ."""

    name: str
    unit: str
    meaning: str


PARAMETERS = (
    Parameter("x", "m", "source position, east"),
    Parameter("y", "m", "source position, north"),
    Parameter("q", "", "release strength"),
    Parameter("ux", "m/s", "wind velocity, east (where the air goes)"),
    Parameter("uy", "m/s", "wind velocity, north (where the air goes)"),
    Parameter("alpha", "m²/s", "diffusivity"),
    Parameter("lambda", "m", "decay length"),
)


class Source(NamedTuple):
    """Θ with names instead of columns."""

    x: Scalar
    y: Scalar
    strength: Scalar
    wind_x: Scalar
    wind_y: Scalar
    diffusivity: Scalar
    decay_length: Scalar


def unpack(theta: Theta) -> Source:
    """Return the first seven columns of Θ by name; nuisance parameters may follow them."""
    return Source(*theta[: len(PARAMETERS)])


def pack(source: Source) -> Theta:
    """Return Θ of a source; the inverse of `unpack`."""
    return jnp.stack(source)
