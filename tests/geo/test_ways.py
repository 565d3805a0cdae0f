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


BOX = ((0.0, 0.0), (100.0, 60.0))
CUTS = {"flush": 0.0, "beyond": -1.0, "a millimetre short": 0.001, "less than a millimetre short": 0.0004}


@pytest.mark.parametrize("short", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("as_geofence", [False, True], ids=["area", "geofence"])
def test_a_wall_that_touches_the_border_leaves_no_way_along_it(short, as_geofence):
    bar = np.array([[40.0, short], [60.0, short], [60.0, 60 - short], [40.0, 60 - short]])
    fence = [shapely.get_coordinates(shapely.box(0, 0, 100, 60))[:-1]] if as_geofence else []
    space = FreeSpace(fence, [bar], within=None if as_geofence else BOX)
    west, east = np.array([5.0, 5.0]), np.array([95.0, 5.0])
    assert space.way(west, east) is None
    assert space.part(np.array([west, east]))[0] != space.part(np.array([west, east]))[1]
    # Both sides of the bar, and the corners of the box, are allowed.
    assert space.allow(np.array([[40.0, 30.0], [60.0, 30.0], [0.0, 0.0], [100.0, 60.0]])).all()
    np.testing.assert_allclose(np.sort(space.areas(*BOX)), [2400.0, 2400.0], rtol=1e-9)


def test_a_gap_that_is_wider_is_a_way():
    bar = np.array([[40.0, 0.002], [60.0, 0.002], [60.0, 61.0], [40.0, 61.0]])
    space = FreeSpace([], [bar], within=BOX)
    assert space.way(np.array([5.0, 5.0]), np.array([95.0, 5.0])) is not None
    np.testing.assert_allclose(space.areas(*BOX), [4800.0 + 0.04], rtol=1e-9)


def test_areas_without_a_geofence_have_what_is_beside_the_polygons():
    areas = FreeSpace([], [WALL]).areas((0.0, 0.0), (20.0, 10.0))
    np.testing.assert_allclose(areas, [200.0 - 12.0], rtol=1e-9)
