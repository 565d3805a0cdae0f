"""The position of a source that lies in a box and in no obstacle."""

import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import shapely
from jaxtyping import Array, Float

from dowsax.types import Key, Position, Scalar
from dowsax.world.obstacles import Obstacle, Obstacles
from dowsax.world.ranges import Numbers, as_numbers

_MIN_FREE_SHARE = 1e-6
"""Of the box."""
_PADDED_TO = 32
"""Numbers of triangles are multiples of this, so that similar sites share compiled programs."""


class UniformOutside(eqx.Module):
    """Uniform on what obstacles leave of a box. Samples are drawn from the triangles of that part."""

    obstacles: Obstacles
    triangles: Float[Array, "triangles 3 2"]
    """[m]"""
    cumulative: Float[Array, " triangles"]
    """The share of the free area in the triangles up to each one."""
    log_area: Scalar
    low: Numbers = eqx.field(converter=as_numbers)
    high: Numbers = eqx.field(converter=as_numbers)

    @classmethod
    def of(cls, low: Numbers, high: Numbers, obstacles: Sequence[Obstacle]) -> "UniformOutside":
        """Return the distribution outside of these obstacles."""
        (west, south), (east, north) = map(float, low), map(float, high)
        box = shapely.box(west, south, east, north)
        free = box.difference(shapely.union_all([shapely.Polygon(one.corners) for one in obstacles]))
        if free.area < _MIN_FREE_SHARE * box.area:
            raise ValueError("The obstacles cover the whole area of the source: make them smaller.")
        pieces = shapely.get_parts(shapely.constrained_delaunay_triangles(free))
        corners = np.array([np.asarray(piece.exterior.coords)[:3] for piece in pieces])
        areas = shapely.area(pieces)
        # The last triangle once more, which is never drawn.
        more = -len(corners) % _PADDED_TO
        corners, shares = np.pad(corners, ((0, more), (0, 0), (0, 0)), "edge"), np.cumsum(areas) / areas.sum()
        return cls(
            Obstacles.of(obstacles),
            jnp.asarray(corners, jnp.float32),
            jnp.asarray(np.pad(shares, (0, more), constant_values=1.0), jnp.float32),
            jnp.float32(math.log(areas.sum())),
            low,
            high,
        )

    def sample(self, key: Key) -> Position:
        which, first, second = jax.random.uniform(key, (3,))
        number = jnp.minimum(jnp.searchsorted(self.cumulative, which), len(self.triangles) - 1)
        corners = self.triangles[number]
        # Of the parallelogram of two sides, the half beyond the third is turned back.
        beyond = first + second > 1
        first, second = jnp.where(beyond, 1 - first, first), jnp.where(beyond, 1 - second, second)
        place = corners[0] + first * (corners[1] - corners[0]) + second * (corners[2] - corners[0])
        return jnp.clip(place, jnp.array(self.low), jnp.array(self.high))

    def log_prob(self, position: Position) -> Scalar:
        is_in_box = jnp.all((position >= jnp.array(self.low)) & (position <= jnp.array(self.high)))
        return jnp.where(is_in_box & ~self.obstacles.hold(position), -self.log_area, -jnp.inf)
