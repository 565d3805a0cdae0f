"""Polygons with rounded corners: valid by shapely, and covering what the rings go round."""

import numpy as np
import pytest
import shapely

from dowsax.geo.polygons import clip
from dowsax.geo.valid_polygons import round_polygons

DECIMALS = 4
UNIT = 10.0**-DECIMALS


def made_rings(random, size):
    """Closed ways of any kind: scribbles, discs either way round, and corners on few places of a lattice."""
    for _ in range(random.integers(1, 5)):
        number = random.integers(3, 30)
        kind = random.integers(0, 3)
        if kind == 0:
            yield random.uniform(-size, size, (number, 2))
        elif kind == 1:
            angles = np.sort(random.uniform(0, 2 * np.pi, number))
            disc = random.uniform(0.2, 1) * size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
            yield disc[:: random.choice([1, -1])]
        else:
            yield UNIT * random.integers(1, 5) * random.integers(-3, 4, (number, 2))


def as_shape(polygons):
    return shapely.MultiPolygon([(border, holes) for border, holes in polygons])


def require_valid(polygons):
    shape = as_shape(polygons)
    assert shape.is_valid, shapely.is_valid_reason(shape)
    for border, holes in polygons:
        assert shapely.LinearRing(border).is_ccw
        assert not any(shapely.LinearRing(hole).is_ccw for hole in holes)
        for ring in (border, *holes):
            np.testing.assert_array_equal(ring, np.round(ring, DECIMALS))
    return shape


def windings(rings, points):
    """How often each point is gone round: the angle under which the rings are seen, in whole turns."""
    total = np.zeros(len(points))
    for ring in rings:
        offsets = ring[None] - points[:, None]
        angles = np.arctan2(offsets[..., 1], offsets[..., 0])
        turns = np.diff(np.concatenate([angles, angles[:, :1]], axis=1), axis=1)
        total += np.round(((turns + np.pi) % (2 * np.pi) - np.pi).sum(axis=1) / (2 * np.pi))
    return total


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("seed", range(6))
def test_any_rings_become_valid_polygons_of_what_they_go_round(seed):
    """40 times, from tenths of a millimetre to kilometres; points near a ring may go either way."""
    random = np.random.default_rng(seed)
    for size in 10.0 ** random.integers(-4, 4, 40):
        rings = list(made_rings(random, size))
        shape = require_valid(round_polygons(rings, DECIMALS))
        points = random.uniform(-size, size, (100, 2))
        lines = shapely.union_all([shapely.LinearRing(ring) for ring in rings])
        clear = shapely.distance(lines, shapely.points(points)) > 10 * UNIT
        expected = windings(rings, points)[clear] > 0
        np.testing.assert_array_equal(shapely.contains_xy(shape, points[clear]), expected)


@pytest.mark.parametrize("seed", range(4))
def test_polygons_stay_as_they_are_when_rounded_again(seed):
    random = np.random.default_rng(seed)
    for _ in range(20):
        once = round_polygons(list(made_rings(random, 0.01)), DECIMALS)
        rings = [ring for border, holes in once for ring in (border, *holes)]
        assert as_shape(round_polygons(rings, DECIMALS)).equals(as_shape(once))


def test_pieces_and_holes_that_touch_in_a_corner_are_rings_of_their_own():
    """Two squares that touch; a hole that touches the border; two holes that touch each other."""
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert len(round_polygons([square, square + 1], DECIMALS)) == 2
    diamond = np.array([[0.5, 0.0], [0.7, 0.5], [0.5, 0.8], [0.3, 0.5]])
    [(_, holes)] = polygons = round_polygons([square, diamond[::-1]], DECIMALS)
    assert len(holes) == 1
    require_valid(polygons)
    smaller = 0.1 * square[::-1] + 0.4
    [(_, holes)] = polygons = round_polygons([square, smaller, smaller + 0.1], DECIMALS)
    assert len(holes) == 2
    require_valid(polygons)


def test_overlapping_rings_are_joined_and_slivers_left_out():
    """Also a hole that lies on the border; a strip of two units stays out, and one of five is kept."""
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    shape = require_valid(round_polygons([square, square + 0.5, square], DECIMALS))
    assert shape.area == pytest.approx(1.75)
    assert len(shape.geoms) == 1
    assert round_polygons([square, square[::-1]], DECIMALS) == []
    assert round_polygons([square * [1, 2 * UNIT]], DECIMALS) == []
    assert as_shape(round_polygons([square * [1, 5 * UNIT]], DECIMALS)).area == pytest.approx(5 * UNIT)


def test_an_island_in_a_narrow_hole_is_part_of_the_piece_around_it():
    """The hole is a disc with a long thin slit, narrow on average, and is left out with all that is in it."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    disc = np.round(12 * np.stack([np.cos(angles), np.sin(angles)], axis=1)) * UNIT
    slit = np.array([[900.0, 0.0]]) * UNIT
    up = np.array([[0.0, UNIT]])
    hole = np.concatenate([disc[:1] - up, disc[:0:-1], disc[:1] + up, slit])
    square = 0.2 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    [(_, holes)] = polygons = round_polygons([square, hole, 0.7 * disc], DECIMALS)
    assert holes == ()
    assert require_valid(polygons).area == pytest.approx(0.16)


def test_polygons_beyond_64_bits_are_rounded_more_coarsely():
    """2,000 km across and 1,000 km off: valid, with the area of the star."""
    random = np.random.default_rng(0)
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    star = random.uniform(5e5, 1e6, 400)[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1) + 1e6
    shape = require_valid(round_polygons([star], DECIMALS))
    assert shape.area == pytest.approx(shapely.Polygon(star).area)


@pytest.mark.parametrize("seed", range(6))
def test_clipped_rings_cover_what_shapely_cuts_off(seed):
    """Stars with holes across the sides and corners of a box: the area and the place of the intersection."""
    random = np.random.default_rng(seed)
    low, high = np.zeros(2), np.array([10.0, 7.0])
    for _ in range(30):
        number = random.integers(3, 40)
        angles = np.linspace(0, 2 * np.pi, number, endpoint=False)
        round_ = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        centre, radii = random.uniform(low - 2, high + 2), random.uniform(2, 9, number)[:, None]
        border, hole = centre + radii * round_, centre + 0.6 * radii * round_
        cut = [clip(border, low, high), clip(hole[::-1], low, high)]
        shape = require_valid(round_polygons(cut, DECIMALS))
        exact = shapely.Polygon(border, [hole]).intersection(shapely.box(*low, *high))
        assert shape.symmetric_difference(exact).area < 2 * UNIT * (exact.length + 1)
        assert shapely.box(*low, *high).covers(shape)
