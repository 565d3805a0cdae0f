"""A history that is full: a reading is refused, not written over another, and there can be more room."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conjugate import MODEL

from dowsax.inference import FilterConfig, build, with_horizon
from dowsax.types import Station
from dowsax.world import Jump

HORIZON = 4
POSITIONS = jnp.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 2.0], [0.0, 1.0], [2.0, 1.0], [1.0, -1.0], [0.3, 0.2]])
READINGS = jnp.array([1.2, 0.3, -2.1, 0.4, 2.5, 2.0, 9.0])


@pytest.fixture(scope="module", params=[None, Jump(0.1)], ids=["stays", "jumps"])
def filter_(request):
    return build(MODEL, FilterConfig(num_particles=64, horizon=HORIZON), transition=request.param)


@pytest.fixture(scope="module")
def step(filter_):
    """The filter's step for the reading of a number, compiled."""
    compiled = jax.jit(filter_.step)
    return lambda key, belief, at: compiled(
        jax.random.fold_in(key, at), belief, Station(POSITIONS[at]), READINGS[at]
    )


def assert_same(belief, other):
    for ours, theirs in zip(jax.tree.leaves(belief), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


@pytest.mark.slow_after(1)
def test_a_full_history_takes_no_reading(filter_, step, key):
    """Within a compiled program the belief stays as it was, and the info says so, reading after reading.

    Where it can be seen, outside of one, it is an error.
    """
    belief = filter_.init(key)
    for at in range(HORIZON):
        belief, info = step(key, belief, at)
        assert bool(info.recorded)
    after = belief
    for at in range(HORIZON, len(READINGS)):
        after, info = step(key, after, at)
        assert not bool(info.recorded)
        assert abs(float(info.log_evidence)) < 1e-5
    assert_same(after, belief)
    assert int(after.history.size) == HORIZON
    with pytest.raises(ValueError, match=r"room for 4 readings.*with_horizon"):
        filter_.step(key, belief, Station(POSITIONS[0]), READINGS[0])


@pytest.mark.slow_after(1)
def test_more_room_changes_nothing_else(filter_, step, key):
    """A belief that is given more room goes on as one that had it from the start."""
    roomy, tight = with_horizon(filter_.init(key), 7), filter_.init(key)
    for at in range(7):
        if at == HORIZON:
            tight = with_horizon(tight, 7)
        roomy, _ = step(key, roomy, at)
        tight, info = step(key, tight, at)
        assert bool(info.recorded)
    assert_same(tight, roomy)
    with pytest.raises(ValueError, match="at least"):
        with_horizon(roomy, 6)
