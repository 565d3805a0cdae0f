"""The fence in JAX against the exact geometry of `geo.polygons`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.geo.polygons import Bounds
from dowsax.world import Fence

SIDE = 20.0
YARD = np.array([[0.0, 0.0], [SIDE, 0.0], [SIDE, SIDE], [12.0, SIDE], [12.0, 14.0], [8.0, 14.0], [0.0, SIDE]])
POND = np.array([[7.0, 3.0], [11.0, 5.0], [9.0, 9.0]])
SHED = np.array([[14.0, 12.0], [18.0, 12.0], [18.0, 16.0], [14.0, 16.0]])
ANNEX = np.array([[SIDE, 5.0], [26.0, 5.0], [26.0, 9.0], [SIDE, 9.0]])
SITES = {
    "anywhere": Bounds(),
    "yard": Bounds((YARD,), ()),
    "yard with pond and shed": Bounds((YARD,), (POND, SHED)),
    "two yards that touch": Bounds((YARD, ANNEX), (POND,)),
    "only a pond": Bounds((), (POND,)),
}
CLEAR_M = 0.01
"""Places and ways this near to a border may go either way: single precision, and a touch of a millimetre."""
NUM = 400
NUM_WAYS = 150


def programs(bounds):
    fence = Fence.of(bounds)
    return jax.jit(jax.vmap(lambda place: fence.allow(place))), jax.jit(
        jax.vmap(lambda *ends: fence.allow_way(*ends))
    )


PROGRAMS = {name: programs(bounds) for name, bounds in SITES.items()}


def places(seed):
    """In and around the yards."""
    return np.random.default_rng(seed).uniform((-2.0, -2.0), (28.0, 22.0), (NUM, 2)).astype(np.float32)


@pytest.mark.parametrize("name", SITES)
def test_places_are_allowed_as_by_the_polygons(name):
    bounds, (allow, _) = SITES[name], PROGRAMS[name]
    points = places(0)
    clear = bounds.clearance(points) > CLEAR_M
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(np.asarray(allow(points))[clear], bounds.allow(points)[clear])


@pytest.mark.parametrize("name", SITES)
def test_ways_are_allowed_as_by_the_polygons(name):
    """Ways that pass no corner or border within a centimetre: those that do are for the exact geometry."""
    bounds, (_, allow_way) = SITES[name], PROGRAMS[name]
    starts, ends = places(1)[:NUM_WAYS], places(2)[:NUM_WAYS]
    found = np.asarray(allow_way(starts, ends))
    exact = np.array(
        [
            [bounds.allow_way(start + shift, (end + shift)[None])[0] for shift in shifts()]
            for start, end in zip(starts.astype(np.float64), ends.astype(np.float64), strict=True)
        ]
    )
    clear = exact.all(axis=1) | ~exact.any(axis=1)
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(found[clear], exact[clear, 0])


def shifts():
    """None, and a centimetre in four directions."""
    angles = np.arange(4) * np.pi / 2
    return np.concatenate([np.zeros((1, 2)), CLEAR_M * np.stack([np.cos(angles), np.sin(angles)], axis=1)])


def test_borders_are_allowed():
    """Along a side, into a corner, from one yard to the other through the side they share; not around it."""
    _, allow_way = PROGRAMS["two yards that touch"]
    starts = jnp.array([[0.0, 0.0], [5.0, 5.0], [18.0, 7.0], [18.0, 2.0]])
    ends = jnp.array([[SIDE, 0.0], [0.0, 0.0], [24.0, 7.0], [24.0, 2.0]])
    assert allow_way(starts, ends).tolist() == [True, True, True, False]
