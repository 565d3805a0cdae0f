"""Where the sensor may be and go, in pure JAX: the geofence and no-go areas of `geo.polygons.Bounds`.

Written for one place and one way; mapped over candidates and searches. Coordinates are single precision: a
place to which a person is sent is checked once more with `Bounds`, in double precision.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.geo.polygons import TOUCH, Bounds
from dowsax.types import Position

_PARALLEL = 1e-6
"""A way and a side whose directions differ by a smaller sine do not cross."""
_SIDE_END = 1e-6
"""By this share of a side a way may miss its end and still cross it."""


class Fence(eqx.Module):
    """The sides of all polygons. Places are allowed in any geofence (anywhere without one) and no no-go area.

    Borders are allowed.
    """

    corners: Float[Array, "sides 2"]
    """[m], the first end of each side."""
    sides: Float[Array, "sides 2"]
    """[m], from the first end to the second."""
    is_of: Bool[Array, "polygons sides"]
    """Which sides are those of each polygon."""
    num_geofences: int = eqx.field(static=True)
    """The first polygons; the others are no-go areas."""

    @classmethod
    def of(cls, bounds: Bounds) -> "Fence":
        """Return the fence with the polygons of these bounds."""
        polygons = (*bounds.geofence, *bounds.no_go)
        owners = np.repeat(np.arange(len(polygons)), [len(polygon) for polygon in polygons])
        return cls(
            jnp.asarray(_join(polygons), jnp.float32),
            jnp.asarray(_join([np.roll(polygon, -1, axis=0) - polygon for polygon in polygons]), jnp.float32),
            jnp.asarray(owners[None, :] == np.arange(len(polygons))[:, None]),
            len(bounds.geofence),
        )

    def allow(self, place: Position) -> Bool[Array, ""]:
        """Return whether a place is allowed."""
        if self.corners.shape[0] == 0:
            return jnp.ones((), bool)
        inside, touches = self._inside(place), jnp.any(self.is_of & self._touches(place)[None, :], axis=1)
        is_no_go = jnp.any((inside & ~touches)[self.num_geofences :])
        if self.num_geofences == 0:
            return ~is_no_go
        return ~is_no_go & jnp.any((inside | touches)[: self.num_geofences])

    def allow_way(self, start: Position, end: Position) -> Bool[Array, ""]:
        """Return whether the straight way from start to end is allowed.

        The borders cut the way into pieces, of which each is allowed as a whole or not at all.
        """
        if self.corners.shape[0] == 0:
            return jnp.ones((), bool)
        cuts = jnp.sort(jnp.concatenate([jnp.array([0.0, 1.0]), self._crossings(start, end)]))
        shares = jnp.concatenate([0.5 * (cuts[1:] + cuts[:-1]), jnp.array([0.0, 1.0])])
        # Cuts at the same place leave a piece of no length, which touches a border and so is allowed.
        return jnp.all(jax.vmap(lambda share: self.allow(start + share * (end - start)))(shares))

    def _inside(self, place: Position) -> Bool[Array, " polygons"]:
        """Return whether a ray to the east crosses the border of each polygon an odd number of times."""
        first, second = self.corners, self.corners + self.sides
        straddles = (first[:, 1] > place[1]) != (second[:, 1] > place[1])
        rise = jnp.where(self.sides[:, 1] == 0, 1.0, self.sides[:, 1])
        crossing = first[:, 0] + (place[1] - first[:, 1]) * self.sides[:, 0] / rise
        is_crossed = straddles & (place[0] < crossing)
        return jnp.sum(self.is_of & is_crossed[None, :], axis=1) % 2 == 1

    def _touches(self, place: Position) -> Bool[Array, " sides"]:
        """Return whether the place lies on each side."""
        squares = jnp.maximum(jnp.sum(self.sides**2, axis=1), 1e-12)
        shares = jnp.clip(jnp.sum((place[None, :] - self.corners) * self.sides, axis=1) / squares, 0.0, 1.0)
        nearest = self.corners + shares[:, None] * self.sides
        return jnp.linalg.norm(nearest - place[None, :], axis=1) <= TOUCH

    def _crossings(self, start: Position, end: Position) -> Float[Array, " cuts"]:
        """Return the shares of the way at which it meets sides or corners; 0 for those it does not meet."""
        way = end - start
        length = jnp.maximum(jnp.linalg.norm(way), 1e-6)
        offsets = self.corners - start[None, :]
        turn = way[0] * self.sides[:, 1] - way[1] * self.sides[:, 0]
        is_parallel = jnp.abs(turn) <= _PARALLEL * length * jnp.linalg.norm(self.sides, axis=1)
        turn = jnp.where(is_parallel, 1.0, turn)
        along_way = (offsets[:, 0] * self.sides[:, 1] - offsets[:, 1] * self.sides[:, 0]) / turn
        along_side = (offsets[:, 0] * way[1] - offsets[:, 1] * way[0]) / turn
        meets = ~is_parallel & (along_way >= 0) & (along_way <= 1)
        meets &= (along_side >= -_SIDE_END) & (along_side <= 1 + _SIDE_END)
        # Corners are cuts as well, so that a way along a side is checked piece by piece.
        at_corner = jnp.clip(offsets @ way / length**2, 0.0, 1.0)
        passed = start[None, :] + at_corner[:, None] * way[None, :]
        touches = jnp.linalg.norm(passed - self.corners, axis=1) <= TOUCH
        return jnp.concatenate([jnp.where(meets, along_way, 0.0), jnp.where(touches, at_corner, 0.0)])


def _join(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros((0, 2)), *parts])
