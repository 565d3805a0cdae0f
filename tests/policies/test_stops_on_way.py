"""Where a searcher of a team stops on a far way: legs of one length, as the budget of readings allows."""

import math

import numpy as np
import pytest

from dowsax.policies.stops_on_way import StopsOnWay
from dowsax.world import Budget

STOPS = StopsOnWay(shortest=4.0, speed=2.0, reading_time=0.0, apart=1.0)
BUDGET = Budget(readings=10.0, distance=100.0)
BENT = np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 8.0], [6.0, 23.0], [6.0, 23.0]])
"""A way of 29 m, whose end is repeated."""


@pytest.mark.parametrize(
    ("budget", "length"),
    [
        (BUDGET, 10.0),
        (Budget(readings=10.0, distance=100.0, time=30.0), 6.0),
        (Budget(readings=50.0, distance=100.0), 4.0),
        (Budget(distance=100.0), 4.0),
        (Budget(readings=10.0), math.inf),
        (Budget(), math.inf),
        (Budget(readings=1.0, distance=100.0), 100.0),
    ],
)
def test_a_leg_is_the_way_for_each_reading_that_is_left(budget, length):
    assert STOPS.leg_length(budget) == pytest.approx(length)


def test_reading_takes_at_most_a_tenth_of_the_time_of_a_leg():
    slow = StopsOnWay(shortest=4.0, speed=2.0, reading_time=3.0, apart=1.0)
    assert slow.leg_length(BUDGET) == pytest.approx(60.0)


def test_the_stops_divide_a_way_around_corners_into_equal_legs():
    """29 m in legs of at most 10 m: three, the first up to 3 2/3 m beyond the corner."""
    assert STOPS.first_on(BENT, BUDGET) == pytest.approx((6.0, 29 / 3 - 6))


@pytest.mark.parametrize("length", [6.1, 7.9, 8.0, 8.1, 11.9, 12.1, 15.9, 16.1, 22.0])
def test_no_leg_is_shorter_than_the_shortest(length):
    """Also where a way is a little longer than a whole number of them."""
    many_readings = Budget(readings=100.0, distance=100.0)
    assert STOPS.leg_length(many_readings) == STOPS.shortest
    stop = STOPS.first_on(np.array([[0.0, 0.0], [length, 0.0]]), many_readings)
    assert (stop is None) == (length < 2 * STOPS.shortest)
    if stop is not None:
        assert stop[0] >= STOPS.shortest
        assert length / stop[0] == pytest.approx(round(length / stop[0]))


@pytest.mark.parametrize("length", [0.0, 9.0, 14.9])
def test_a_short_way_is_gone_through(length):
    assert STOPS.first_on(np.array([[0.0, 0.0], [length, 0.0]]), BUDGET) is None


def test_nobody_stops_where_another_is_about_to_read():
    stop = STOPS.first_on(BENT, BUDGET, [(50.0, 50.0)])
    assert stop is not None
    assert STOPS.first_on(BENT, BUDGET, [(stop[0] + 0.5, stop[1])]) is None
