"""Where one may go next: inside, on allowed ways, within what is left of the budget."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowsax.geo.polygons import Bounds
from dowsax.types import OpenPath
from dowsax.world import (
    ActionSpace,
    Budget,
    Candidates,
    Fence,
    FencedMoves,
    Motion,
    NearAndFar,
    OpenPaths,
    ring_lengths,
)

SIDE = 20.0
AREA = ((0.0, 0.0), (SIDE, SIDE))
POND = np.array([[7.0, 7.0], [11.0, 7.0], [11.0, 11.0], [7.0, 11.0]])
BOUNDS = Bounds((), (POND,))
FENCE = Fence.of(BOUNDS)
PLACES = jnp.asarray(np.random.default_rng(0).uniform(0.0, SIDE, (16, 2)), jnp.float32)
SPACE = NearAndFar(FENCE, *AREA, lengths=(0.5, 1.0, 2.0, 4.0, 8.0), speed=2.0, reading_time=3.0)
MOVES = tuple((3.0 * math.cos(angle), 3.0 * math.sin(angle)) for angle in np.arange(6) * math.pi / 3)
STEPS = FencedMoves(FENCE, Motion(MOVES, *AREA))
find = jax.jit(lambda *at: SPACE.candidates(at[0], Budget(*at[1:]), PLACES))
step = jax.jit(lambda *at: STEPS.candidates(at[0], Budget(*at[1:])))


@eqx.filter_jit
def candidates_of(space, *at):
    return space.candidates(*at)


@eqx.filter_jit
def shares_of(budget, candidates):
    return budget.shares(candidates)


coordinate = st.floats(0.0, SIDE, width=32)


@given(coordinate, coordinate, st.floats(0.0, 30.0, width=32), st.floats(0.0, 30.0, width=32))
def test_candidates_can_be_gone_to(x, y, distance, time):
    """By the shortest way around the pond in double precision, and by plain comparisons."""
    for program, speed, reading in ((find, 2.0, 3.0), (step, 1.0, 0.0)):
        found = jax.tree.map(np.asarray, program(jnp.array([x, y]), 5.0, distance, time))
        places, ways = found.places[found.mask], found.way[found.mask]
        np.testing.assert_allclose(ways, BOUNDS.way_lengths([x, y], places), atol=5e-3)
        assert ((ways > 0) & (ways <= distance + 2e-3) & (ways / speed + reading <= time + 1e-4)).all()
        assert ((places >= 0) & (places <= SIDE)).all()


def test_a_place_behind_the_pond_costs_the_way_around_it():
    """From its west to its east side: 1 m to a corner, 4 m along it, and 1 m more, at 45 degrees."""
    space = NearAndFar(FENCE, *AREA, lengths=(6.0,), directions=4, num_promising=0)
    found = candidates_of(space, jnp.array([6.0, 8.0]), Budget(), jnp.zeros((0, 2)))
    assert bool(found.mask[0])
    assert float(found.way[0]) == pytest.approx(4 + 2 * 2**0.5, abs=5e-3)
    np.testing.assert_allclose(found.way[1:], 6.0, rtol=1e-6)


def test_moves_are_straight_and_stop_at_the_pond():
    moves = FencedMoves(FENCE, Motion(((6.0, 0.0), (0.0, 6.0)), *AREA))
    found = candidates_of(moves, jnp.array([6.0, 8.0]), Budget())
    assert found.mask.tolist() == [False, True]


@pytest.mark.parametrize("name", ["distance", "time"])
def test_the_way_home_goes_around_the_pond(name):
    """From behind it: 4 + 2 √2 m home, after 6 m."""
    home = jnp.array([6.0, 8.0])
    space = NearAndFar(FENCE, *AREA, lengths=(6.0,), directions=4, speed=2.0, reading_time=3.0, home=home)
    find = jax.jit(lambda at, budget: space.candidates(at, budget, jnp.zeros((0, 2))).mask[2])
    length = 6.0 + 4 + 2 * 2**0.5
    enough = {"distance": length, "time": length / 2 + 3.0}[name]
    for share, fits in ((0.99, False), (1.01, True)):
        assert bool(find(jnp.array([18.0, 8.0]), Budget(**{name: jnp.float32(share * enough)}))) == fits


def test_no_candidate_without_readings():
    assert not find(jnp.array([2.0, 2.0]), 0.0, 99.0, 99.0).mask.any()
    assert find(jnp.array([2.0, 2.0]), 1.0, 99.0, 99.0).mask.any()


def test_candidates_are_near_and_far_and_where_the_belief_says():
    found = find(jnp.array([3.0, 3.0]), 9.0, jnp.inf, jnp.inf)
    lengths = set(np.round(np.asarray(found.way[:40]), 3).tolist())
    assert lengths >= {0.5, 1.0, 2.0}
    np.testing.assert_allclose(found.places[-16:], PLACES)
    assert SPACE.num_actions == 5 * 8 + 16 == len(found.way)
    assert ring_lengths(2.5, 125.0) == (2.5, 5.0, 10.0, 20.0, 40.0, 80.0)
    assert ring_lengths(5.0, 1.0) == (5.0,)


def test_a_list_of_points_is_all_there_is():
    points = jnp.array([[1.0, 1.0], [5.0, 5.0], [8.0, 8.0]])
    space = NearAndFar(FENCE, *AREA, lengths=(1.0,), points=points)
    found = candidates_of(space, jnp.array([1.0, 1.0]), Budget(), PLACES)
    np.testing.assert_array_equal(found.places, points)
    # It is there already, and the last is in the pond.
    assert found.mask.tolist() == [False, True, False]


HOME = np.array([2.0, 12.0])
"""The pond hides what lies to the south-east of it."""
LIMITS = {"legs": (1.5, 4.0), "home": jnp.asarray(HOME, jnp.float32), "speed": 2.0, "reading_time": 3.0}
LIMITED = (
    NearAndFar(FENCE, *AREA, lengths=(0.5, 1.5, 3.0, 4.0, 8.0), **LIMITS),
    FencedMoves(FENCE, Motion(MOVES, *AREA), **LIMITS),
)
limited = [
    jax.jit(lambda *at, space=space: space.candidates(at[0], Budget(*at[1:]), PLACES)) for space in LIMITED
]


@given(coordinate, coordinate, st.floats(0.0, 40.0, width=32), st.floats(0.0, 30.0, width=32))
def test_legs_and_the_way_home_are_kept(x, y, distance, time):
    """Ways of 1.5 to 4 m, and from each place the way home is within the budget."""
    for program in limited:
        found = jax.tree.map(np.asarray, program(jnp.array([x, y]), 5.0, distance, time))
        places = found.places[found.mask].astype(np.float64)
        ways, back = BOUNDS.way_lengths([x, y], places), BOUNDS.way_lengths(HOME, places)
        assert ((ways >= 1.5 - 5e-3) & (ways <= 4.0 + 5e-3) & (ways + back <= distance + 1e-2)).all()
        assert ((ways + back) / 2.0 + 3.0 <= time + 1e-2).all()


def test_places_of_the_belief_are_moved_to_the_legs():
    """One that is 10 m off to 4 m, one that is 1 m off to 1.5 m, one between the two not at all."""
    there = np.float32([[1.0, 1.0], [11.0, 1.0], [1.0, 2.0], [1.0, 4.0]])
    found = candidates_of(
        LIMITED[0], there[0], Budget(), np.concatenate([there, np.tile(there[-1:], (12, 1))])
    )
    np.testing.assert_allclose(found.places[-15:-12], [[5.0, 1.0], [1.0, 2.5], [1.0, 4.0]], atol=1e-5)
    assert found.mask[-15:-12].all()
    assert not found.mask[-16]


def test_steps_are_shortened_where_whole_ones_do_not_fit():
    """In a box of 3 m, from its middle: steps of 4 m are quartered."""
    moves = ((4.0, 0.0), (-4.0, 0.0), (0.0, 4.0), (0.0, -4.0))
    space = FencedMoves(Fence.of(Bounds()), Motion(moves, (0.0, 0.0), (3.0, 3.0)))
    found = candidates_of(space, jnp.array([1.5, 1.5]), Budget())
    np.testing.assert_allclose(found.way, 1.0)
    assert found.mask.all()


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (Budget(100.0, 2000.0), (0.01 + 10 / 2000, 0.01 + 40 / 2000)),
        (Budget(50.0, 2000.0, 100.0), (0.02 + 12 / 100, 0.02 + 42 / 100)),
        (Budget(100.0), (0.01 + 0.0025, 0.01 + 0.01)),
        (Budget(distance=100.0), (0.1 + 0.1, 0.1 + 0.4)),
        (Budget(), (0.25 + 0.25, 0.25 + 1.0)),
    ],
)
def test_costs_are_shares_of_what_is_left(budget, expected):
    """Of the readings, and of the way or the time, whichever is scarcer."""
    way = jnp.array([10.0, 40.0])
    candidates = Candidates(jnp.zeros((2, 2)), way, way + 2.0, jnp.ones(2, bool))
    np.testing.assert_allclose(shares_of(budget, candidates), expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [
        (Budget(), True),
        (Budget(readings=1.0, distance=0.0, time=10.0), True),
        (Budget(readings=0.0), False),
        (Budget(time=9.9), False),
    ],
)
def test_paths_cost_a_reading_and_no_way(budget, allowed):
    """All paths may be read as long as there is a reading and its time left, wherever one is."""
    ends = jnp.array([[[0.0, 0.0], [6.0, 8.0]], [[5.0, 5.0], [5.0, 9.0]]])
    paths = OpenPath(ends[:, 0], ends[:, 1], jnp.array([1.0, 2.0]))
    space = OpenPaths((0.0, 0.0), (10.0, 10.0), paths, 10.0)
    assert isinstance(space, ActionSpace)
    found = candidates_of(space, jnp.array([100.0, 100.0]), budget, jnp.zeros((16, 2)))
    assert found.mask.tolist() == [allowed] * 2
    np.testing.assert_array_equal(found.places, [[3.0, 4.0], [5.0, 7.0]])
    np.testing.assert_array_equal(found.way, 0.0)
    np.testing.assert_array_equal(found.seconds, 10.0)
    shares = np.asarray(shares_of(budget, found))
    assert np.isfinite(shares).all()
    assert shares[0] == shares[1] > 0
    np.testing.assert_array_equal(found.target(jnp.array(1)).end, [5.0, 9.0])
