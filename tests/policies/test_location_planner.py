"""The planner of sites: what a reading tells of the location, against the integral, and what it costs."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief
from scipy.integrate import quad
from scipy.stats import norm

from dowsax.geo.polygons import Bounds
from dowsax.policies import policy_named
from dowsax.policies.location_planner import LocationPlanner, _map_allowed, _second_candidates
from dowsax.types import Station
from dowsax.world import (
    FOUR_MOVES,
    Budget,
    Candidates,
    Fence,
    Gaussian,
    Model,
    NearAndFar,
    PlumePrior,
    WayReadings,
)

NUM = 400
HERE = Station(jnp.zeros(2))


class Towns(eqx.Module):
    """A field that is `step` in the eastern town, plus what the third column adds everywhere."""

    step: float
    nuisance: float

    def __call__(self, theta, station):
        # At the candidate in the north nothing is seen, in the south what is everywhere alone.
        seen = jnp.where(station.position[1] > 50, 0.0, 1.0)
        shows = jnp.where(station.position[1] < -50, 0.0, 1.0)
        return seen * (shows * self.step * (theta[0] > 50) + self.nuisance * theta[2])

    def without_source(self):
        return Towns(0.0, self.nuisance)


def two_towns(one_in):
    """Two towns 100 m apart, every `one_in`-th particle in the east; a third column ~ N(0, 1)."""
    particles = np.random.default_rng(1).normal(0.0, 1.0, (NUM, 3))
    particles[:, 0] += 100.0 * (np.arange(NUM) % one_in == 0)
    return as_belief(jnp.asarray(particles, jnp.float32))


BELIEF, RARE = two_towns(5), two_towns(50)


def candidates(*places, way=None):
    positions = jnp.asarray(places, jnp.float32)
    way = jnp.asarray(way or [1.0] * len(places), jnp.float32)
    return Candidates(positions, way, way, jnp.ones(len(places), bool))


def planner(step, nuisance, noise=1.0, **choices):
    return LocationPlanner(Model(PlumePrior(), Towns(step, nuisance), Gaussian(0.0, noise)), 5.0, **choices)


def gains(planner, places):
    """The mean over keys, and its standard error."""
    keys = jax.random.split(jax.random.key(2), 64)
    one = lambda key: planner.expected_gains(  # noqa: E731
        key, BELIEF, HERE, places.places[:, None], places.mask
    )
    found = np.asarray(jax.jit(jax.vmap(one))(keys), np.float64)
    return found.mean(axis=0), found.std(axis=0) / 8.0


def information(step):
    """Of a reading through noise of one and which of the two towns, a fifth in the east: by quadrature."""
    share = 1 / 5
    densities = (lambda z: norm.pdf(z, 0.0, 1.0), lambda z: norm.pdf(z, step, 1.0))

    def term(z):
        west, east = ((1 - share) * densities[0](z), share * densities[1](z))
        total = west + east
        return west * np.log(densities[0](z) / total) + east * np.log(densities[1](z) / total)

    return quad(term, -8.0, 8.0 + step, limit=200)[0]


@pytest.mark.parametrize("step", [0.5, 2.0, 6.0])
def test_the_gain_is_the_mutual_information_of_reading_and_location(step):
    """Which of two towns, through noise of one: by quadrature. What is not seen tells nothing.

    The weight of one particle that is added to the neighbours of each leaves out a share of their number.
    """
    exact = information(step)
    (found, nothing), (error, _) = gains(planner(step, 0.0), candidates((0.0, 0.0), (0.0, 100.0)))
    assert found == pytest.approx(exact, rel=0.05, abs=5 * error)
    assert nothing < 0.01


def test_what_tells_of_the_rest_of_theta_alone_counts_for_nothing():
    """A reading that gives the third column to a hundredth, and nothing of the location."""
    (found,), _ = gains(planner(0.0, 1.0, noise=0.01), candidates((0.0, 0.0)))
    assert found < 0.05


def test_a_rare_strong_source_is_not_overlooked():
    """One particle in fifty far off: sources drawn at random would miss it in half of all decisions."""
    one = planner(20.0, 0.0)
    keys = jax.random.split(jax.random.key(2), 32)
    here = jnp.zeros((1, 1, 2)), jnp.ones(1, bool)
    find = jax.jit(jax.vmap(lambda key: one.expected_gains(key, RARE, HERE, *here)[0]))
    entropy = -(0.02 * np.log(0.02) + 0.98 * np.log(0.98))
    found = np.asarray(find(keys))
    assert found.min() > 0.7 * entropy
    assert found.max() < 1.3 * entropy


def test_the_cheaper_of_two_equal_places_is_chosen(key):
    """Half the way, the same gain; and never a place that is masked."""
    one = planner(3.0, 0.0)
    places = candidates((0.0, 0.0), (1.0, 0.0), (2.0, 0.0), way=[20.0, 10.0, 5.0])
    places = places._replace(mask=jnp.array([True, True, False]))
    choose = jax.jit(lambda key: one(key, BELIEF, HERE, places, Budget(10.0, 40.0)))
    assert {int(choose(part)) for part in jax.random.split(key, 8)} == {1}


def test_what_is_far_and_tells_more_is_worth_a_longer_way(key):
    """With a metre at a hundredth of what is left, a place that tells something is worth 20 m; one that does
    not is not worth 1 m."""
    one = planner(3.0, 0.0)
    places = candidates((0.0, 100.0), (0.0, 0.0), way=[1.0, 20.0])
    choose = jax.jit(lambda key: one(key, BELIEF, HERE, places, Budget(100.0, 100.0)))
    assert int(choose(key)) == 1


@pytest.mark.parametrize(("spacing", "number"), [(40.0, 1), (20.0, 2), (9.0, 3)])
def test_readings_on_the_way_tell_as_much_as_one_of_less_noise(spacing, number):
    """On 100 m to the north the first 50 m tell something: n readings as one with noise 1/√n.

    Of the eleven that are 9 m apart, six stand for all, every 14 m: three of them see the towns.
    """
    north = candidates((0.0, 100.0))
    (found,), (error,) = gains(planner(1.0, 0.0, way_readings=WayReadings(spacing)), north)
    one = planner(1.0, 0.0, noise=number**-0.5)
    (expected,), (other,) = gains(one, candidates((0.0, 0.0)))
    assert found == pytest.approx(expected, rel=0.02, abs=5 * np.hypot(error, other))


def test_a_way_without_readings_changes_nothing(key):
    """Where the interval is longer than any way, gains are the same, up to rounding."""
    places = candidates((0.0, 0.0), (1.0, 40.0))
    plain, moving = planner(2.0, 0.0), planner(2.0, 0.0, way_readings=WayReadings(1000.0))
    found, expected = (
        jax.jit(
            lambda key, one=one: one.expected_gains(key, BELIEF, HERE, places.places[:, None], places.mask)
        )(key)
        for one in (moving, plain)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)


HIDDEN, SIZE = 3.0, 4.0
"""The size of what adds to every reading but those in the north, and of the step."""


def test_two_readings_tell_together_what_neither_tells_alone():
    """One of the source and what is everywhere, one of the latter alone, each through noise of one.

    Their law is normal with a shift of (step, 0) between the towns: as one reading with a step of
    step · √(Σ⁻¹)₁₁, where Σ is their covariance.
    """
    covariance = HIDDEN**2 * np.ones((2, 2)) + np.eye(2)
    exact = information(SIZE * np.sqrt(np.linalg.inv(covariance)[0, 0]))
    alone = information(SIZE / np.sqrt(HIDDEN**2 + 1))
    ways = jnp.array([[[0.0, 0.0], [0.0, -100.0]], [[0.0, -100.0], [0.0, 0.0]]])
    keys = jax.random.split(jax.random.key(2), 64)
    one = planner(SIZE, HIDDEN)
    find = jax.jit(jax.vmap(lambda key: one.expected_gains(key, BELIEF, HERE, ways, jnp.ones(2, bool))))
    found = np.asarray(find(keys), np.float64)
    assert exact > 2 * alone
    # As for one reading: the particles are 400, and each counts half in its own cell.
    np.testing.assert_allclose(found.mean(axis=0), exact, atol=5 * found.std(axis=0).max() / 8, rtol=0.05)


LIMITS = NearAndFar(Fence.of(Bounds()), (-200.0, -200.0), (200.0, 200.0), (1.0,))
"""Ways within 200 m of the towns, at 1 m/s."""


def test_two_readings_ahead_the_first_makes_sense_of_the_second(key):
    """5 m away a reading of what is everywhere, which tells nothing alone; in 95 m one of the source too."""
    places = candidates((0.0, 0.0), (0.0, -100.0), way=[95.0, 5.0])
    here, budget = Station(jnp.array([0.0, -95.0])), Budget(100.0, 1000.0)
    for limits, expected in ((None, 0), (LIMITS, 1)):
        one = planner(SIZE, HIDDEN, second_ways=limits, num_readings=256)
        choose = jax.jit(lambda part, one=one: one(part, BELIEF, here, places, budget))
        assert {int(choose(part)) for part in jax.random.split(key, 8)} == {expected}


YARD = np.array([[-9.0, -9.0], [9.0, -9.0], [9.0, 9.0], [-9.0, 9.0]])
NO_WAY = Fence.of(Bounds(geofence=(YARD, YARD - [0.0, 100.0])))
SECOND_IMPOSSIBLE = {
    "readings": (LIMITS, Budget(1.0, 1000.0, 1000.0)),
    "distance": (LIMITS, Budget(100.0, 104.0, 1000.0)),
    "time": (LIMITS, Budget(100.0, 1000.0, 104.0)),
    "legs": (replace(LIMITS, legs=(0.0, 99.0)), Budget(100.0, 1000.0, 1000.0)),
    "home": (replace(LIMITS, home=jnp.array([0.0, -95.0])), Budget(100.0, 199.0, 1000.0)),
    "fence": (replace(LIMITS, fence=NO_WAY), Budget(100.0, 1000.0, 1000.0)),
}


@pytest.mark.parametrize("why", SECOND_IMPOSSIBLE)
def test_a_second_reading_that_cannot_be_taken_is_not_planned(why, key):
    """Beyond the budget or the limits of a way, the choice is that of one reading."""
    limits, budget = SECOND_IMPOSSIBLE[why]
    places = candidates((0.0, 0.0), (0.0, -100.0), way=[95.0, 5.0])
    one = planner(SIZE, HIDDEN, second_ways=limits)
    here = Station(jnp.array([0.0, -95.0]))
    assert int(jax.jit(lambda key: one(key, BELIEF, here, places, budget))(key)) == 0


@pytest.mark.parametrize(
    "budget", [Budget(100.0), Budget(distance=100.0), Budget(time=100.0), Budget(20.0, 300.0)]
)
def test_two_readings_cost_more_than_the_first(budget):
    """Whichever part of the budget is limited."""
    places = candidates((0.0, 0.0), (0.0, -20.0), (0.0, 30.0), way=[3.0, 5.0, 30.0])

    @jax.jit
    def both(places):
        after = _second_candidates(LIMITS, places, jnp.arange(3), budget)
        return after.mask, budget.shares(after, among=places)

    mask, shares = map(np.asarray, both(places))
    assert np.array_equal(mask, ~np.eye(3, dtype=bool).ravel())
    assert (shares[mask] > 0).all()
    shares_of = jax.jit(budget.shares)
    np.testing.assert_array_equal(shares_of(places, among=places), shares_of(places))


@pytest.mark.parametrize("number", [1, 7, 8, 9, 17])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_only_allowed_places_are_computed(number, share, key):
    """The same as for all of them, and 0 for the others."""
    ways = jax.random.normal(key, (number, 1, 2))
    mask = np.arange(number) % 5 < 5 * share
    value = lambda way: jnp.sum(way**2)  # noqa: E731
    expected = np.where(mask, np.sum(np.asarray(ways) ** 2, axis=(1, 2)), 0.0)
    found = jax.jit(lambda ways, mask: _map_allowed(value, ways, mask))(ways, mask)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_planner_of_two_readings_by_name():
    model = Model(PlumePrior(), Towns(1.0, 0.0), Gaussian(0.0, 1.0))
    assert policy_named("location-gain-2")(model, LIMITS, 2.0).second_ways is LIMITS
    with pytest.raises(ValueError, match="cannot go step by step"):
        policy_named("location-gain-2")(model, FOUR_MOVES, 2.0)
