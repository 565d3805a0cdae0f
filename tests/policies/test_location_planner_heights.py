"""The height that the planner of sites chooses, against the exact gain of a reading at each height."""

from functools import cache
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief

from dowsax.geo.polygons import Bounds
from dowsax.policies.inner_planner import with_planned
from dowsax.policies.location_planner import LocationPlanner, _second_candidates
from dowsax.policies.planned import planned_readings
from dowsax.site import build_model, parse_site
from dowsax.types import Station, Waypoint
from dowsax.world import Budget, Candidates, Fence, FencesByHeight, NearAndFar, PlacesAtHeights

SITE = """
area = {{low = [0, 0], high = [100, 60]}}
field = {{kind = "gas-plume", unit = "ppm", gas = "methane"}}
background = {{mode = "known", value = 2.0}}
noise = {{floor = 0.05, ratio = 0.1}}
wind = {{mode = "constant", speed = 3.0, from = 270.0}}
[prior]
q = 2.0
height = {release}
stability = 3.0
lateral = 1.0
vertical = 1.0
meander = 0.3
turn = 0.0
speed = 1.0
"""
HEIGHTS = (1.0, 4.0, 8.0, 14.0)
PLACES = jnp.array([[35.0, 20.0], [35.0, 40.0], [60.0, 30.0], [60.0, 12.0], [90.0, 30.0], [90.0, 45.0]])
READING_TIME_S = 1e5
"""So long that any way costs next to nothing."""
CLEAR = 1.15
"""By how much the best height must gain more than the next one to be the right answer."""


@cache
def model_of(release):
    return build_model(parse_site(SITE.format(release=release)))


@cache
def belief_of(release):
    """Sources anywhere in the western half, all else known."""
    thetas = jax.jit(jax.vmap(model_of(release).prior.sample))(jax.random.split(jax.random.key(3), 256))
    places = np.random.default_rng(5).uniform((0.0, 5.0), (30.0, 55.0), (256, 2))
    return as_belief(thetas.at[:, :2].set(jnp.asarray(places, jnp.float32)))


def exact_gain(release, place, height):
    r"""$H(z) - H(z \mid \Theta)$ [nats], by the sum over a grid of readings: what tells the location."""
    model, belief = model_of(release), belief_of(release)
    station = Station(jnp.asarray(place), altitude=jnp.asarray(height, jnp.float32))
    mean = np.asarray(_intensities(model, belief.particles, station))
    # Denser where the readings are: the noise grows with the reading.
    grid = np.concatenate([np.linspace(1.0, 3.0, 2001), np.geomspace(3.0, 4 * mean.max() + 6.0, 6001)[1:]])
    log_prob = _log_probs(model, belief.particles, station, jnp.asarray(grid, jnp.float32))
    density = np.exp(np.asarray(log_prob, np.float64))
    mixed = density.mean(axis=1)
    each = np.where(density > 0, density * np.log(np.maximum(density, 1e-300)), 0.0).mean(axis=1)
    return np.trapezoid(each - mixed * np.log(np.maximum(mixed, 1e-300)), grid)


@eqx.filter_jit
def _intensities(model, thetas, station):
    return jax.vmap(model.intensity, in_axes=(0, None))(thetas, station)


@eqx.filter_jit
def _log_probs(model, thetas, station, readings):
    each = jax.vmap(model.log_likelihood, in_axes=(0, None, None))
    return jax.vmap(each, in_axes=(None, None, 0))(thetas, station, readings)


def actions_at(places, reading_time=READING_TIME_S):
    fence = Fence.of(Bounds())
    near = NearAndFar(
        fence, (0.0, 0.0), (100.0, 60.0), lengths=(1.0,), points=places, reading_time=reading_time
    )
    return PlacesAtHeights(near, FencesByHeight.of(HEIGHTS, [Bounds()] * len(HEIGHTS)))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("release", [1.0, 8.0])
