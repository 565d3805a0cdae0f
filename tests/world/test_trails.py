"""Trails: the stations before each reading, of the same sensor."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import OpenPath, Station
from dowsax.world import with_trail
from dowsax.world.trails import advance, move_station, way_to

PLACES = jnp.stack([jnp.arange(5.0), jnp.zeros(5)], axis=1)
TIMES = jnp.float32([0, 1, 3, 6, 10])


def test_the_newest_comes_first_and_the_oldest_is_repeated():
    trail = with_trail(Station(PLACES, time=TIMES), 2).trail
    np.testing.assert_array_equal(trail.stations.position[:, :, 0], [[0, 0], [0, 0], [1, 0], [2, 1], [3, 2]])
    np.testing.assert_array_equal(trail.ages, [[0, 0], [1, 1], [2, 3], [3, 5], [4, 7]])
    assert trail.stations.trail is None


def test_sensors_have_trails_of_their_own():
    stations = Station(PLACES, time=TIMES, sensor=jnp.array([0, 1, 0, 1, 1]))
    trail = with_trail(stations, 1).trail
    np.testing.assert_array_equal(trail.stations.position[:, 0, 0], [0, 1, 0, 1, 3])
    np.testing.assert_array_equal(trail.stations.sensor[:, 0], stations.sensor)
    assert jnp.issubdtype(trail.stations.sensor.dtype, jnp.integer)


@pytest.mark.parametrize(
    ("stations", "length", "word"),
    [
        (Station(PLACES), 2, "time"),
        (Station(PLACES, time=TIMES), 0, "length"),
        (Station(PLACES, time=TIMES[::-1]), 2, "reading 1 "),
    ],
)
def test_refuses_what_has_no_trail(stations, length, word):
    with pytest.raises(ValueError, match=word):
        with_trail(stations, length)


def test_a_station_goes_from_a_point_to_a_path_and_back():
    """A path has its own height, nobody goes to it, and a point is a path of no length."""
    here = Station(
        jnp.zeros(2), time=jnp.zeros(()), altitude=jnp.ones(()), far_end=jnp.zeros(2), dwell=jnp.ones(())
    )
    path = OpenPath(jnp.array([3.0, 4.0]), jnp.array([9.0, 12.0]), jnp.array(2.5))
    for there in (move_station(here, path), advance(here, path, jnp.array(7.0))):
        np.testing.assert_array_equal(there.position, path.start)
        np.testing.assert_array_equal(there.far_end, path.end)
        np.testing.assert_array_equal(there.place, [6.0, 8.0])
        assert (there.altitude, there.dwell) == (2.5, 1.0)
    assert (way_to(here, path), way_to(here, path.start)) == (0.0, 5.0)
    back = advance(there, jnp.array([1.0, 1.0]), jnp.array(3.0))
    np.testing.assert_array_equal(back.far_end, back.position)
    assert back.time == 10.0


def test_a_lagging_sensor_has_settled_on_the_path():
    stations = with_trail(Station(PLACES, time=TIMES, far_end=PLACES), 2)
    path = OpenPath(jnp.array([3.0, 4.0]), jnp.array([9.0, 12.0]))
    trail = move_station(jax.tree.map(lambda leaf: leaf[-1], stations), path).trail
    np.testing.assert_array_equal(trail.stations.far_end, [[9.0, 12.0]] * 2)
    np.testing.assert_array_equal(trail.stations.position, [[3.0, 4.0]] * 2)
