"""Where one may go next: inside, on allowed ways, within what is left."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_missions import FENCE, POND, SIDE

from dowsax.geo.polygons import Bounds
from dowsax.mission.reach import NUM_PROMISING, ActionSpace, Steps

BOUNDS = Bounds((FENCE,), (POND,))
AREA = ((0.0, 0.0), (SIDE, SIDE))
coordinate = st.floats(0.0, SIDE)


@given(coordinate, coordinate, st.floats(0.1, 30.0), st.integers(3, 16), st.floats(0.0, 10.0))
def test_candidates_can_be_gone_to(x, y, length, directions, left):
    """Judged by points along the way, an eighth of a metre apart, and by plain comparisons."""
    places = ActionSpace(BOUNDS, AREA, Steps(length, directions)).candidates((x, y), left)
    for place in places:
        distance = math.dist((x, y), place)
        assert distance <= left + 1e-5
        in_pond = 7 < x < 11 and 7 < y < 11
        shares = np.linspace(0, 1, 2 + int(8 * distance))[:, None]
        way = (1 - shares) * np.array([x, y]) + shares * place
        assert ((way >= -1e-6) & (way <= SIDE + 1e-6)).all()
        inside = ((way > 7.002) & (way < 10.998)).all(axis=1)
        assert in_pond or not inside.any()
        assert not ((place > 7.002) & (place < 10.998)).all()


@given(coordinate, coordinate, st.floats(0.5, 30.0), st.integers(3, 16), st.floats(0.0, 10.0))
def test_far_candidates_can_be_gone_to(x, y, length, directions, left):
    """Each is what `filter_allowed` allows, they are no more than announced, and they go somewhere."""
    space = ActionSpace(BOUNDS, AREA, Steps(length, directions))
    promising = np.random.default_rng(0).uniform(0.0, SIDE, (NUM_PROMISING, 2))
    places = space.far_candidates((x, y), left, promising)
    assert len(places) <= max(space.max_far_candidates, directions)
    if len(places) and not space.is_outside((x, y)):
        assert len(space.filter_allowed((x, y), places, left)) == len(places)
        assert np.linalg.norm(places - np.array([[x, y]]), axis=1).min() > 0
    # Far candidates are there wherever near ones are.
    assert bool(len(places)) == bool(len(space.candidates((x, y), left)))


def test_far_candidates_are_near_and_far():
    space = ActionSpace(Bounds(), ((0.0, 0.0), (200.0, 150.0)), Steps(10.0, 8))
    assert space.ring_lengths == [5.0, 10.0, 20.0, 40.0, 80.0]
    places = space.far_candidates((100.0, 75.0), None, [(30.0, 30.0)])
    lengths = np.linalg.norm(places - np.array([[100.0, 75.0]]), axis=1)
    assert {5, 10, 20, 40} <= set(np.round(lengths, 6))
    assert [30.0, 30.0] in places.tolist()
    assert np.linalg.norm(space.far_candidates((100.0, 75.0), 12.0) - [[100.0, 75.0]], axis=1).max() <= 12.001


def test_a_list_of_points_is_all_there_is():
    points = ((1.0, 1.0), (5.0, 5.0))
    space = ActionSpace(Bounds(), AREA, points=points)
    assert space.far_candidates((0.0, 0.0), None, [(3.0, 3.0)]).tolist() == [list(point) for point in points]
    assert space.ring_lengths == []


def test_steps_are_of_one_length_in_even_directions():
    places = ActionSpace(Bounds(), ((-9.0, -9.0), (9.0, 9.0)), Steps(2.0, 8)).candidates((0.0, 0.0))
    assert np.linalg.norm(places, axis=1) == pytest.approx(np.full(8, 2.0))
    angles = np.degrees(np.arctan2(places[:, 1], places[:, 0])) % 360
    assert angles == pytest.approx(np.arange(8) * 45.0, abs=1e-6)
    assert places[2].tolist() == [0.0, 2.0]


def test_shorter_steps_where_whole_ones_do_not_fit():
    places = ActionSpace(Bounds(), ((0.0, 0.0), (3.0, 3.0)), Steps(4.0, 4)).candidates((1.5, 1.5))
    assert np.linalg.norm(places - 1.5, axis=1) == pytest.approx(np.full(4, 1.0))


def test_nothing_where_nothing_is_left():
    assert len(ActionSpace(BOUNDS, AREA, Steps(2.0, 8)).candidates((2.0, 2.0), 0.0)) == 0


def test_either_steps_or_points():
    with pytest.raises(ValueError, match="either steps or a list"):
        ActionSpace(BOUNDS, AREA)
    with pytest.raises(ValueError, match="must be > 0 m"):
        Steps(0.0)
