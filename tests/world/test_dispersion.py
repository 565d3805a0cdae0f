"""Dispersion among buildings: what flows in flows out, by the adjoint as by forward solves."""

import numpy as np
import pytest
import shapely

from dowsax.world.dispersion import (
    Faces,
    Grid,
    find_free,
    nearest_numbers,
    solve_responses,
    solve_wind,
    transport,
)
from dowsax.world.obstacles import Obstacle

HOUSE = Obstacle(np.array([[12.0, 8.0], [20.0, 8.0], [20.0, 18.0], [12.0, 18.0]]))
RING = Obstacle(
    np.array(
        [[26, 4], [34, 4], [34, 12], [26, 12], [26, 6], [28, 6], [28, 10], [32, 10], [32, 6], [26, 6]], float
    )
)
GRID = Grid.over((0.0, 0.0), (40.0, 30.0), 20, 3)
DIRECTION = np.array([0.8, 0.6])
SPREAD_M = 1.7


@pytest.fixture(scope="module")
def yard():
    free = find_free(GRID, [HOUSE, RING])
    return free, solve_wind(GRID, free, DIRECTION)


def test_the_grid_covers_the_box_and_a_margin():
    assert GRID.cell == 2.0
    assert GRID.shape == (26, 21)
    np.testing.assert_allclose(GRID.middles[3, 3], [1.0, 1.0])
    near = GRID.is_near((0.0, 0.0), (40.0, 30.0))
    assert near.sum() == 22 * 17


def test_obstacles_and_what_they_enclose_are_not_free(yard):
    free, _ = yard
    solid = shapely.union_all([shapely.Polygon(one.corners).buffer(0) for one in (HOUSE, RING)])
    blocked = shapely.contains_xy(solid, GRID.middles[..., 0], GRID.middles[..., 1])
    assert not free[blocked].any()
    court = np.all(np.abs(GRID.middles - [30.0, 8.0]) < 2, axis=-1)
    assert court.any()
    assert not free[court].any()


def test_every_cell_has_the_number_of_the_nearest_free_one(yard):
    free, _ = yard
    numbers, middles = nearest_numbers(free), GRID.middles
    distances = np.linalg.norm(middles[:, :, None] - middles[free][None, None], axis=-1)
    found = np.take_along_axis(distances, numbers[..., None], axis=2)[..., 0]
    np.testing.assert_allclose(found, distances.min(axis=2))


def test_no_air_is_made_or_lost(yard):
    """What flows into each cell flows out of it; in the open the wind is the same everywhere."""
    free, (through, outward) = yard
    faces, size = Faces.of(free), int(free.sum())
    net = np.bincount(faces.first, through, size) - np.bincount(faces.second, through, size)
    net += np.bincount(faces.inner, outward, size)
    np.testing.assert_allclose(net, 0, atol=1e-10)
    everywhere = np.ones(GRID.shape, bool)
    through, outward = solve_wind(GRID, everywhere, DIRECTION)
    open_faces = Faces.of(everywhere)
    np.testing.assert_allclose(through, DIRECTION[open_faces.axis])
    np.testing.assert_allclose(outward, open_faces.outward @ DIRECTION)


def test_the_adjoint_gives_what_forward_solves_give(yard):
    """Reciprocity: against a dense solve for each source."""
    free, wind = yard
    matrix = transport(GRID, free, wind, SPREAD_M)
    generator = np.random.default_rng(0)
    stations, sources = (generator.choice(matrix.shape[0], 15, replace=False) for _ in range(2))
    releases = np.zeros((matrix.shape[0], len(sources)))
    releases[sources, np.arange(len(sources))] = 1.0
    forward = np.linalg.solve(matrix.toarray(), releases)
    found = solve_responses(matrix, stations)[:, sources]
    np.testing.assert_allclose(found, forward[stations], rtol=1e-8, atol=1e-12 * forward.max())
    assert (forward > -1e-14 * forward.max()).all()


def test_what_is_released_leaves_the_grid(yard):
    """The flow through the border, of advection and diffusion by central differences, is the release."""
    free, wind = yard
    spread = 8.0
    matrix = transport(GRID, free, wind, spread)
    source = int(nearest_numbers(free)[10, 4])
    concentration = np.linalg.solve(matrix.toarray(), np.eye(matrix.shape[0])[source])
    faces = Faces.of(free)
    inner = concentration[faces.inner]
    # Clean air a cell further out; with a cell of a quarter of the spread, differences are exact to P²/12.
    leaves = wind[1] * GRID.cell * 0.5 * inner + spread * inner
    peclet = np.abs(wind[1]).max() * GRID.cell / spread
    assert leaves.sum() == pytest.approx(1.0, rel=peclet**2 / 12)


def test_too_many_cells_are_an_error():
    with pytest.raises(ValueError, match="at most 4096 cells"):
        Grid.over((0.0, 0.0), (100.0, 100.0), 100, 5)
