"""The fence in JAX against the exact geometry of `geo.polygons`."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.geo.polygons import Bounds
from dowsax.world import Fence
from dowsax.world.fence import length_of

SIDE = 20.0
YARD = np.array([[0.0, 0.0], [SIDE, 0.0], [SIDE, SIDE], [12.0, SIDE], [12.0, 14.0], [8.0, 14.0], [0.0, SIDE]])
POND = np.array([[7.0, 3.0], [11.0, 5.0], [9.0, 9.0]])
SHED = np.array([[14.0, 12.0], [18.0, 12.0], [18.0, 16.0], [14.0, 16.0]])
WALL = np.array([[13.0, 0.0], [15.0, 0.0], [15.0, SIDE], [13.0, SIDE]])
ANNEX = np.array([[SIDE, 5.0], [26.0, 5.0], [26.0, 9.0], [SIDE, 9.0]])
SITES = {
    "anywhere": Bounds(),
    "yard": Bounds((YARD,), ()),
    "yard with pond and shed": Bounds((YARD,), (POND, SHED)),
    "two yards that touch": Bounds((YARD, ANNEX), (POND,)),
    "only a pond": Bounds((), (POND,)),
    "a yard that a flush wall cuts": Bounds((YARD[:4],), (WALL,)),
}
CLEAR_M = 0.01
"""Places and ways this near to a border may go either way: single precision, and a touch of a millimetre."""
NUM = 400
NUM_WAYS = 150


allow = jax.jit(jax.vmap(Fence.allow, in_axes=(None, 0)))
allow_way = jax.jit(jax.vmap(Fence.allow_way, in_axes=(None, 0, 0)))
lengths_of = jax.jit(jax.vmap(length_of))
way_lengths = jax.jit(Fence.way_lengths)
ways_to = jax.jit(jax.vmap(Fence.way, in_axes=(None, None, 0)))
FENCES = {name: Fence.of(bounds) for name, bounds in SITES.items()}


def places(seed):
    """In and around the yards."""
    return np.random.default_rng(seed).uniform((-2.0, -2.0), (28.0, 22.0), (NUM, 2)).astype(np.float32)


@pytest.mark.parametrize("name", SITES)
def test_places_are_allowed_as_by_the_polygons(name):
    bounds = SITES[name]
    points = places(0)
    clear = bounds.clearance(points) > CLEAR_M
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(np.asarray(allow(FENCES[name], points))[clear], bounds.allow(points)[clear])


@pytest.mark.parametrize("name", SITES)
def test_ways_are_allowed_as_by_the_polygons(name):
    """Ways that pass no corner or border within a centimetre: those that do are for the exact geometry."""
    bounds = SITES[name]
    starts, ends = places(1)[:NUM_WAYS], places(2)[:NUM_WAYS]
    found = np.asarray(allow_way(FENCES[name], starts, ends))
    exact = np.array(
        [
            [bounds.allow_way(start + shift, (end + shift)[None])[0] for shift in shifts()]
            for start, end in zip(starts.astype(np.float64), ends.astype(np.float64), strict=True)
        ]
    )
    clear = exact.all(axis=1) | ~exact.any(axis=1)
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(found[clear], exact[clear, 0])


@pytest.mark.parametrize("name", SITES)
def test_shortest_ways_are_those_of_the_polygons(name):
    """Their lengths, and the pieces of the way: as long, and each allowed."""
    bounds, fence = SITES[name], FENCES[name]
    points = places(3)
    points = points[bounds.allow(points) & (bounds.clearance(points) > CLEAR_M)][:40]
    lengths = np.asarray(way_lengths(fence, points[0], points[1:]))
    expected = bounds.way_lengths(points[0], points[1:])
    np.testing.assert_allclose(lengths, expected, atol=CLEAR_M)
    ways = np.asarray(ways_to(fence, points[0], points[1:]), np.float64)
    for way, end, length in zip(ways[:20], points[1:], expected, strict=False):
        np.testing.assert_array_equal(way[[0, -1]], np.stack([points[0], end]))
        if np.isfinite(length):
            pieces = np.linalg.norm(np.diff(way, axis=0), axis=1)
            assert pieces.sum() == pytest.approx(length, abs=CLEAR_M)
            exact = bounds.way(points[0], end)
            assert all(np.linalg.norm(way - corner, axis=1).min() < CLEAR_M for corner in exact)


@pytest.mark.parametrize("seed", range(3))
def test_lengths_among_random_walls_are_exact(seed):
    """Ten walls that may overlap; places a centimetre off them or more, 100 km off the origin or at it."""
    random = np.random.default_rng(seed)
    angles = random.uniform(0, 2 * np.pi, 10)
    along = random.uniform(1, 5, (10, 1)) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    across = 0.2 * np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    middles = random.uniform(0, SIDE, (10, 2))
    walls = tuple(
        np.stack([m - a - b, m + a - b, m + a + b, m - a + b])
        for m, a, b in zip(middles, along, across, strict=True)
    )
    points = random.uniform(0, SIDE, (120, 2)).astype(np.float32).astype(np.float64)
    for offset, tolerance in ((0.0, CLEAR_M), (1e5, 1.0)):
        bounds = Bounds(obstacles=tuple(wall + offset for wall in walls))
        there = points + offset
        there = there[bounds.clearance(there) > 0.2]
        there = there[bounds.allow(there)]
        found = way_lengths(
            Fence.of(bounds), jnp.asarray(there[0], jnp.float32), jnp.asarray(there, jnp.float32)
        )
        np.testing.assert_allclose(found, bounds.way_lengths(there[0], there), atol=tolerance)


def shifts():
    """None, and a centimetre in four directions."""
    angles = np.arange(4) * np.pi / 2
    return np.concatenate([np.zeros((1, 2)), CLEAR_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)])


def test_no_borders_change_nothing():
    """Not even the last digit of a length."""
    ends = places(4)
    lengths = way_lengths(Fence.of(Bounds()), ends[0], ends)
    plain = jax.jit(lambda start, ends: jnp.linalg.norm(ends - start[None, :], axis=1))(ends[0], ends)
    np.testing.assert_array_equal(lengths, plain)


def test_borders_are_allowed():
    """Along a side, into a corner, from one yard to the other through the side they share; not around it."""
    starts = jnp.array([[0.0, 0.0], [5.0, 5.0], [18.0, 7.0], [18.0, 2.0]])
    ends = jnp.array([[SIDE, 0.0], [0.0, 0.0], [24.0, 7.0], [24.0, 2.0]])
    assert allow_way(FENCES["two yards that touch"], starts, ends).tolist() == [True, True, True, False]


@pytest.mark.parametrize("name", SITES)
def test_room_for_more_changes_nothing_but_the_shapes(name):
    """The same places, ways and corners; and a further polygon leaves the shapes as they are."""
    bounds = SITES[name]
    tight, roomy = FENCES[name], Fence.of(bounds, has_room=True)
    ends = places(5)[:40]
    start = np.float32([3.0, 2.0])
    np.testing.assert_array_equal(*(allow(fence, ends) for fence in (tight, roomy)))
    np.testing.assert_array_equal(*(way_lengths(fence, start, ends) for fence in (tight, roomy)))
    lengths = [lengths_of(ways_to(fence, start, ends)) for fence in (tight, roomy)]
    np.testing.assert_allclose(*lengths, rtol=1e-5)
    more = Fence.of(replace(bounds, obstacles=(SHED - 10.0,)), has_room=True)
    if bounds.has_borders:
        assert jax.tree.structure(more) == jax.tree.structure(roomy)
    assert [leaf.shape for leaf in jax.tree.leaves(more)] == [leaf.shape for leaf in jax.tree.leaves(roomy)]
