"""Moves and the border."""

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world import FOUR_MOVES, Motion


def test_moves_are_a_metre_in_the_four_directions():
    position = jnp.array([10.0, 7.5])
    expected = [(11, 7.5), (9, 7.5), (10, 8.5), (10, 6.5)]
    np.testing.assert_allclose(FOUR_MOVES.reach(position), expected)
    assert FOUR_MOVES.num_actions == 4
    assert FOUR_MOVES.free(position).all()
    for action, there in enumerate(expected):
        np.testing.assert_allclose(FOUR_MOVES(position, jnp.asarray(action)), there)


@pytest.mark.parametrize(
    ("position", "free"),
    [
        ((0.0, 12.0), (True, False, True, True)),
        ((0.4, 24.9), (True, False, False, True)),
        ((25.0, 25.0), (False, True, False, True)),
        ((1.0, 24.0), (True, True, True, True)),
    ],
)
def test_a_move_is_free_when_it_fits_as_a_whole(position, free):
    reached = FOUR_MOVES.reach(jnp.array(position))
    assert (reached >= 0).all()
    assert (reached <= 25).all()
    assert tuple(FOUR_MOVES.free(jnp.array(position)).tolist()) == free


def test_a_move_cut_short_ends_at_the_border():
    np.testing.assert_allclose(FOUR_MOVES.reach(jnp.array([0.25, 24.5]))[1:3], [(0.0, 24.5), (0.25, 25.0)])


def test_rounding_does_not_block_a_move():
    """24.000001 + 1 is over the border by rounding alone."""
    assert FOUR_MOVES.free(jnp.array([24.000002, 12.0]))[0]


def test_moves_and_area_of_ones_own():
    king = Motion(moves=((2.0, 2.0), (-2.0, 0.0)), low=(-5.0, 0.0), high=(5.0, 3.0))
    np.testing.assert_allclose(king.reach(jnp.array([-4.0, 2.0])), [(-2.0, 3.0), (-5.0, 2.0)])
    assert king.free(jnp.array([-4.0, 2.0])).tolist() == [False, False]
    assert king.num_actions == 2
