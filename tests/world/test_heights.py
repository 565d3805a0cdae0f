"""Places at several heights: how far each is, what is in the way there, and what the budget allows."""

from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.geo.polygons import Bounds
from dowsax.types import Station, Waypoint
from dowsax.world import ActionSpace, Budget, Fence, FencesByHeight, NearAndFar, PlacesAtHeights
from dowsax.world.heights import candidates_from, way_length

SIDE = 20.0
AREA = ((0.0, 0.0), (SIDE, SIDE))
HEIGHTS = (1.0, 5.0, 9.0)
WALL = np.array([[7.0, 3.0], [8.0, 3.0], [8.0, 17.0], [7.0, 17.0]])
TOWER = np.array([[12.0, 8.0], [15.0, 8.0], [15.0, 12.0], [12.0, 12.0]])
BOUNDS = [Bounds((), (), found, AREA) for found in ((WALL, TOWER), (TOWER,), ())]
"""The wall is 4 m high, the tower 8 m: at 1 m both are in the way, at 5 m the tower, at 9 m nothing."""
FENCES = FencesByHeight.of(HEIGHTS, BOUNDS)
LIMITS = {"speed": 2.0, "reading_time": 3.0}
NEAR_AND_FAR = NearAndFar(Fence.of(BOUNDS[0]), *AREA, lengths=(2.0, 6.0), directions=6, **LIMITS)
SPACE = PlacesAtHeights(NEAR_AND_FAR, FENCES)
PROMISING = jnp.asarray(np.random.default_rng(0).uniform(0.0, SIDE, (16, 2)), jnp.float32)
STARTS = tuple(product(((5.0, 10.0), (18.0, 11.0), (2.0, 2.0)), (0.5, 1.0, 6.0, 9.0)))


@jax.jit
def find(position, altitude, *limits):
    station = Station(position, altitude=altitude)
    return candidates_from(SPACE, station, Budget(*limits), PROMISING)


@eqx.filter_jit
def candidates_of(space, *at):
    return space.candidates(*at)


def found_from(place, altitude, *limits):
    found = find(jnp.asarray(place, jnp.float32), jnp.asarray(altitude, jnp.float32), *limits)
    return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), found)


def bounds_at(altitude):
    return BOUNDS[max(sum(height <= altitude for height in HEIGHTS) - 1, 0)]


@pytest.mark.parametrize(("place", "altitude"), STARTS)
def test_a_way_goes_up_over_what_is_lower_and_down_again(place, altitude):
    """Its length is that of the shortest way at the higher of its heights, by shapely, and the climb."""
    found = found_from(place, altitude)
    assert isinstance(SPACE, ActionSpace)
    assert len(found.way) == SPACE.num_actions == 3 * (2 * 6 + 16 + 1)
    mask = found.mask > 0
    for number in range(SPACE.num_actions):
        there, height = found.places[number], found.altitudes[number]
        way = bounds_at(max(altitude, height)).way_lengths(place, [there])[0] + abs(height - altitude)
        if ((there == 0) | (there == SIDE)).any():
            # What would lie outside the area is masked, at its border.
            continue
        may_be_there = bool(bounds_at(height).allow([there])[0])
        assert mask[number] == (np.isfinite(way) and may_be_there and way > 1e-3), (there, height)
        if mask[number]:
            assert found.way[number] == pytest.approx(way, abs=5e-3)
            assert found.seconds[number] == pytest.approx(way / 2.0 + 3.0, abs=5e-3)


def test_one_may_stay_at_a_place_and_change_the_height():
    found = found_from((5.0, 10.0), 5.0)
    stays = np.all(found.places == (5.0, 10.0), axis=1) & (found.mask > 0)
    assert found.altitudes[stays].tolist() == [1.0, 9.0]
    assert found.way[stays].tolist() == [4.0, 4.0]


