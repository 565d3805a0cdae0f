"""Uniform distributions of the source position on shapes that a mean and a covariance describe badly."""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp

from dowsax.types import Key, Position, Scalar
from dowsax.world.base import Location
from dowsax.world.priors.locations import BetaBox, DirichletBox, GaussianBox, UniformBox
from dowsax.world.ranges import Pair, number, pair, require_positive, require_range

_CENTRE_M = (12.5, 12.5)
"""The middle of the benchmark's square [5, 20]²."""
_WEDGE_RAD = math.pi / 5
"""Half the angle between two points of the star: the star is ten mirror images of one triangle."""


class Star(eqx.Module):
    """Uniform inside a five-pointed star with one point to the north."""

    centre: Pair = eqx.field(default=_CENTRE_M, converter=pair, static=True)
    outer: float = eqx.field(default=7.5, converter=number, static=True)
    """[m], from the centre to a point."""
    inner: float = eqx.field(default=3.0, converter=number, static=True)
    """[m], from the centre to a notch."""

    def __check_init__(self) -> None:
        require_positive("inner", self.inner)
        require_range("(inner, outer)", (self.inner, self.outer))

    def sample(self, key: Key) -> Position:
        wedge_key, place_key = jax.random.split(key)
        wedge = jax.random.randint(wedge_key, (), 0, 10)
        first, second = jax.random.uniform(place_key, (2,))
        # A point of the unit square beyond its diagonal is folded back: uniform on the triangle.
        folded = first + second > 1
        first, second = jnp.where(folded, 1 - first, first), jnp.where(folded, 1 - second, second)
        along = first * self.outer + second * self.inner * math.cos(_WEDGE_RAD)
        across = second * self.inner * math.sin(_WEDGE_RAD) * jnp.where(wedge % 2 == 0, 1.0, -1.0)
        angle = 0.5 * math.pi + 2 * _WEDGE_RAD * (wedge // 2)
        cosine, sine = jnp.cos(angle), jnp.sin(angle)
        offset = jnp.stack([along * cosine - across * sine, along * sine + across * cosine])
        return jnp.array(self.centre) + offset

    def log_prob(self, position: Position) -> Scalar:
        offset = position - jnp.array(self.centre)
        radius = jnp.sqrt(jnp.maximum(jnp.sum(offset * offset), 1e-12))
        angle = jnp.arctan2(offset[1], offset[0]) - 0.5 * math.pi
        from_point = jnp.abs(jnp.mod(angle + _WEDGE_RAD, 2 * _WEDGE_RAD) - _WEDGE_RAD)
        # Inside the side from (outer, 0) to the notch at angle _WEDGE.
        notch_x, notch_y = self.inner * math.cos(_WEDGE_RAD), self.inner * math.sin(_WEDGE_RAD)
        side = radius * (jnp.cos(from_point) * notch_y + jnp.sin(from_point) * (self.outer - notch_x))
        area = 5 * self.outer * notch_y
        return jnp.where(side <= self.outer * notch_y, -math.log(area), -jnp.inf)


class RingSector(eqx.Module):
    """Uniform on the part of a ring between two angles, counted from east over north."""

    centre: Pair = eqx.field(default=_CENTRE_M, converter=pair, static=True)
    inner: float = eqx.field(default=5.0, converter=number, static=True)
    """[m]"""
    outer: float = eqx.field(default=7.5, converter=number, static=True)
    """[m]"""
    start: float = eqx.field(default=0.0, converter=number, static=True)
    """[rad]"""
    extent: float = eqx.field(default=2 * math.pi, converter=number, static=True)
    """[rad], in (0, 2π]"""

    def __check_init__(self) -> None:
        require_range("(inner, outer)", (self.inner, self.outer))
        if self.inner < 0:
            raise ValueError(f"`inner` must be at least 0; got {self.inner:g}.")
        if not 0 < self.extent <= 2 * math.pi:
            raise ValueError(f"`extent` must be in (0, 2π]; got {self.extent:g}.")

    def sample(self, key: Key) -> Position:
        radius_key, angle_key = jax.random.split(key)
        squared = jax.random.uniform(radius_key, minval=self.inner**2, maxval=self.outer**2)
        angle = self.start + self.extent * jax.random.uniform(angle_key)
        return jnp.array(self.centre) + jnp.sqrt(squared) * jnp.stack([jnp.cos(angle), jnp.sin(angle)])

    def log_prob(self, position: Position) -> Scalar:
        offset = position - jnp.array(self.centre)
        squared = jnp.sum(offset * offset)
        turned = jnp.mod(jnp.arctan2(offset[1], offset[0]) - self.start, 2 * math.pi)
        area = 0.5 * self.extent * (self.outer**2 - self.inner**2)
        inside = (squared >= self.inner**2) & (squared <= self.outer**2) & (turned <= self.extent)
        return jnp.where(inside, -math.log(area), -jnp.inf)


def quarter_ring() -> RingSector:
    """The north-eastern quarter of a wide ring around the south-western corner of [5, 20]²."""
    return RingSector(centre=(5.0, 5.0), inner=10.0, outer=15.0, extent=0.5 * math.pi)


def half_ring() -> RingSector:
    """The northern half of the ring around the middle of [5, 20]²."""
    return RingSector(extent=math.pi)


def full_ring() -> RingSector:
    """The ring around the middle of [5, 20]²."""
    return RingSector()


LOCATIONS: dict[str, Callable[[], Location]] = {
    "beta": BetaBox,
    "gaussian": GaussianBox,
    "dirichlet": DirichletBox,
    "uniform": UniformBox,
    "star": Star,
    "quarter_ring": quarter_ring,
    "half_ring": half_ring,
    "full_ring": full_ring,
}
"""The eight distributions of the source position by name."""
