"""A sensor that reads while it moves: its readings are in the belief, and none of the budget's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_missions import FENCE, MODEL, SIDE

from dowsax.envs import SearchProblem
from dowsax.envs.scenarios import Scenario, from_prior
from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS
from dowsax.types import Station
from dowsax.world import Budget, Fence, NearAndFar, WayReadings

START = (2.0, 2.0)
PLACES = ((2.0, 12.0), (8.0, 12.0), (8.5, 12.0))
"""10 m, 6 m and half a metre apart: with a reading each 2.5 m three, two and none are on the way."""


def problem(max_on_way=20):
    return SearchProblem(
        MODEL,
        PRESETS["plain"].with_particles(64),
        Scenario(from_prior),
        NearAndFar(Fence.of(Bounds((FENCE,))), (0.0, 0.0), (SIDE, SIDE), (2.0,), speed=0.5, reading_time=3.0),
        max_readings=6,
        start=lambda key: Station(jnp.array(START)),
        budget=Budget(distance=30.0, time=100.0),
        way_readings=WayReadings(5.0, 0.5),
        max_on_way=max_on_way,
    )


def walk(search, key):
    """The state after the reading at the start, and after each of the places."""
    read = jax.jit(lambda *at: search.read_at(*at)[0])
    state = search.reset(key)[0]
    states = [state]
    for number, place in enumerate(PLACES):
        states.append(read(jax.random.fold_in(key, number), states[-1], jnp.array(place)))
    return states


def test_readings_on_the_way_are_assimilated_and_cost_time_alone(key):
    """Each particle has the likelihood of all readings of the history, added up with the model itself."""
    search = problem()
    states = walk(search, key)
    assert [int(state.num_on_way) for state in states] == [0, 3, 5, 5]
    last = states[-1]
    history = last.belief.history
    size = int(history.size)
    assert size == 4 + 5
    on_way = [(2.0, 4.5), (2.0, 7.0), (2.0, 9.5), PLACES[0], (4.5, 12.0), (7.0, 12.0), *PLACES[1:]]
    np.testing.assert_allclose(history.stations.position[:size], [START, *on_way], atol=1e-4)
    left = search.budget_left(last)
    assert float(left.readings) == 6 - 4
    assert float(left.distance) == pytest.approx(30.0 - 16.5, abs=1e-3)
    assert float(left.time) == pytest.approx(100.0 - 16.5 / 0.5 - 4 * 3.0, abs=1e-3)

    def likelihood(theta):
        stations = jax.tree.map(lambda leaf: leaf[:size], history.stations)
        return jnp.sum(jax.vmap(MODEL.log_likelihood, (None, 0, 0))(theta, stations, history.readings[:size]))

    np.testing.assert_allclose(
        last.belief.log_likelihoods, jax.vmap(likelihood)(last.belief.particles), rtol=1e-4, atol=1e-3
    )


def test_no_reading_is_written_over_another(key):
    """With room for four, the fifth on the way is not taken; those at places are all there, in order."""
    search = problem(max_on_way=4)
    states = walk(search, key)
    assert [int(state.num_on_way) for state in states] == [0, 3, 4, 4]
    first, last = states[1].belief.history, states[-1].belief.history
    assert last.readings.shape == (search.horizon,) == (10,)
    assert int(last.size) == 4 + 4
    np.testing.assert_array_equal(last.readings[:5], first.readings[:5])
    np.testing.assert_allclose(last.stations.position[6:8], PLACES[1:], atol=1e-4)