@pytest.mark.parametrize("limits", [(5.0, 6.0), (5.0, np.inf, 5.0), (0.0,)])
def test_a_climb_takes_its_share_of_the_budget(limits):
    readings, distance, time = (*limits, *(np.inf,) * (3 - len(limits)))
    whole, left = found_from((2.0, 2.0), 1.0), found_from((2.0, 2.0), 1.0, *limits)
    fits = (whole.way <= distance + 1e-3) & (whole.seconds <= time) & (readings >= 1)
    assert (left.mask == (whole.mask * fits)).all()
    assert (fits & (whole.mask > 0)).any() == (readings >= 1)


def test_legs_are_limited_over_ground_and_home_is_flown_to_at_the_height_of_the_candidate():
    """From behind the wall the way home is longer at 1 m than at 5 m, and so is what the budget must hold."""
    home = jnp.array([5.0, 10.0])
    places = jnp.array([[9.0, 10.0], [9.0, 16.0]])
    limited = NearAndFar(
        Fence.of(BOUNDS[0]), *AREA, lengths=(1.0,), points=places, legs=(0.0, 5.0), home=home
    )
    space = PlacesAtHeights(limited, FENCES)
    assert space.num_actions == 6
    here = jnp.array([9.0, 12.0])

    def allowed(distance):
        found = candidates_of(space, here, Budget(distance=jnp.float32(distance)), jnp.zeros((0, 2)), 5.0)
        return list(
            zip(found.places[found.mask][:, 1].tolist(), found.altitudes[found.mask].tolist(), strict=True)
        )

    assert allowed(jnp.inf) == [(y, height) for height in HEIGHTS for y in (10.0, 16.0)]
    around = BOUNDS[0].way_lengths([5.0, 10.0], [[9.0, 10.0]])[0]
    assert around > 4.0 + 10.0
    # 2 m along the wall and 4 m down, and then around it; or 2 m along, and straight over it.
    assert (10.0, 1.0) not in allowed(2 + 4 + around - 0.1)
    assert (10.0, 1.0) in allowed(2 + 4 + around + 0.1)
    assert (10.0, 5.0) in allowed(2 + 4.0 + 0.1)


def test_at_one_height_candidates_are_those_without_heights():
    """Of a sensor at that height, to the last bit."""
    one = PlacesAtHeights(NEAR_AND_FAR, FencesByHeight.of((1.0,), BOUNDS[:1]))
    for place in ((5.0, 10.0), (18.0, 11.0)):
        at = jnp.asarray(place), Budget(5.0, 30.0, 40.0), PROMISING
        with_height, without = candidates_of(one, *at, 1.0), candidates_of(NEAR_AND_FAR, *at)
        assert (np.asarray(with_height.altitudes) == 1.0).all()
        for name in ("places", "way", "seconds", "mask"):
            np.testing.assert_array_equal(getattr(with_height, name), getattr(without, name))


def test_the_way_to_a_waypoint_is_that_of_its_candidate():
    found = found_from((5.0, 10.0), 6.0)
    station = Station(jnp.array([5.0, 10.0]), altitude=jnp.asarray(6.0))
    length_to = jax.jit(lambda place, height: way_length(SPACE, station, Waypoint(place, height)))
    for number in np.flatnonzero(found.mask)[::7]:
        place, height = (jnp.asarray(part[number], jnp.float32) for part in (found.places, found.altitudes))
        assert float(length_to(place, height)) == pytest.approx(found.way[number], abs=1e-4)


def test_a_height_between_two_has_what_is_in_the_way_at_the_lower():
    """Nothing is known of obstacles in between; below the lowest height is what is there."""
    allow = jax.jit(lambda altitude, place: FENCES.at(altitude).allow(place))
    for altitude in (0.0, 1.0, 4.9, 5.0, 8.0, 30.0):
        for place in ((7.5, 10.0), (13.0, 10.0), (1.0, 1.0)):
            assert bool(allow(altitude, jnp.asarray(place))) == bool(bounds_at(altitude).allow([place])[0])


def test_without_an_altitude_there_is_no_climb():
    with pytest.raises(ValueError, match="Readings at several heights need the altitude of each"):
        candidates_from(SPACE, Station(jnp.zeros(2)), Budget(), PROMISING)
