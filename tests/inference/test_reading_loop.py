"""A batch takes the same number of chunks, and every member gets what it would get alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference import reading_loop
from dowsax.inference.reading_loop import batch_max, loop_over_chunks, readings_per_chunk

CHUNK = readings_per_chunk()
STOPS = jnp.array([[0, 1, CHUNK], [CHUNK + 1, 5, 3 * CHUNK]])


def total(stop):
    """The sum of all numbers below `stop`, and the number of chunks."""

    def step(number, carry):
        size = readings_per_chunk()
        at = number * size + jnp.arange(size)
        return carry[0] + jnp.sum(jnp.where(at < stop, at, 0)), carry[1] + 1

    return loop_over_chunks(stop, step, (jnp.zeros((), jnp.int32), jnp.zeros((), jnp.int32)))


@pytest.mark.parametrize("backend", ["cpu", "another"])
def test_members_of_a_batch_get_what_they_get_alone(monkeypatch, backend):
    monkeypatch.setattr(reading_loop.jax, "default_backend", lambda: backend)
    # A function of its own, as what was compiled for one backend is cached.
    sums, _ = jax.jit(jax.vmap(jax.vmap(lambda stop: total(stop))))(STOPS)
    np.testing.assert_array_equal(sums, STOPS * (STOPS - 1) // 2)


def test_a_search_alone_takes_no_chunk_too_many():
    _, taken = jax.jit(total)(jnp.asarray(CHUNK + 1))
    assert taken == 2


def test_the_maximum_is_the_same_for_all():
    assert batch_max(jnp.asarray(3)) == 3
    np.testing.assert_array_equal(jax.vmap(batch_max)(STOPS[0]), jnp.full(3, CHUNK))
    np.testing.assert_array_equal(jax.vmap(jax.vmap(batch_max))(STOPS), jnp.full((2, 3), 3 * CHUNK))
    # A loop whose end differs within a batch would count each member's own chunks.
    _, taken = jax.vmap(jax.vmap(total))(STOPS)
    np.testing.assert_array_equal(taken, jnp.full((2, 3), 3))
