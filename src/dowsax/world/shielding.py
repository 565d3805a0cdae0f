"""What obstacles change of a model: where the source may be, and what of it passes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import jax.numpy as jnp

from dowsax.world.base import Distribution, Field, Location
from dowsax.world.fields import InverseSquare, LogDistance
from dowsax.world.fields.shielded import Shielded
from dowsax.world.kinds import Kind
from dowsax.world.layout import Layout, as_number
from dowsax.world.obstacles import OPAQUE, UNKNOWN, Obstacle, Obstacles
from dowsax.world.priors.locations import UniformBox
from dowsax.world.priors.outside import UniformOutside
from dowsax.world.ranges import require_velocity
from dowsax.world.source import Parameter


def keep_outside(location: Location, obstacles: Sequence[Obstacle]) -> Location:
    """Return the distribution of the position of a source that lies in no obstacle."""
    if not obstacles:
        return location
    if not isinstance(location, UniformBox):
        raise ValueError("With obstacles the position of the source must be uniform: give a `UniformBox`.")
    return UniformOutside.of(location.low, location.high, obstacles)


def solve_among(
    kind: Kind, location: Location, obstacles: Sequence[Obstacle], wind: Sequence[float | int] | str
) -> tuple[Kind, Sequence[float | int] | str]:
    """Return the kind with its field among these obstacles in this wind, which the field then knows.

    Other kinds, and their wind, stay as they are.
    """
    if not kind.among_obstacles:
        return kind, wind
    if isinstance(wind, str):
        raise ValueError(
            f"The field of {kind.name} is solved for one wind: give `wind` as a velocity (east, north) [m/s]."
        )
    if not isinstance(location, UniformBox | UniformOutside):
        raise ValueError(f"For {kind.name} the position of the source must be uniform: give a `UniformBox`.")
    field = partial(
        kind.field, low=location.low, high=location.high, obstacles=obstacles, wind=require_velocity(wind)
    )
    return replace(kind, field=field), "measured"


def shield(inner: Field, kind: Kind, layout: Layout, obstacles: Sequence[Obstacle]) -> Field:
    """Return the field of one source behind obstacles; it is the same for kinds that nothing shields.

    Attenuations that are unknown become columns of Θ, which several sources share.
    """
    if not obstacles or kind.obstacle_attenuation is None:
        return inner
    assert isinstance(inner, InverseSquare | LogDistance)
    height = 2 + [parameter.name for parameter in kind.parameters].index("height")
    known, unknown = [], []
    for number, obstacle in enumerate(obstacles):
        name = f"attenuation of {obstacle.name or f'obstacle {number + 1}'}"
        attenuation = _attenuation(name, obstacle, kind)
        known.append(0.0 if isinstance(attenuation, Distribution) else attenuation)
        if isinstance(attenuation, Distribution):
            unit = "dB/m" if kind.levels else "1/m"
            parameter = Parameter(name, unit, "what the obstacle takes of the field, on a metre")
            unknown.append((number, layout.add(parameter, attenuation)))
    return Shielded(
        inner,
        Obstacles.of(obstacles),
        jnp.asarray(known, jnp.float32),
        tuple(unknown),
        height,
        inner.altitude,
        kind.levels,
    )


def _attenuation(name: str, obstacle: Obstacle, kind: Kind) -> Distribution | float:
    """Return the attenuation of an obstacle, infinite where it is opaque."""
    given = obstacle.attenuation
    if given == OPAQUE:
        return float("inf")
    if given == UNKNOWN:
        assert kind.obstacle_attenuation is not None
        return kind.obstacle_attenuation
    if isinstance(given, str):
        raise ValueError(
            f'`{name}` must be "opaque", "unknown", a number or a distribution; got {given!r:.40}.'
        )
    found = as_number(name, given)
    if not isinstance(found, Distribution) and found < 0:
        raise ValueError(f"`{name}` must be >= 0; got {found:g}.")
    return found
