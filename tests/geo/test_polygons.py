"""Polygons: every answer against a slow one of another kind."""

import numpy as np
import pytest

from dowsax.geo.polygons import Bounds, covers, holds, inside, signed_area

SQUARE = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
WALL = np.array([[4.0, -2.0], [6.0, -2.0], [6.0, 8.0], [4.0, 8.0]])


def star(seed, corners=11, centre=(0.0, 0.0)):
    """A polygon seen whole from its centre, with its area as a fan of triangles."""
    random = np.random.default_rng(seed)
    angles = np.sort(random.uniform(0, 2 * np.pi, corners))
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False) + 0.3 * angles / angles.max()
    radii = random.uniform(2, 8, corners)
    turns = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    area = 0.5 * np.sum(radii * np.roll(radii, -1) * np.sin(turns))
    return np.asarray(centre) + radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1), area


def winds_around(polygon, points):
    """The angle under which the border is seen, added up: a whole turn from inside, none from outside."""
    offsets = polygon[None] - points[:, None]
    angles = np.arctan2(offsets[..., 1], offsets[..., 0])
    turns = np.diff(np.concatenate([angles, angles[:, :1]], axis=1), axis=1)
    turns = (turns + np.pi) % (2 * np.pi) - np.pi
    return np.abs(turns.sum(axis=1)) > np.pi


def along(start, end, number=2001):
    return start + np.linspace(0, 1, number)[:, None] * (np.asarray(end) - start)


def slowly_allowed(bounds, points):
    allowed = np.any([winds_around(polygon, points) for polygon in bounds.geofence], axis=0)
    for polygon in bounds.no_go:
        allowed &= ~winds_around(polygon, points)
    return allowed


@pytest.mark.parametrize(("seed", "corners"), [(0, 11), (1, 11), (2, 11), (3, 301)])
def test_inside_is_a_whole_turn_of_the_border(seed, corners):
    polygon, _ = star(seed, corners)
    points = np.random.default_rng(seed).uniform(-9, 9, (2000, 2))
    np.testing.assert_array_equal(inside(polygon, points), winds_around(polygon, points))


@pytest.mark.parametrize("seed", range(4))
def test_area_is_that_of_a_fan_of_triangles(seed):
    polygon, area = star(seed)
    assert signed_area(polygon) == pytest.approx(area)
    assert signed_area(polygon[::-1]) == pytest.approx(-area)


def test_borders_are_covered_and_not_held():
    border = np.array([[0.0, 5.0], [10.0, 10.0], [5.0, 0.0]])
    assert covers(SQUARE, border).all()
    assert not holds(SQUARE, border).any()


@pytest.mark.parametrize("seed", range(3))
def test_ways_are_allowed_when_every_point_is(seed):
    """A geofence of two overlapping stars with a no-go area: inside the union counts as inside."""
    first, second, wood = (star(seed + n, centre=at)[0] for n, at in enumerate([(-3, 0), (4, 0), (0, 3)]))
    bounds = Bounds((first, second), (0.4 * wood,))
    random = np.random.default_rng(seed)
    start = np.array([-3.0, -1.0])
    ends = random.uniform(-9, 9, (60, 2))
    allowed = bounds.allow_way(start, ends)
    shares = np.array([1 - slowly_allowed(bounds, along(start, end)).mean() for end in ends])
    clear = (shares == 0) | (shares > 0.004)
    np.testing.assert_array_equal(allowed[clear], shares[clear] == 0)
    assert 2 < allowed.sum() < 58


def test_ways_along_a_border_are_allowed():
    bounds = Bounds((SQUARE,), (WALL,))
    assert bounds.allow_way([4.0, 1.0], [[4.0, 7.0], [4.0, 8.0], [0.0, 0.0]]).all()
    assert not bounds.allow_way([4.0, 1.0], [[5.0, 1.0], [6.0, 1.0]]).any()


def test_without_a_geofence_everywhere_is_allowed():
    assert Bounds().allow([[1e6, -1e6]]).all()
    assert Bounds().allow_way([0.0, 0.0], [[1e6, 1e6]]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_allowed_place_is_nearest(seed):
    """Against a fine grid of allowed places: no nearer one, up to half a diagonal of the grid."""
    fence, _ = star(seed)
    bounds = Bounds((fence,), (0.3 * star(seed + 9)[0] + [1.0, 1.0],))
    axis = np.linspace(-9, 9, 361)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    grid = grid[slowly_allowed(bounds, grid)]
    for point in np.random.default_rng(seed).uniform(-12, 12, (40, 2)):
        found = bounds.nearest(point)
        assert bounds.allow(found[None])[0]
        shortest = np.linalg.norm(grid - point, axis=1).min()
        assert np.linalg.norm(found - point) <= shortest + 0.05 * 2**0.5


def test_nowhere_allowed_is_said():
    with pytest.raises(ValueError, match="no allowed place"):
        Bounds((SQUARE,), (3 * SQUARE - 10,)).nearest([5.0, 5.0])


def test_two_corners_are_no_polygon():
    with pytest.raises(ValueError, match="three corners"):
        Bounds((SQUARE[:2],))
