"""Obstacles: polygons that stand between a source and a sensor, and in which no source lies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from dowsax.geo.polygons import Polygon, signed_area
from dowsax.types import Position, Scalar
from dowsax.world.base import Distribution

OPAQUE, UNKNOWN = "opaque", "unknown"


@dataclass(frozen=True, eq=False)
class Obstacle:
    """One obstacle of a model.

    Attributes
    ----------
    corners
        [m], of a simple polygon in order, (n, 2).
    attenuation
        [1/m] for amounts (radiation), [dB/m] for levels. "opaque" lets nothing pass, "unknown" takes the
        distribution of the kind.
    height
        [m] above ground; infinite where nothing passes above it.
    name
        For its column of Θ, where the attenuation is unknown.
    """

    corners: Polygon
    attenuation: Distribution | float | int | str = OPAQUE
    height: float = math.inf
    name: str = ""


class Obstacles(eqx.Module):
    """The sides of all obstacles, each polygon counter-clockwise."""

    corners: Float[Array, "sides 2"]
    """[m], the first end of each side."""
    ends: Float[Array, "sides 2"]
    """[m], the second."""
    is_of: Bool[Array, "polygons sides"]
    """Which sides are those of each polygon."""
    heights: Float[Array, " polygons"]
    """[m] above ground."""

    @classmethod
    def of(cls, obstacles: Sequence[Obstacle]) -> "Obstacles":
        """Return the sides of these obstacles."""
        polygons = [
            corners if signed_area(corners) > 0 else corners[::-1]
            for corners in (np.asarray(obstacle.corners, np.float64) for obstacle in obstacles)
        ]
        owners = np.repeat(np.arange(len(polygons)), [len(polygon) for polygon in polygons])
        return cls(
            jnp.asarray(np.concatenate(polygons), jnp.float32),
            jnp.asarray(np.concatenate([np.roll(polygon, -1, axis=0) for polygon in polygons]), jnp.float32),
            jnp.asarray(owners[None, :] == np.arange(len(polygons))[:, None]),
            jnp.asarray([obstacle.height for obstacle in obstacles], jnp.float32),
        )

    def hold(self, place: Position) -> Bool[Array, ""]:
        """Return whether a place lies in an obstacle: whether a border winds around it."""
        first, second = self.corners - place[None, :2], self.ends - place[None, :2]
        rises = (first[:, 1] <= 0) & (second[:, 1] > 0)
        falls = (first[:, 1] > 0) & (second[:, 1] <= 0)
        turn = first[:, 0] * second[:, 1] - second[:, 0] * first[:, 1]
        winding = (rises & (turn > 0)).astype(jnp.int32) - (falls & (turn < 0)).astype(jnp.int32)
        return jnp.any(jnp.sum(jnp.where(self.is_of, winding[None, :], 0), axis=1) != 0)

    def thicknesses(
        self,
        start: Position,
        end: Position,
        start_height: float | Scalar = 0.0,
        end_height: float | Scalar = 0.0,
    ) -> Float[Array, " polygons"]:
        r"""Return the length [m] of the straight line from start to end in each obstacle, below its height.

        With the shares $t_i$ of the line at which it crosses the sides of a polygon,

        $$\ell = L \Big( \sum_{i\ \text{leaves}} \bar t_i - \sum_{i\ \text{enters}} \bar t_i \Big),$$

        where $\bar t$ is t cut to the part of the line that is below the obstacle's height.
        """
        line = end - start
        offsets, sides = self.corners - start[None, :], self.ends - self.corners
        # Twice the areas of triangles: on which side of the line each end of a side lies.
        first = line[0] * offsets[:, 1] - line[1] * offsets[:, 0]
        others = self.ends - start[None, :]
        second = line[0] * others[:, 1] - line[1] * others[:, 0]
        leaves, enters = (first <= 0) & (second > 0), (first > 0) & (second <= 0)
        crosses = leaves | enters
        turn = jnp.where(crosses, second - first, 1.0)
        shares = (offsets[:, 0] * sides[:, 1] - offsets[:, 1] * sides[:, 0]) / turn
        low, high = self._below(jnp.asarray(start_height), jnp.asarray(end_height))
        signs = leaves.astype(shares.dtype) - enters.astype(shares.dtype)
        owned = jnp.clip(shares[None, :], low[:, None], high[:, None]) * signs[None, :]
        rise = end_height - start_height
        length = jnp.sqrt(line[0] ** 2 + line[1] ** 2 + rise**2)
        return length * jnp.maximum(jnp.sum(jnp.where(self.is_of, owned, 0.0), axis=1), 0.0)

    def _below(
        self, start: Scalar, end: Scalar
    ) -> tuple[Float[Array, " polygons"], Float[Array, " polygons"]]:
        """Return the first and the last share of a line, between these heights, below each obstacle's."""
        rise = end - start
        cut = jnp.clip((self.heights - start) / jnp.where(rise == 0, 1.0, rise), 0.0, 1.0)
        level = jnp.where(self.heights > start, 1.0, 0.0)
        low = jnp.where(rise < 0, cut, 0.0)
        return low, jnp.where(rise > 0, cut, jnp.where(rise == 0, level, 1.0))
