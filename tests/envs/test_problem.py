"""Search problems: the end of the history."""

import equinox as eqx
import jax
import numpy as np
import pytest
from walks import BOOTSTRAP, search_for

from dowsax.envs import SCENARIOS, SearchProblem
from dowsax.envs.task import assemble
from dowsax.inference.null_filter import NullFilter
from dowsax.world import benchmark_model


def test_no_reading_is_taken_past_the_last(strolls):
    """Compiled, a belief that has had all its readings stays as it is, and the info says so; else it raises.

    The walks of this folder end with the last reading. The filter without a source does the same.
    """
    search = search_for()
    full = jax.tree.map(lambda leaf: jax.numpy.asarray(leaf[0, -1]), strolls.states)
    place = full.station.position + 1.0
    key = jax.random.key(0)
    after, info = eqx.filter_jit(search.read_at)(key, full, place)
    assert not bool(info.recorded)
    for new, old in zip(*map(jax.tree.leaves, (after.belief, full.belief)), strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=r"room for 18 readings and is full: give .* larger `max_readings`"):
        search.read_at(key, full, place)
    null = NullFilter.build(search.model, search.preset)
    with pytest.raises(ValueError, match="larger `horizon`"):
        null.step(key, full.belief, full.station, full.reading)


def test_an_environment_has_room_for_a_move():
    """A problem of one reading, which has no move to make, is refused by name."""
    problem = SearchProblem(benchmark_model("gas"), BOOTSTRAP, SCENARIOS["id"], max_readings=1)
    with pytest.raises(ValueError, match="`max_readings` must be at least 2"):
        assemble(problem=problem)
