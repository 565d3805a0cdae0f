"""Θ by name: the one place that knows the columns of the benchmark source, their order and their units."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp

from dowsax.types import Scalar, Theta


@dataclass(frozen=True)
class Parameter:
    """One column of Θ as people read it."""

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
    """The named view of Θ, or of its first seven columns where nuisances follow."""
    return Source(*theta[: len(PARAMETERS)])


def pack(source: Source) -> Theta:
    """The inverse of `unpack`."""
    return jnp.stack(source)
