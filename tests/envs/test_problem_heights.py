"""Searches at several heights: a reading is at the height of its waypoint, and a climb is way and time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_heights import HEIGHTS, MODEL

from dowsax.envs import SearchProblem
from dowsax.envs.scenarios import Scenario, from_prior
from dowsax.geo.polygons import Bounds
from dowsax.inference import PRESETS
from dowsax.types import Station, Waypoint
from dowsax.world import Budget, Fence, FencesByHeight, NearAndFar, PlacesAtHeights, WayReadings

START, SPEED, INTERVAL_S, READING_S = (2.0, 2.0), 0.5, 5.0, 3.0
LEGS = (((2.0, 12.0), 6.0, 3), ((8.0, 12.0), 1.0, 2), ((8.0, 12.0), 11.0, 0))
"""Ten metres and up, six metres and down, up alone: with the number of readings on the way, each 2.5 m."""


def problem(*, reads_on_way):
    near = NearAndFar(
        Fence.of(Bounds()), (0.0, 0.0), (20.0, 20.0), (2.0,), speed=SPEED, reading_time=READING_S
    )
    more = {"way_readings": WayReadings(INTERVAL_S, SPEED), "max_on_way": 10} if reads_on_way else {}
    return SearchProblem(
        MODEL,
        PRESETS["plain"].with_particles(64),
        Scenario(from_prior),
        PlacesAtHeights(near, FencesByHeight.of(HEIGHTS, [Bounds()] * 3)),
        max_readings=6,
        start=lambda key: Station(
            jnp.array(START), altitude=jnp.asarray(1.0), time=jnp.asarray(0.0), dwell=jnp.asarray(1.0)
        ),
        budget=Budget(distance=100.0),
        **more,
    )


@pytest.mark.parametrize("reads_on_way", [False, True])
def test_a_climb_is_way_and_time_and_readings_on_the_way_are_at_the_higher_height(reads_on_way, key):
    search = problem(reads_on_way=reads_on_way)
    read = jax.jit(lambda *at: search.read_at(*at)[0])
    state = search.reset(key)[0]
    place, height, way, size = START, 1.0, 0.0, 1
    for number, (there, level, on_way) in enumerate(LEGS):
        target = Waypoint(jnp.asarray(there), jnp.asarray(level))
        state = read(jax.random.fold_in(key, number), state, target)
        way += np.hypot(*np.subtract(there, place)) + abs(level - height)
        stations = state.belief.history.stations
        on_way = on_way if reads_on_way else 0
        taken = np.asarray(stations.altitude)[size : size + on_way + 1]
        assert taken.tolist() == [max(height, level)] * on_way + [level]
        place, height, size = there, level, size + on_way + 1
        assert int(state.belief.history.size) == size
        assert float(state.path_length) == pytest.approx(way, abs=1e-4)
        # The reading at the start takes its time as well.
        assert float(state.elapsed) == pytest.approx(way / SPEED + (number + 2) * READING_S, abs=1e-4)
        assert float(state.station.time) == pytest.approx(float(state.elapsed), abs=1e-4)
    left = search.budget_left(state)
    assert float(left.distance) == pytest.approx(100.0 - way, abs=1e-4)


def test_candidates_are_at_every_height(key):
    search = problem(reads_on_way=False)
    state = search.reset(key)[0]
    found = search.candidates(state)
    assert set(np.asarray(found.altitudes)[np.asarray(found.mask)].tolist()) == set(HEIGHTS)
    after, _ = search.step(key, state, jnp.argmax(jnp.where(found.mask, found.altitudes, -1.0)))
    assert float(after.station.altitude) == HEIGHTS[-1]
