"""The symmetries of the square: a group, and one frame for every offset."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.policies.symmetry import Symmetry, action_permutations, symmetry_for
from dowsax.world import FOUR_MOVES, Motion

OFFSETS = np.array(
    [(a, b) for a in (-3.0, -2.0, 2.0, 3.0) for b in (-3.0, -2.0, 2.0, 3.0) if abs(a) != abs(b)]
)
EIGHT = Motion(moves=(*FOUR_MOVES.moves, (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)))
ALL = [
    Symmetry(jnp.array(signs), jnp.asarray(swapped))
    for swapped in (False, True)
    for signs in ([1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0])
]


def test_every_offset_ends_in_the_same_eighth():
    symmetry = jax.vmap(symmetry_for)(jnp.array(OFFSETS, jnp.float32))
    observation = np.asarray(jax.vmap(Symmetry.apply)(symmetry, jnp.array(OFFSETS, jnp.float32)))
    np.testing.assert_array_equal(observation, np.sort(np.abs(OFFSETS), axis=1)[:, ::-1])
    assert sorted(set(np.asarray(jax.vmap(lambda symmetry: symmetry.number)(symmetry)))) == list(range(8))


@pytest.mark.parametrize("offset", [(0.0, 0.0), (2.0, 2.0), (-2.0, 2.0), (0.0, -1.0), (jnp.nan, 1.0)])
def test_every_tie_has_a_frame(offset):
    symmetry = symmetry_for(jnp.array(offset, jnp.float32))
    assert (jnp.abs(symmetry.signs) == 1).all()
    assert 0 <= int(symmetry.number) < 8


@pytest.mark.parametrize("number", range(8))
def test_out_of_is_the_inverse_and_lengths_stay(number, key):
    symmetry, vectors = ALL[number], jax.random.normal(key, (5, 2))
    assert int(symmetry.number) == number
    np.testing.assert_array_equal(symmetry.undo(symmetry.apply(vectors)), vectors)
    np.testing.assert_array_equal(symmetry.apply(symmetry.undo(vectors)), vectors)
    np.testing.assert_array_equal(jnp.sort(jnp.abs(symmetry.apply(vectors))), jnp.sort(jnp.abs(vectors)))


@pytest.mark.parametrize("motion", [FOUR_MOVES, EIGHT], ids=["four", "eight"])
@pytest.mark.parametrize("number", range(8))
def test_actions_are_called_by_where_they_lead(number, motion):
    """The permuted number of an action is that of the image of its move."""
    moves = jnp.array(motion.moves)
    order = action_permutations(motion)[number]
    assert sorted(order) == list(range(motion.num_actions))
    np.testing.assert_array_equal(moves[order], ALL[number].apply(moves))


@pytest.mark.parametrize(
    "moves", [((1.0, 0.0), (-1.0, 0.0)), ((1.0, 0.0), (-1.0, 0.0), (0.0, 2.0), (0.0, -2.0))]
)
def test_lopsided_moves_are_refused(moves):
    with pytest.raises(ValueError, match="symmetries of a square") as caught:
        action_permutations(Motion(moves=moves))
    assert "\n" not in str(caught.value)
