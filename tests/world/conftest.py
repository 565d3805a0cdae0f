"""Draws from a prior, with one compilation a prior for all tests of the world."""

import functools

import jax
import pytest

NUM_DRAWS = 20_000


@functools.cache
def _sampler(prior):
    return jax.jit(lambda key: jax.vmap(prior.sample)(jax.random.split(key, NUM_DRAWS)))


@pytest.fixture(scope="session")
def draw():
    """`draw(prior, key, number)`: the first of 20,000 draws."""
    return lambda prior, key, number=NUM_DRAWS: _sampler(prior)(key)[:number]
