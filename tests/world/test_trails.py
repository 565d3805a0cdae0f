"""Trails: the stations before each reading, of the same sensor."""

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import with_trail

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
