"""Obstacles: polygons that stand between a source and a sensor, and in which no source lies."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.geo.polygons import Polygon, signed_area
from dowsax.types import Position, Scalar
from dowsax.world.base import Distribution

OPAQUE, UNKNOWN = "opaque", "unknown"
_SIDES_AT_ONCE = 4


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
    """The sides of all obstacles, each polygon counter-clockwise.

    Sums over sides are loops, of which each step handles all particles at once: far faster than a batch.
    """

    corners: Float[Array, "sides 2"]
    """[m], the first end of each side."""
    ends: Float[Array, "sides 2"]
    """[m], the second."""
    owners: Int[Array, " sides"]
    """The number of the obstacle of each side."""
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
            jnp.asarray(owners, jnp.int32),
            jnp.asarray([obstacle.height for obstacle in obstacles], jnp.float32),
        )

    def hold(self, place: Position) -> Bool[Array, ""]:
        """Return whether a place lies in an obstacle: how often their borders wind around it."""

        def add(windings: Int[Array, ""], side: tuple[Position, Position]) -> tuple[Int[Array, ""], None]:
            first, second = (end - place[:2] for end in side)
            is_left = _turn(first, second) > 0
            rises, falls = (first[1] <= 0) & (second[1] > 0), (first[1] > 0) & (second[1] <= 0)
            more = (rises & is_left).astype(jnp.int32) - (falls & ~is_left).astype(jnp.int32)
            return windings + more, None

        windings, _ = jax.lax.scan(
            add, jnp.zeros((), jnp.int32), (self.corners, self.ends), unroll=_SIDES_AT_ONCE
        )
        return windings > 0

    def depth(
        self,
        attenuations: Float[Array, " polygons"],
        start: Position,
        end: Position,
        start_height: float | Scalar = 0.0,
        end_height: float | Scalar = 0.0,
    ) -> tuple[Scalar, Bool[Array, ""]]:
        r"""Return $\sum_j \mu_j \ell_j$ of the straight line from start to end, and whether it is cut.

        $\ell_j$ [m] is the length of the line in an obstacle and below its height. With the shares $t_i$ of
        the line at which it crosses the sides of a polygon,

        $$\ell = L \Big( \sum_{i\ \text{leaves}} \bar t_i - \sum_{i\ \text{enters}} \bar t_i \Big),$$

        where $\bar t$ is t cut to the part of the line that is below the obstacle's height. Obstacles with an
        infinite attenuation cut the line; they are not part of the sum.
        """
        line = end - start
        of_sides = attenuations[self.owners]
        sides = self.corners, self.ends, of_sides, self.heights[self.owners]
        heights = jnp.asarray(start_height), jnp.asarray(end_height)

        def add(carry: tuple[Scalar, Bool[Array, ""]], side: tuple[Array, ...]):
            total, is_hidden = carry
            corner, other, attenuation, height = side
            low, high = _below(height, *heights)
            first, second = corner - start, other - start
            # On which side of the line the two ends lie.
            before, after = _turn(line, first), _turn(line, second)
            leaves, enters = (before <= 0) & (after > 0), (before > 0) & (after <= 0)
            crosses, is_opaque = leaves | enters, jnp.isinf(attenuation)
            share = _turn(first, second) / jnp.where(crosses, after - before, 1.0)
            cut = jnp.clip(share, low, high) * jnp.where(is_opaque, 0.0, attenuation)
            total = total + jnp.where(leaves, cut, jnp.where(enters, -cut, 0.0))
            return (total, is_hidden | (is_opaque & crosses & (share > low) & (share < high))), None

        nothing = jnp.zeros(()), jnp.zeros((), bool)
        (total, is_hidden), _ = jax.lax.scan(add, nothing, sides, unroll=_SIDES_AT_ONCE)
        length = jnp.sqrt(line[0] ** 2 + line[1] ** 2 + (end_height - start_height) ** 2)
        return length * jnp.maximum(total, 0.0), is_hidden


def _below(height: Scalar, start: Scalar, end: Scalar) -> tuple[Scalar, Scalar]:
    """Return the first and the last share of a line from start to end that is below a height [m]."""
    rise = end - start
    cut = jnp.clip((height - start) / jnp.where(rise == 0, 1.0, rise), 0.0, 1.0)
    level = jnp.where(height > start, 1.0, 0.0)
    low = jnp.where(rise < 0, cut, 0.0)
    return low, jnp.where(rise > 0, cut, jnp.where(rise == 0, level, 1.0))


def _turn(one: Position, other: Position) -> Scalar:
    """Return twice the area of a triangle with these two sides, positive where the second is to the left."""
    return one[0] * other[1] - one[1] * other[0]
