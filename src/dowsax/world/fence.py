"""Where the sensor may be and go, in pure JAX: all polygons of `geo.polygons.Bounds`.

Written for one place and one way; mapped over candidates and searches. Coordinates are single precision: a
place to which a person is sent is checked once more with `Bounds`, in double precision.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dowsax.geo.polygons import Bounds
from dowsax.geo.ways import TOUCH
from dowsax.types import Position, Scalar

_SIDES, _NODES, _BENDS = 64, 32, 8
"""With room, a fence has a multiple of each."""
_ROUNDINGS = 8
"""Units in the last place of the farthest corner by which places may lie beyond a border."""

Way = Float[Array, "corners 2"]
"""[m], from start to end; corners at the end may be repeated."""


class Fence(eqx.Module):
    """The borders that no way crosses, and the corners at which the shortest ways around them bend."""

    sides: Float[Array, "sides 2 2"]
    """[m], the ends of each side."""
    nodes: Float[Array, "nodes 2"]
    """[m], where a shortest way can bend."""
    lengths: Float[Array, "nodes nodes"]
    """[m], of the shortest ways between them."""
    before: Int[Array, "nodes nodes"]
    """The node before the second (column) on the way from the first (row)."""
    has_geofence: bool = eqx.field(static=True)
    """Whether the sides go around what is allowed; without, around what is not."""
    max_bends: int = eqx.field(static=True)
    """Of a shortest way."""

    @classmethod
    def of(cls, bounds: Bounds, *, has_room: bool = False) -> "Fence":
        """Return the fence with the polygons of these bounds.

        With `has_room` its arrays are larger than they need be, so that a few more polygons leave their
        shapes as they are: programs are compiled for shapes.
        """
        corners = [np.zeros((0, 2)), *bounds.geofence, *bounds.blocked]
        farthest = np.abs(np.concatenate(corners)).max(initial=0.0)
        touch = max(TOUCH, float(_ROUNDINGS * np.finfo(np.float32).eps * farthest))
        space = bounds.space if touch == TOUCH else bounds.space_within(touch)
        sides, nodes, bends = len(space.borders), len(space.nodes), _max_bends(space.node_before)
        fence = cls(
            jnp.asarray(space.borders, jnp.float32),
            jnp.asarray(space.nodes, jnp.float32),
            jnp.asarray(space.node_lengths, jnp.float32),
            jnp.asarray(np.maximum(space.node_before, 0), jnp.int32),
            space.has_geofence,
            bends,
        )
        units = (sides, _SIDES), (nodes, _NODES), (bends, _BENDS)
        return _pad(fence, *(_round_up(*each) for each in units)) if has_room else fence

    def allow(self, place: Position) -> Bool[Array, ""]:
        """Return whether a place is allowed: a ray from inside an area crosses its borders oddly often."""
        if self.sides.shape[0] == 0:
            return jnp.ones((), bool)
        first, second = self.sides[:, 0], self.sides[:, 1]
        straddles = (first[:, 1] > place[1]) != (second[:, 1] > place[1])
        rise = jnp.where(straddles, second[:, 1] - first[:, 1], 1.0)
        crossing = first[:, 0] + (place[1] - first[:, 1]) * (second[:, 0] - first[:, 0]) / rise
        is_crossed = straddles & (place[0] < crossing)
        return jnp.sum(is_crossed) % 2 == int(self.has_geofence)

    def allow_way(self, start: Position, end: Position) -> Bool[Array, ""]:
        """Return whether the straight way is allowed: its start is, and it crosses no border."""
        if self.sides.shape[0] == 0:
            return jnp.ones((), bool)
        return self.allow(start) & self._sees(start, end)

    def way_lengths(self, start: Position, ends: Float[Array, "k 2"]) -> Float[Array, " k"]:
        """Return the lengths [m] of the shortest ways from start to the ends; else infinity."""
        straight = jnp.linalg.norm(ends - start[None, :], axis=1)
        if self.sides.shape[0] == 0:
            return straight
        lengths = jnp.where(jax.vmap(lambda end: self.allow_way(start, end))(ends), straight, jnp.inf)
        if self.nodes.shape[0] == 0:
            return lengths
        to_nodes = jnp.min(self._to_nodes(start)[:, None] + self.lengths, axis=0)
        around = to_nodes[None, :] + jax.vmap(self._to_nodes)(ends)
        around = jnp.where(self.allow(start), jnp.min(around, axis=1), jnp.inf)
        return jnp.minimum(lengths, around)

    def way(self, start: Position, end: Position) -> Way:
        """Return the shortest way; the straight one where there is none."""
        straight = jnp.stack([start, end])
        if self.nodes.shape[0] == 0:
            return straight
        total = self._to_nodes(start)[:, None] + self.lengths + self._to_nodes(end)[None, :]
        first, last = jnp.unravel_index(jnp.argmin(total), total.shape)

        def go_back(node: Int[Array, ""], _) -> tuple[Int[Array, ""], Int[Array, ""]]:
            return jnp.where(node == first, first, self.before[first, node]), node

        # From the last bend to the first, which is repeated.
        _, bends = jax.lax.scan(go_back, last, length=self.max_bends)
        bent = jnp.concatenate([start[None, :], self.nodes[bends[::-1]], end[None, :]])
        is_straight = self.allow_way(start, end) | jnp.isinf(jnp.min(total))
        repeated = jnp.concatenate([straight, jnp.broadcast_to(end, (self.max_bends, 2))])
        return jnp.where(is_straight, repeated, bent)

    def _to_nodes(self, place: Position) -> Float[Array, " nodes"]:
        """Return the lengths [m] of the straight ways to the nodes; infinite for those that are not seen."""
        straight = jnp.linalg.norm(self.nodes - place[None, :], axis=1)
        return jnp.where(jax.vmap(lambda node: self._sees(place, node))(self.nodes), straight, jnp.inf)

    def _sees(self, start: Position, end: Position) -> Bool[Array, ""]:
        """Return whether the straight way crosses no side: the ends of one are on two sides of the other."""
        first, second = self.sides[:, 0], self.sides[:, 1]
        way, along = end - start, second - first
        splits = (_turn(way[None, :], first - start[None, :]) > 0) != (
            _turn(way[None, :], second - start[None, :]) > 0
        )
        split = (_turn(along, start[None, :] - first) > 0) != (_turn(along, end[None, :] - first) > 0)
        return ~jnp.any(splits & split)


def stack_fences(fences: Sequence[Fence]) -> Fence:
    """Return several fences as one with a further first axis, of the shapes of the largest."""
    sides = max(fence.sides.shape[0] for fence in fences)
    nodes = max(fence.nodes.shape[0] for fence in fences)
    bends = max(fence.max_bends for fence in fences)
    return jax.tree.map(
        lambda *leaves: jnp.stack(leaves), *(_pad(one, sides, nodes, bends) for one in fences)
    )


def _pad(fence: Fence, sides: int, nodes: int, bends: int) -> Fence:
    """Return the same fence with this many sides and nodes.

    A side without a length is crossed by nothing, and a node with no way to it is on none.
    """
    more, beyond = sides - fence.sides.shape[0], (0, nodes - fence.nodes.shape[0])
    return Fence(
        jnp.pad(fence.sides, ((0, more), (0, 0), (0, 0))),
        jnp.pad(fence.nodes, (beyond, (0, 0))),
        jnp.pad(fence.lengths, (beyond, beyond), constant_values=jnp.inf),
        jnp.pad(fence.before, (beyond, beyond)),
        fence.has_geofence,
        bends,
    )


def length_of(way: Way) -> Scalar:
    """Return the length [m] of a way."""
    return jnp.sum(jnp.linalg.norm(jnp.diff(way, axis=0), axis=1))


def place_on(way: Way, share: Scalar) -> Position:
    """Return the place at a share of the length of a way."""
    if way.shape[0] == 2:
        return way[0] + share * (way[1] - way[0])
    legs = jnp.linalg.norm(jnp.diff(way, axis=0), axis=1)
    gone = jnp.concatenate([jnp.zeros(1), jnp.cumsum(legs)])
    leg = jnp.clip(jnp.searchsorted(gone, share * gone[-1], side="right") - 1, 0, legs.shape[0] - 1)
    share_of_leg = (share * gone[-1] - gone[leg]) / jnp.maximum(legs[leg], 1e-12)
    return way[leg] + jnp.minimum(share_of_leg, 1.0) * (way[leg + 1] - way[leg])


def _turn(one: Float[Array, "#sides 2"], other: Float[Array, "#sides 2"]) -> Float[Array, " sides"]:
    """Return > 0 where the second direction is left of the first."""
    return one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]


def _round_up(number: int, unit: int) -> int:
    """Return the next multiple of a unit, at least the first."""
    return max(-(-number // unit), 1) * unit


def _max_bends(before: np.ndarray) -> int:
    """Return the largest number of nodes on a shortest way between two of them."""
    rows = np.arange(len(before))[:, None]
    nodes, number = np.broadcast_to(rows.T, before.shape), min(len(before), 1)
    while ((after := np.where(nodes == rows, rows, before[rows, nodes])) != nodes).any():
        # A node that cannot be reached has none before it.
        nodes, number = np.where(after < 0, rows, after), number + 1
    return number
