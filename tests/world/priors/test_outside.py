"""The position of a source outside of obstacles, against the areas of shapely."""

import jax
import numpy as np
import pytest
import shapely
from scipy import stats

from dowsax.world.base import Location
from dowsax.world.obstacles import Obstacle
from dowsax.world.priors.outside import UniformOutside

LOW, HIGH = (0.0, 0.0), (30.0, 20.0)
HOUSE = np.array([[5.0, 5.0], [12.0, 5.0], [12.0, 9.0], [8.0, 9.0], [8.0, 15.0], [5.0, 15.0]])
TANK = np.array([[20.0, 8.0], [26.0, 8.0], [26.0, 14.0], [20.0, 14.0]])
OVER_THE_BORDER = np.array([[25.0, -5.0], [35.0, -5.0], [35.0, 4.0], [25.0, 4.0]])
NUM_DRAWS, CELLS = 20_000, 10


def outside():
    return UniformOutside.of(LOW, HIGH, [Obstacle(each) for each in (HOUSE, TANK, OVER_THE_BORDER)])


def free_part():
    return shapely.box(*LOW, *HIGH).difference(
        shapely.union_all([shapely.Polygon(each) for each in (HOUSE, TANK, OVER_THE_BORDER)])
    )


def test_the_density_is_one_over_the_free_area():
    location, free = outside(), free_part()
    assert isinstance(location, Location)
    places = np.random.default_rng(0).uniform((-2, -2), (32, 22), (2000, 2)).astype(np.float32)
    found = jax.jit(jax.vmap(location.log_prob))(places)
    inside = shapely.contains_xy(free, *places.T.astype(float))
    np.testing.assert_array_equal(np.isfinite(found), inside)
    np.testing.assert_allclose(found[inside], -np.log(free.area), rtol=1e-6)


def test_samples_are_uniform_on_the_free_part(key):
    """Counts in cells of 3 by 2 m pass chi-square at level 1e-4; one in 20,000 may be rounded into a wall."""
    location = outside()
    samples = jax.jit(jax.vmap(location.sample))(jax.random.split(key, NUM_DRAWS))
    assert np.mean(np.isinf(jax.vmap(location.log_prob)(samples))) <= 1 / NUM_DRAWS
    edges = [np.linspace(low, high, CELLS + 1) for low, high in zip(LOW, HIGH, strict=True)]
    counts, _, _ = np.histogram2d(*np.asarray(samples).T, bins=edges)
    free = free_part()
    areas = np.array(
        [
            [shapely.box(x, y, x + 3, y + 2).intersection(free).area for y in edges[1][:-1]]
            for x in edges[0][:-1]
        ]
    )
    assert counts[areas == 0].sum() == 0
    expected = NUM_DRAWS * areas[areas > 0] / free.area
    common = expected > 5
    assert (
        stats.chisquare(
            counts[areas > 0][common],
            expected[common] * (counts[areas > 0][common].sum() / expected[common].sum()),
        ).pvalue
        > 1e-4
    )


def test_obstacles_that_cover_all_are_an_error():
    everything = Obstacle(np.array([[-1.0, -1.0], [31.0, -1.0], [31.0, 21.0], [-1.0, 21.0]]))
    with pytest.raises(ValueError, match="cover the whole area"):
        UniformOutside.of(LOW, HIGH, [everything])


def test_samples_stay_in_the_box(key):
    samples = jax.vmap(outside().sample)(jax.random.split(key, 1000))
    samples = np.asarray(samples)
    assert np.all((samples >= LOW) & (samples <= HIGH))
