"""Steps of a site, the way back into it, and what is refused."""

import numpy as np
import pytest
from made_missions import FENCE, POND, SIDE

from dowsax.geo.polygons import Bounds
from dowsax.mission.reach import Reach, Steps

BOUNDS = Bounds((FENCE,), (POND,))
AREA = ((0.0, 0.0), (SIDE, SIDE))


def test_steps_are_of_one_length_in_even_directions():
    moves = np.array(Steps(2.0, 8).moves)
    assert np.linalg.norm(moves, axis=1) == pytest.approx(np.full(8, 2.0))
    angles = np.degrees(np.arctan2(moves[:, 1], moves[:, 0])) % 360
    assert angles == pytest.approx(np.arange(8) * 45.0, abs=1e-6)
    assert moves[2].tolist() == [0.0, 2.0]


def test_the_way_back_is_the_nearest_allowed_place():
    """From the pond to its border; from outside straight to the fence; if it is in reach."""
    reach = Reach(BOUNDS, AREA, Steps(2.0, 8))
    assert reach.is_outside((9.0, 9.0))
    assert not reach.is_outside((2.0, 2.0))
    back = reach.way_back((9.0, 8.0), 5.0)
    assert back == pytest.approx((9.0, 7.0), abs=0.02)
    assert not reach.is_outside(back)
    assert reach.way_back((5.0, -3.0), 5.0) == pytest.approx((5.0, 0.0), abs=0.02)
    assert reach.way_back((9.0, 8.0), 0.5) is None


def test_ways_go_around_the_pond():
    """From its west to its east side by two corners; there is none into it, nor home outside the fence."""
    reach = Reach(BOUNDS, AREA, Steps(2.0, 8))
    assert reach.bends((6.0, 8.0), (12.0, 8.0)) == ((7.0, 7.0), (11.0, 7.0))
    assert reach.bends((6.0, 8.0), (6.0, 12.0)) == ()
    places = np.array([[12.0, 8.0], [9.0, 9.0], [6.0, 12.0]])
    assert reach.allow_ways((6.0, 8.0), places).tolist() == [True, False, True]
    homeless = Reach(BOUNDS, AREA, Steps(2.0, 8), home=(-5.0, 5.0))
    assert not homeless.allow_ways((6.0, 8.0), places).any()


def test_places_reach_from_half_the_radius_to_half_the_diagonal():
    actions = Reach(Bounds(), ((0.0, 0.0), (200.0, 150.0)), Steps(10.0, 4)).near_and_far(5.0)
    assert actions.lengths == (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
    assert actions.num_actions == 6 * 8 + 16


@pytest.mark.parametrize(
    ("shortest", "longest", "lengths"),
    [
        (4.0, 50.0, (4.0, 8.0, 16.0, 32.0, 50.0)),
        (4.0, None, (4.0, 8.0, 16.0, 32.0, 64.0)),
        (None, 10.0, (2.5, 5.0, 10.0)),
        (None, 2.0, (2.0,)),
        (200.0, None, (200.0,)),
        (100.0, 900.0, (100.0, 200.0, 250.0)),
        (7.0, 7.0, (7.0,)),
    ],
)
def test_rings_begin_at_the_shortest_way_and_end_at_the_longest(shortest, longest, lengths):
    """Each is twice the one before, but for the last; none is longer than the area is wide."""
    limits = {"shortest": shortest, "longest": longest}
    reach = Reach(Bounds(), ((0.0, 0.0), (200.0, 150.0)), Steps(10.0, 4), **limits)
    assert reach.near_and_far(5.0).lengths == lengths


def test_either_steps_or_points():
    with pytest.raises(ValueError, match="either steps or a list"):
        Reach(BOUNDS, AREA)
    with pytest.raises(ValueError, match="must be > 0 m"):
        Steps(0.0)
    with pytest.raises(ValueError, match="at least 3"):
        Steps(1.0, 2)
