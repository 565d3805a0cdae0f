"""A batch takes its turns together, and every member gets what it would get alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference import turns
from dowsax.inference.turns import READINGS_A_TURN, largest, over_readings

STOPS = jnp.array([[0, 1, READINGS_A_TURN], [READINGS_A_TURN + 1, 5, 3 * READINGS_A_TURN]])


def total(stop):
    """The sum of all numbers below `stop`, and the turns it took."""

    def turn(number, carry):
        at = number * READINGS_A_TURN + jnp.arange(READINGS_A_TURN)
        return carry[0] + jnp.sum(jnp.where(at < stop, at, 0)), carry[1] + 1

    return over_readings(stop, turn, (jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)))


@pytest.mark.parametrize("backend", ["cpu", "another"])
def test_members_of_a_batch_get_what_they_get_alone(monkeypatch, backend):
    monkeypatch.setattr(turns.jax, "default_backend", lambda: backend)
    # A function of its own, as what was compiled for one backend is kept.
    sums, _ = jax.jit(jax.vmap(jax.vmap(lambda stop: total(stop))))(STOPS)
    np.testing.assert_array_equal(sums, STOPS * (STOPS - 1) // 2)


def test_a_search_alone_takes_no_turn_too_many():
    _, taken = jax.jit(total)(jnp.asarray(READINGS_A_TURN + 1))
    assert taken == 2


def test_the_largest_of_all_is_the_same_for_all():
    assert largest(jnp.asarray(3)) == 3
    np.testing.assert_array_equal(jax.vmap(largest)(STOPS[0]), jnp.full(3, READINGS_A_TURN))
    np.testing.assert_array_equal(jax.vmap(jax.vmap(largest))(STOPS), jnp.full((2, 3), 3 * READINGS_A_TURN))
    # A loop whose end differs within a batch would count each member's own turns.
    _, taken = jax.vmap(jax.vmap(total))(STOPS)
    np.testing.assert_array_equal(taken, jnp.full((2, 3), 3))
