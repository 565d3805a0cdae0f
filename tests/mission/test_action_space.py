"""Where one may go next: inside, on allowed ways, within what is left."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_missions import FENCE, POND, SIDE

from dowsax.geo.polygons import Bounds
from dowsax.mission.action_space import ActionSpace, Steps

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
