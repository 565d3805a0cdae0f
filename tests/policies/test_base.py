"""The choice among actions: ties are broken evenly, and nonsense is never preferred."""

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.policies import choose_best

NUM_KEYS = 4000
CHOOSE = jax.jit(jax.vmap(choose_best, in_axes=(0, None, None)))
ALL = jnp.ones(4, bool)


def shares(key, scores, free=ALL):
    """How often each action was chosen."""
    chosen = CHOOSE(jax.random.split(key, NUM_KEYS), jnp.array(scores), free)
    return np.bincount(np.asarray(chosen), minlength=4) / NUM_KEYS


def assert_even(found, actions):
    """Each of the actions equally often, within five standard errors, and nothing else."""
    expected = np.zeros(4)
    expected[list(actions)] = 1 / len(actions)
    error = 5 * np.sqrt(expected * (1 - expected) / NUM_KEYS)
    assert (np.abs(found - expected) <= error).all()


def test_the_greatest_is_chosen(key):
    assert_even(shares(key, [0.0, 3.0, 2.0, 1.0]), [1])


def test_ties_are_broken_evenly(key):
    assert_even(shares(key, [1.0, 1.0, 0.0, 1.0]), [0, 1, 3])


def test_what_is_not_a_number_is_never_chosen(key):
    assert_even(shares(key, [jnp.nan, -5.0, jnp.nan, -5.0]), [1, 3])


def test_a_move_cut_short_is_never_chosen_over_a_real_one(key):
    free = jnp.array([False, True, False, True])
    assert_even(shares(key, [9.0, 1.0, 9.0, 1.0], free), [1, 3])
    assert_even(shares(key, [9.0, -jnp.inf, 9.0, jnp.nan], free), [1, 3])


def test_where_all_are_cut_short_the_greatest_is_chosen(key):
    assert_even(shares(key, [0.0, 1.0, 1.0, 0.0], ~ALL), [1, 2])


def test_where_no_score_is_finite_all_are_chosen(key):
    assert_even(shares(key, [jnp.nan, -jnp.inf, jnp.nan, -jnp.inf]), [0, 1, 2, 3])
