"""Readings on the way: where they are, against counting them one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowsax.types import Station
from dowsax.world import WayReadings

EVERY = WayReadings(2.0, 3.0)
"""Each 6 m."""
MOST = 5
find = jax.jit(
    lambda start, end: (
        EVERY.number(jnp.linalg.norm(end - start)),
        EVERY.places(jnp.stack([start, end]), MOST),
    )
)
coordinate = st.floats(-50.0, 50.0, width=32)


@given(coordinate, coordinate, coordinate, coordinate)
def test_readings_are_evenly_spaced_before_the_end(x, y, u, v):
    """At 6 m, 12 m … as long as the end is not reached; of more than five, five share the way evenly."""
    start, end = np.array([x, y]), np.array([u, v])
    way = float(np.linalg.norm(end - start))
    number, (places, taken) = find(jnp.asarray(start, jnp.float32), jnp.asarray(end, jnp.float32))
    passed = np.arange(1, 60) * 6.0
    # Where one is within rounding of the end, both answers are right.
    assert int(number) in {int((passed < way - slack).sum()) for slack in (0.0, 0.02)}
    assert int(taken) == min(int(number), MOST)
    gone = passed[: int(taken)] if int(number) <= MOST else way * np.arange(1, MOST + 1) / (MOST + 1)
    direction = (end - start) / max(way, 1e-9)
    np.testing.assert_allclose(places[: int(taken)], start + gone[:, None] * direction, atol=1e-3)


def test_readings_follow_a_way_around_a_corner():
    """9 m east, then 20 m north, then nowhere: at 6, 12, 18 and 24 m."""
    way = jnp.array([[0.0, 0.0], [9.0, 0.0], [9.0, 20.0], [9.0, 20.0]])
    places, taken = jax.jit(lambda way: EVERY.places(way, MOST))(way)
    assert int(taken) == 4
    np.testing.assert_allclose(places[:4], [[6, 0], [9, 3], [9, 9], [9, 15]], atol=1e-5)


@pytest.mark.parametrize(("way", "number"), [(0.0, 0), (6.0, 0), (6.1, 1), (12.0, 1), (600.0, 99)])
def test_the_reading_at_the_end_is_none_of_them(way, number):
    assert int(EVERY.number(jnp.float32(way))) == number


def test_a_reading_on_the_way_counts_no_longer_than_the_interval():
    assert float(EVERY.station(Station(jnp.zeros(2), dwell=jnp.float32(9.0))).dwell) == 2.0
    assert float(EVERY.station(Station(jnp.zeros(2), dwell=jnp.float32(1.5))).dwell) == 1.5
    assert EVERY.station(Station(jnp.zeros(2))).dwell is None
