"""Obstacles against shapely, and against fine sums along lines."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shapely

from dowsax.world.obstacles import Obstacle, Obstacles

NUM = 500


def star(generator, centre, radius, corners):
    """A simple polygon about its centre, not convex, clockwise or not."""
    angles = 2 * np.pi * (np.arange(corners) + generator.uniform(-0.2, 0.2, corners)) / corners
    lengths = radius * generator.uniform(0.3, 1.0, corners)
    polygon = centre + lengths[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return polygon[:: generator.choice([-1, 1])]


def yard(seed, heights=None):
    generator = np.random.default_rng(seed)
    polygons = [star(generator, generator.uniform(0, 40, 2), 10.0, corners) for corners in (3, 4, 7, 12)]
    heights = [np.inf] * len(polygons) if heights is None else heights
    return [Obstacle(polygon, height=height) for polygon, height in zip(polygons, heights, strict=True)]


def thicknesses(obstacles, *ends):
    """[m], the length of lines in each obstacle: what it takes where its attenuation is 1, the others' 0."""
    found = Obstacles.of(obstacles)

    @jax.jit
    @jax.vmap
    def lengths(*line):
        return jax.vmap(lambda row: found.depth(row, *line)[0])(jnp.eye(len(obstacles)))

    return lengths(*ends)


def lines(seed):
    return np.random.default_rng(seed).uniform(-5, 45, (2, NUM, 2)).astype(np.float32)


@pytest.mark.parametrize("seed", range(3))
def test_thicknesses_are_those_of_shapely(seed):
    obstacles = yard(seed)
    starts, ends = lines(seed + 10)
    found = thicknesses(obstacles, starts, ends)
    exact = [
        [
            shapely.intersection(shapely.LineString([start, end]), shapely.Polygon(one.corners)).length
            for one in obstacles
        ]
        for start, end in zip(starts.astype(float), ends.astype(float), strict=True)
    ]
    # Corners of 40 m are rounded to 4e-6 m, which a side that is nearly parallel to a line blows up.
    np.testing.assert_allclose(found, exact, atol=2e-3)
    assert np.mean(np.array(exact) > 0) > 0.1


def test_opaque_obstacles_interrupt_the_lines_that_they_cross():
    """The others count as if these were not there. Lines that only graze one may go either way."""
    obstacles = yard(2)
    starts, ends = lines(12)
    attenuations = jnp.array([jnp.inf, 0.5, jnp.inf, 2.0])
    depth, is_hidden = jax.jit(jax.vmap(lambda *line: Obstacles.of(obstacles).depth(attenuations, *line)))(
        starts, ends
    )
    lengths = np.asarray(thicknesses(obstacles, starts, ends))
    np.testing.assert_allclose(depth, lengths @ [0.0, 0.5, 0.0, 2.0], atol=1e-3)
    crossed = lengths[:, [0, 2]].max(axis=1)
    clear = (crossed == 0) | (crossed > 0.01)
    outside = ~shapely.contains_xy(
        shapely.union_all([shapely.Polygon(one.corners) for one in obstacles[::2]]), *starts.T.astype(float)
    )
    np.testing.assert_array_equal(is_hidden[clear & outside], crossed[clear & outside] > 0)
    assert 0.1 < np.mean(is_hidden) < 0.9


def test_lines_above_an_obstacle_pass_it():
    """Against the share of a thousand places on each line that are in the polygon and below its height."""
    heights = np.array([2.0, 5.0, 8.0, np.inf])
    obstacles = yard(1, heights)
    generator = np.random.default_rng(7)
    starts, ends = lines(8)
    starts, ends = starts[:60], ends[:60]
    low, high = generator.uniform(0, 10, (2, 60)).astype(np.float32)
    high[::5] = low[::5]
    found = thicknesses(obstacles, starts, ends, low, high)
    shares = (np.arange(1000) + 0.5) / 1000
    places = starts[:, None] + shares[None, :, None] * (ends - starts)[:, None]
    rises = low[:, None] + shares[None, :] * (high - low)[:, None]
    length = np.sqrt(np.sum((ends - starts) ** 2, axis=1) + (high - low) ** 2)
    for number, one in enumerate(obstacles):
        inside = shapely.contains_xy(shapely.Polygon(one.corners), places[..., 0], places[..., 1])
        share = np.mean(inside & (rises < heights[number]), axis=1)
        # Each of at most 12 crossings, and the height, may be half a place off.
        np.testing.assert_allclose(found[:, number], share * length, atol=13 / 2000 * 71)


@pytest.mark.parametrize("seed", range(3))
def test_places_in_an_obstacle_are_those_of_shapely(seed):
    obstacles = yard(seed)
    places = np.random.default_rng(seed).uniform(-5, 45, (4 * NUM, 2)).astype(np.float32)
    found = jax.jit(jax.vmap(Obstacles.of(obstacles).hold))(places)
    exact = shapely.contains_xy(
        shapely.union_all([shapely.Polygon(one.corners) for one in obstacles]), *places.T.astype(float)
    )
    np.testing.assert_array_equal(found, exact)
    assert 0.05 < exact.mean() < 0.9


def test_a_line_of_no_length_crosses_nothing():
    here = jnp.array([20.0, 20.0])
    box = Obstacle(np.array([[10.0, 10.0], [30.0, 10.0], [30.0, 30.0], [10.0, 30.0]]))
    assert Obstacles.of([box]).depth(jnp.ones(1), here, here)[0] == 0.0
