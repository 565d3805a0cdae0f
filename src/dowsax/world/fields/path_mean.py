"""The mean of a gas plume along an open path, as lasers and FTIR spectrometers read it."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from dowsax.types import Number, Scalar, Station, Theta
from dowsax.world.base import DirectionProfile
from dowsax.world.fields.angles import versine
from dowsax.world.fields.gaussian_plume import MIN_EXPONENT, MIN_SHARPNESS, GaussianPlume, Shape
from dowsax.world.fields.nothing import Nothing

NUM_NODES = 16
"""With this many, the mean is off by 2e-3 in one plume of a hundred; within 3 m of the source in one of ten,
and through it by 6e-3 there."""
_RULE: Any = tuple(np.asarray(part, np.float32) for part in np.polynomial.legendre.leggauss(NUM_NODES))
_MIN_SINE = 0.2
"""Of the angle between axis and path: where they are nearer to parallel, the crossing is not what counts."""
_SCALE_WIDTHS, _MAX_SCALE = 2.0, 2.0
"""The scale of the nodes about the crossing: in widths of the plume, and the largest, in u."""
_SHORT = 0.1
"""A path of a smaller range of u is as long as its nodes say: in single precision that does not cancel."""
_BLUR_GAPS = 0.6
"""The least width of a plume at a node, in gaps between nodes: a row of such plumes is flat to 2e-3."""
_MIN_HALF = 1e-9
"""Of the range of v: the nodes of a point have the same place, and still a length."""
_MIN_LENGTH_M = 1e-6
_CALM_SQUARED = 1e-12
_TINY = 1e-30

Wind = tuple[Scalar, Scalar]
"""[m/s], east and north."""


class PathMean(eqx.Module):
    r"""$\frac1L \int_0^L c(p_1 + t\,e)\,dt$ from a station to its far end; $c$ itself without a far end.

    A plume may be a thousandth as wide as the path is long, so the nodes follow its shape. With the nearest
    point of the line to the source, $D$ away (the size of the source included), $t = t_0 + D \sinh u$ makes
    powers of the distance smooth in $u$. The axis crosses the path at $u_c$, where the plume is $b$ wide in
    $u$; $u = u_c + 2b \sinh v$ makes it smooth in $v$, where the nodes are those of Gauss and Legendre.

    The altitude is the same along the path.
    """

    field: GaussianPlume

    def __call__(self, theta: Theta, station: Station) -> Scalar:
        if station.far_end is None:
            return self.field(theta, station)
        path, wind = _OpenPath.of(station, theta, self.field.size), self.field.velocity(theta, station)
        if self.field.on_axis:
            wind = _turn(wind, path.nearest_turn(wind))
        nodes = _Nodes.of(path, self.field, theta, station.altitude, wind)

        def add(
            totals: tuple[Scalar, Scalar], rule: tuple[Scalar, Scalar]
        ) -> tuple[tuple[Scalar, Scalar], None]:
            node, length = nodes.at(*rule)
            return (totals[0] + length, totals[1] + length * nodes.plume(node).value), None

        # A loop over nodes, not a batch: each step handles all particles at once, which is far faster.
        (length, total), _ = jax.lax.scan(add, (jnp.zeros(()), jnp.zeros(())), _RULE)
        return total / path.length_of(length)

    def direction_profile(self, theta: Theta, station: Station, spread: Number = 0.0) -> DirectionProfile:
        """Return the mean as a function of the wind direction, in the nodes for a plume that much wider.

        The plume at a node is as wide as the nodes are apart, at least, and as much less dense. So a narrow
        one is blurred by a part of the spread, and never falls between two nodes.
        """
        if station.far_end is None:
            return self.field.direction_profile(theta, station, spread)
        path, wind = _OpenPath.of(station, theta, self.field.size), self.field.velocity(theta, station)
        nodes = _Nodes.of(path, self.field, theta, station.altitude, wind, spread)

        def add(total: Scalar, rule: tuple[Scalar, Scalar]) -> tuple[Scalar, tuple[Scalar, Scalar, Scalar]]:
            """Return what a node adds on the axis, the sharpness there, and the angle from the axis."""
            node, length = nodes.at(*rule)
            plume = nodes.plume(node)
            gap = _BLUR_GAPS * length / (path.nearest * jnp.cosh(node) ** 2)
            sharpness = jnp.minimum(plume.sharpness, 1.0 / jnp.maximum(gap * gap, _TINY))
            density = jnp.sqrt(sharpness / jnp.maximum(plume.sharpness, MIN_SHARPNESS))
            return total + length, (length * density * plume.on_axis, sharpness, plume.angle)

        total, (amounts, sharpnesses, angles) = jax.lax.scan(add, jnp.zeros(()), _RULE)
        amounts = amounts / path.length_of(total)

        def value(turn: Scalar) -> Scalar:
            away = jax.vmap(lambda angle: versine(angle - turn))(angles)
            return jnp.sum(amounts * jnp.exp(jnp.maximum(-sharpnesses * away, MIN_EXPONENT)))

        return DirectionProfile(path.nearest_turn(wind), nodes.width, value, path.turns(wind))

    def without_source(self) -> Nothing:
        return Nothing()


class _OpenPath(NamedTuple):
    r"""A path as it is seen from the source; numbers and no vectors, which would be several times slower.

    Its places are given by $u$, or by the angle ψ from the nearest point of its line, $\tan\psi = \sinh u$.
    """

    along_x: Scalar
    along_y: Scalar
    """Unit vector from the start to the far end."""
    side: Scalar
    """1 if the path goes counter-clockwise around the source, else −1."""
    height: Scalar
    """[m], of the nearest point of the line over the source, to the left of the path."""
    length: Scalar
    """[m]"""
    offset: Scalar
    """[m], of the start from the nearest point of the line."""
    nearest: Scalar
    """$D$ [m], from the source to the line, with the size of the source."""
    first: Scalar
    """$u$ of the start."""
    last: Scalar
    """$u$ of the far end."""

    @classmethod
    def of(cls, station: Station, theta: Theta, size: Number) -> "_OpenPath":
        assert station.far_end is not None
        way_x, way_y = (station.far_end[axis] - station.position[axis] for axis in (0, 1))
        away_x, away_y = (station.position[axis] - theta[axis] for axis in (0, 1))
        squared = way_x * way_x + way_y * way_y
        # A point has no direction: any one will do.
        is_point = squared < _MIN_LENGTH_M**2
        inverse = jax.lax.rsqrt(jnp.where(is_point, 1.0, squared))
        along_x = jnp.where(is_point, 1.0, way_x * inverse)
        along_y = jnp.where(is_point, 0.0, way_y * inverse)
        length = jnp.where(is_point, 0.0, squared * inverse)
        offset, height = away_x * along_x + away_y * along_y, away_y * along_x - away_x * along_y
        nearest = jnp.sqrt(height * height + size**2)
        ends = (jnp.arcsinh(end / nearest) for end in (offset, offset + length))
        side = jnp.where(height < 0, 1.0, -1.0)
        return cls(along_x, along_y, side, height, length, offset, nearest, *ends)

    def length_of(self, nodes: Scalar) -> Scalar:
        """Return the length [m]; that of all nodes is given, and used for a short path."""
        is_short = self.last - self.first < _SHORT
        return jnp.where(is_short, nodes, jnp.maximum(self.length, _MIN_LENGTH_M))

    def offset_of(self, node: Scalar) -> tuple[Scalar, Scalar]:
        """Return a place of the path [m], east and north of the source; rounding never leaves the path."""
        along = jnp.clip(self.nearest * jnp.sinh(node), self.offset, self.offset + self.length)
        return (
            along * self.along_x - self.height * self.along_y,
            along * self.along_y + self.height * self.along_x,
        )

    def turns(self, wind: Wind) -> tuple[Scalar, Scalar]:
        """Return the turns [rad] of the wind that carry the axis to the start and to the far end."""
        along, towards = self._parts(wind)
        is_calm = along * along + towards * towards < _CALM_SQUARED
        axis = jnp.arctan2(jnp.where(is_calm, 0.0, along), jnp.where(is_calm, 1.0, towards))
        first, last = (jnp.arctan(end / self.nearest) for end in (self.offset, self.offset + self.length))
        # Of all angles of the axis that differ by whole turns, the nearest to the middle of the path.
        axis = axis - 2 * math.pi * jnp.round((axis - 0.5 * (first + last)) / (2 * math.pi))
        return self.side * (first - axis), self.side * (last - axis)

    def nearest_turn(self, wind: Wind) -> Scalar:
        """Return the least turn [rad] of the wind with which the axis crosses the path."""
        first, last = self.turns(wind)
        return jnp.clip(0.0, jnp.minimum(first, last), jnp.maximum(first, last))

    def crossing(self, wind: Wind) -> Scalar:
        """Return $u$ where the axis crosses the path, or of the end that is nearer to it."""
        along, towards = self._parts(wind)
        inverse = jax.lax.rsqrt(along * along + towards * towards + _CALM_SQUARED)
        slope = along * inverse / jnp.maximum(towards * inverse, _MIN_SINE)
        return jnp.clip(jnp.arcsinh(slope), self.first, self.last)

    def _parts(self, wind: Wind) -> tuple[Scalar, Scalar]:
        """Return the parts of a wind along the path, and from the source towards the line."""
        left = wind[1] * self.along_x - wind[0] * self.along_y
        return wind[0] * self.along_x + wind[1] * self.along_y, -self.side * left


class _Nodes(NamedTuple):
    """The nodes of a path for one plume."""

    path: _OpenPath
    plume: Callable[[Scalar], Shape]
    """At a place $u$ of the path."""
    crossing: Scalar
    """$u$ where the axis crosses the path."""
    width: Scalar
    """[rad], of the plume there."""
    scale: Scalar
    """Of $v$ in $u$."""
    middle: Scalar
    """Of the range of $v$."""
    half: Scalar
    """Of its length."""

    @classmethod
    def of(
        cls,
        path: _OpenPath,
        field: GaussianPlume,
        theta: Theta,
        altitude: Scalar | None,
        wind: Wind,
        spread: Number = 0.0,
    ) -> "_Nodes":
        """Return the nodes for a plume that is wider by a spread of the wind direction [rad]."""

        def plume(node: Scalar) -> Shape:
            return field.shape_at(theta, altitude, wind, path.offset_of(node))

        crossing = path.crossing(wind)
        width = plume(crossing).width
        wide = jnp.sqrt(width * width + spread**2) * jnp.cosh(crossing)
        scale = jnp.minimum(_SCALE_WIDTHS * wide, _MAX_SCALE)
        first, last = (jnp.arcsinh((end - crossing) / scale) for end in (path.first, path.last))
        return cls(path, plume, crossing, width, scale, 0.5 * (first + last), 0.5 * (last - first))

    def at(self, node: Scalar, weight: Scalar) -> tuple[Scalar, Scalar]:
        """Return $u$ and the length [m] of a node of Gauss and Legendre on [−1, 1]."""
        step = self.middle + self.half * node
        there = self.crossing + self.scale * jnp.sinh(step)
        stretch = self.scale * jnp.cosh(step) * self.path.nearest * jnp.cosh(there)
        return there, weight * jnp.maximum(self.half, _MIN_HALF) * stretch


def _turn(wind: Wind, angle: Scalar) -> Wind:
    """Return the wind turned counter-clockwise [rad]."""
    cosine, sine = jnp.cos(angle), jnp.sin(angle)
    return cosine * wind[0] - sine * wind[1], sine * wind[0] + cosine * wind[1]