def test_the_height_is_the_one_that_tells_most(release):
    """Where one height is clearly better than the others. For a release at 8 m that is seldom the lowest."""
    planner = LocationPlanner(model_of(release), 0.5, num_readings=64)
    station = Station(jnp.array([50.0, 5.0]), altitude=jnp.asarray(1.0))
    chosen, right, choose = [], [], eqx.filter_jit(planner.choose)
    for place in PLACES:
        found = actions_at(place[None]).candidates(
            station.position, Budget(time=1e6), jnp.zeros((0, 2)), station.altitude
        )
        number, _ = choose(jax.random.key(1), belief_of(release), station, found, Budget(time=1e6))
        gains = [exact_gain(release, place, height) for height in HEIGHTS]
        best, second = np.sort(gains)[::-1][:2]
        if best > CLEAR * second:
            chosen.append(float(found.altitudes[number]))
            right.append(HEIGHTS[int(np.argmax(gains))])
    assert len(right) >= 3
    assert chosen == right
    assert (min(right) > HEIGHTS[0]) == (release > 4.0)


def test_a_climb_that_costs_more_than_it_tells_is_not_made():
    """With little time left for ways the same reading is taken lower down."""
    planner = LocationPlanner(model_of(8.0), 0.5)
    station = Station(jnp.array([60.0, 30.0]), altitude=jnp.asarray(1.0))
    heights = []
    for reading_time in (READING_TIME_S, 0.0):
        actions, budget = actions_at(PLACES[2:3], reading_time), Budget(time=1e6)
        start = jnp.array([59.0, 30.0])
        found = actions.candidates(start, budget, jnp.zeros((0, 2)), 1.0)
        number, _ = eqx.filter_jit(planner.choose)(jax.random.key(1), belief_of(8.0), station, found, budget)
        heights.append(float(found.altitudes[number]))
    assert heights[1] < heights[0]


def test_what_another_reads_at_a_height_is_worth_less_a_second_time():
    """The reading of another at 8 m takes from the gain there; one at 14 m, above the plume, hardly does."""
    planner = LocationPlanner(model_of(8.0), 0.5, num_readings=64)
    station = Station(jnp.array([59.0, 30.0]), altitude=jnp.asarray(8.0))
    place = PLACES[2]
    way = Waypoint(place[None, None], jnp.full((1, 1), 8.0))

    def gain(heights):
        places = [tuple(place.tolist())] * len(heights)
        knowing = with_planned(planner, planned_readings(places, 1, heights))
        keys = jax.random.split(jax.random.key(0), 8)
        gains = _gains(knowing, keys, belief_of(8.0), station, way)
        return float(gains.mean())

    alone, after_low, after_high = gain(()), gain((8.0,)), gain((60.0,))
    assert after_low < 0.8 * alone
    assert after_high == pytest.approx(alone, rel=0.1)


@eqx.filter_jit
def _gains(planner, keys, belief, station, way):
    each = jax.vmap(planner.expected_gains, in_axes=(0, None, None, None, None))
    return each(keys, belief, station, way, jnp.ones(1, bool))


def test_two_readings_ahead_may_be_at_two_heights():
    """Candidates at other heights are paired; each pair has its climb within the budget."""
    actions = actions_at(PLACES[:2], 1.0)
    planner = LocationPlanner(model_of(8.0), 0.5, second_ways=actions)
    station = Station(jnp.array([59.0, 30.0]), altitude=jnp.asarray(8.0))
    budget = Budget(distance=100.0)
    found: Candidates = actions.candidates(station.position, budget, jnp.zeros((0, 2)), 8.0)
    number, gain = eqx.filter_jit(planner.choose)(jax.random.key(0), belief_of(8.0), station, found, budget)
    assert bool(found.mask[number])
    assert float(gain) > 0
    best = jnp.arange(8)
    pairs = _second_candidates(actions, found, best, budget)
    for at, (first, second) in enumerate(product(range(8), range(8))):
        if bool(pairs.mask[at]):
            way = np.linalg.norm(found.places[first] - found.places[second])
            climb = abs(found.altitudes[first] - found.altitudes[second])
            assert float(pairs.way[at]) == pytest.approx(float(way + climb), abs=1e-3)
    # The same reading again takes no way, and is none of them.
    assert pairs.mask.reshape(8, 8).diagonal().tolist() == [False] * 8
    assert int(pairs.mask.sum()) == 8 * 7
