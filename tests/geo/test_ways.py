"""Shortest ways around polygons, against a fine lattice, brute force over all corners, and closed forms."""

import itertools

import numpy as np
import pytest
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from dowsax.geo.ways import TOUCH, FreeSpace

WALL = np.array([[4.0, 2.0], [6.0, 2.0], [6.0, 8.0], [4.0, 8.0]])
YARD = np.array([[0.0, 0.0], [20.0, 0.0], [20.0, 10.0], [12.0, 10.0], [12.0, 4.0], [0.0, 4.0]])


def random_polygons(random, number, side=20.0):
    """Return stars: polygons with corners in and out, which may overlap."""
    polygons = []
    for _ in range(number):
        count = random.integers(3, 8)
        angles = np.sort(random.uniform(0, 2 * np.pi, count))
        radii = random.uniform(0.5, 4.0, count)
        polygons.append(random.uniform(0, side, 2) + radii[:, None] * np.c_[np.cos(angles), np.sin(angles)])
    return [polygon for polygon in polygons if shapely.Polygon(polygon).is_valid]


def brute_lengths(geofence, blocked, start, ends):
    """Lengths of the shortest ways over all corners of the free space, by Dijkstra."""
    solid = shapely.union_all([shapely.Polygon(p).buffer(-TOUCH / 2) for p in blocked])
    fence = shapely.union_all([shapely.Polygon(p) for p in geofence] or [shapely.box(-99, -99, 99, 99)])
    fence = fence.buffer(TOUCH / 2)
    corners = shapely.get_coordinates(
        fence.difference(shapely.union_all([shapely.Polygon(p) for p in blocked]))
    )
    places = np.concatenate([start[None], ends, corners])
    pairs = np.array(list(itertools.combinations(range(len(places)), 2)))
    lines = shapely.linestrings(places[pairs])
    seen = fence.buffer(TOUCH / 2).covers(lines) & ~shapely.intersects(solid, lines)
    lengths = shapely.length(lines)
    graph = coo_array((lengths[seen], tuple(pairs[seen].T)), shape=(len(places),) * 2).tocsr()
    return dijkstra(graph, directed=False, indices=0)[1 : 1 + len(ends)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("geofence", [[], [YARD], [YARD, YARD + np.array([0.0, 9.0])]], ids=len)
def test_lengths_are_those_of_brute_force(seed, geofence):
    random = np.random.default_rng(seed)
    blocked = random_polygons(random, 5)
    space = FreeSpace(geofence, blocked)
    places = random.uniform(-1.0, 21.0, (60, 2))
    places = places[space.allow(places)]
    start, ends = places[0], places[1:]
    found, expected = space.lengths(start, ends), brute_lengths(geofence, blocked, start, ends)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    # Both round corners off by about TOUCH.
    np.testing.assert_allclose(found, expected, rtol=0, atol=20 * TOUCH)


@pytest.mark.parametrize("seed", range(6))
def test_a_way_is_allowed_piece_by_piece_and_as_long_as_it_says(seed):
    random = np.random.default_rng(seed)
    blocked = random_polygons(random, 6)
    solid = shapely.union_all([shapely.Polygon(p) for p in blocked]).buffer(-2 * TOUCH)
    space = FreeSpace([], blocked)
    places = random.uniform(0.0, 20.0, (30, 2))
    places = places[space.allow(places)]
    lengths = space.lengths(places[0], places)
    for end, length in zip(places, lengths, strict=True):
        way = space.way(places[0], end)
        if way is None:
            assert np.isinf(length)
            continue
        np.testing.assert_array_equal(way[[0, -1]], [places[0], end])
        assert np.linalg.norm(np.diff(way, axis=0), axis=1).sum() == pytest.approx(length, abs=1e-9)
        assert not solid.intersects(shapely.LineString(way))
        assert length == pytest.approx(space.lengths(end, places[:1])[0], abs=1e-9)


def test_the_way_around_a_wall_has_its_corners():
    space = FreeSpace([], [WALL])
    way = space.way(np.array([2.0, 3.0]), np.array([8.0, 3.0]))
    np.testing.assert_array_equal(way, [[2.0, 3.0], [4.0, 2.0], [6.0, 2.0], [8.0, 3.0]])
    assert space.lengths(np.array([2.0, 3.0]), np.array([8.0, 3.0]))[0] == pytest.approx(2 + 2 * 5**0.5)


def test_the_way_in_a_geofence_bends_around_its_corner():
    way = FreeSpace([YARD], []).way(np.array([1.0, 4.0]), np.array([12.0, 9.0]))
    np.testing.assert_array_equal(way, [[1.0, 4.0], [12.0, 4.0], [12.0, 9.0]])


def test_borders_are_allowed_and_what_is_deeper_is_not():
    space = FreeSpace([YARD], [WALL])
    inside = np.array([[4.0, 3.0], [4.0005, 3.0], [0.0, 0.0], [-0.0005, 2.0]])
    assert space.allow(inside).all()
    assert not space.allow(np.array([[4.002, 3.0], [-0.002, 2.0], [13.0, 12.0]])).any()
    assert np.isfinite(space.lengths(np.array([4.0, 2.0]), np.array([[6.0, 2.0]]))).all()


def test_walls_that_touch_have_no_way_between_them():
    room = [
        np.array([[0.0, 0.0], [9.0, 0.0], [9.0, 1.0], [0.0, 1.0]]),
        np.array([[8.0, 1.0], [9.0, 1.0], [9.0, 8.0], [8.0, 8.0]]),
        np.array([[0.0, 8.0], [9.0, 8.0], [9.0, 9.0], [0.0, 9.0]]),
        np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 8.0], [0.0, 8.0]]),
    ]
    inside, outside = np.array([4.0, 4.0]), np.array([[20.0, 4.0], [-500.0, 0.0], [4.0, 9.5], [3.0, 3.0]])
    assert np.isinf(FreeSpace([], room).lengths(inside, outside)).tolist() == [True, True, True, False]
    assert FreeSpace([], room).way(inside, outside[0]) is None
    assert np.isfinite(FreeSpace([], room[:3]).lengths(inside, outside)).all()


def test_nothing_in_the_way_is_the_straight_line():
    space, ends = FreeSpace([], []), np.array([[3.0, 4.0], [-6.0, 8.0]])
    np.testing.assert_array_equal(space.lengths(np.zeros(2), ends), [5.0, 10.0])
    np.testing.assert_array_equal(space.way(np.zeros(2), ends[0]), [[0.0, 0.0], [3.0, 4.0]])


def test_a_place_in_an_obstacle_has_no_way():
    space = FreeSpace([], [WALL])
    assert np.isinf(space.lengths(np.array([5.0, 5.0]), np.array([[0.0, 0.0]]))).all()
    assert np.isinf(space.lengths(np.array([0.0, 0.0]), np.array([[5.0, 5.0]]))).all()
