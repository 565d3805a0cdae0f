"""Walks: unit moves, inside the area, and towards the target when there is one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world.paths import approach, wander

NUM_WALKS = 400
wander_all = jax.jit(jax.vmap(lambda key: wander(key, 60)))
approach_all = jax.jit(jax.vmap(lambda key, target: approach(key, target, 60)))


@pytest.fixture
def keys(key):
    return jax.random.split(key, NUM_WALKS)


@pytest.fixture
def targets(key):
    return jax.random.uniform(key, (NUM_WALKS, 2), minval=5.0, maxval=20.0)


@pytest.fixture(params=["wander", "approach"])
def walks(request, keys, targets):
    return np.asarray(wander_all(keys) if request.param == "wander" else approach_all(keys, targets))


def test_moves_are_unit_moves_inside_the_area(walks):
    """One axis at a time and one metre, less only where the border clips."""
    assert walks.shape == (NUM_WALKS, 60, 2)
    assert ((walks >= 0) & (walks <= 25)).all()
    assert ((walks[:, 0] > 0) & (walks[:, 0] < 5)).all()
    moves = np.abs(np.diff(walks, axis=1))
    assert (moves.min(axis=2) == 0).all()
    at_border = ((walks[:, 1:] == 0) | (walks[:, 1:] == 25)).any(axis=2)
    assert np.allclose(moves.sum(axis=2)[~at_border], 1, atol=1e-5)


def test_wander_keeps_its_direction(keys):
    """Away from the border a move is repeated with probability 0.6 + 0.4/4, within five standard errors."""
    walks = np.asarray(wander_all(keys))
    moves = np.diff(walks, axis=1)
    inner = ((walks > 1.01) & (walks < 23.99)).all(axis=2)[:, 1:-1]
    same = np.isclose(moves[:, 1:], moves[:, :-1], atol=1e-3).all(axis=2)[inner]
    assert abs(same.mean() - 0.7) < 5 * (0.7 * 0.3 / same.size) ** 0.5


def test_most_approaches_arrive(keys, targets):
    walks = np.asarray(approach_all(keys, targets))
    distance = np.abs(walks - np.asarray(targets)[:, None]).max(axis=2).min(axis=1)
    assert (distance <= 0.5).mean() > 0.9


def test_approach_may_start_on_its_target(keys, targets):
    """The offset is exactly zero then, and the move still a unit move."""
    starts = approach_all(keys, targets)[:, 0]
    walks = np.asarray(approach_all(keys, starts))
    assert np.array_equal(walks[:, 0], starts)
    assert np.isfinite(walks).all()
    assert jnp.all(jnp.abs(walks[:, 1] - walks[:, 0]).sum(axis=1) <= 1 + 1e-5)
