"""The filter of a mission: its history grows when it is full."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from made_missions import MODEL, hill_site

from dowsax.mission.advisor import Advisor
from dowsax.mission.tracker import INITIAL_CAPACITY, grow


def advisor(**changes):
    return Advisor(hill_site(**changes), "infotaxis", seed=4, model=MODEL)


def test_a_long_mission_gets_more_room():
    """Twice as much when it is full, with what was read before in its place; nothing before that."""
    belief = advisor().belief
    assert grow(belief) is belief
    readings = jnp.arange(INITIAL_CAPACITY, dtype=jnp.float32)
    full = eqx.tree_at(
        lambda at: (at.history.size, at.history.readings),
        belief,
        (jnp.asarray(INITIAL_CAPACITY, jnp.int32), readings),
    )
    longer = grow(full).history
    assert longer.stations.position.shape == (2 * INITIAL_CAPACITY, 2)
    np.testing.assert_array_equal(longer.readings[:INITIAL_CAPACITY], readings)
    assert int(longer.size) == INITIAL_CAPACITY
