"""The readings that other searchers are about to take: what a further one tells beyond theirs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief
from scipy.integrate import quad
from scipy.stats import norm

from dowsax.policies.inner_planner import with_planned
from dowsax.policies.location_planner import LocationPlanner
from dowsax.policies.planned import keep_apart, planned_readings
from dowsax.policies.simple import Random
from dowsax.types import Station
from dowsax.world import Candidates, Gaussian, Model, PlumePrior

NUM, SHARE, STEP = 400, 5, 1.5
"""Particles, of which every fifth is in the eastern town, and the signal of a source there."""


class Field(eqx.Module):
    """Shows the eastern town, but for stations in the north, where nothing is seen."""

    step: float = STEP

    def __call__(self, theta, station):
        return jnp.where(station.position[1] > 50, 0.0, self.step * (theta[0] > 50))

    def without_source(self):
        return Field(0.0)


def belief():
    particles = np.random.default_rng(1).normal(0.0, 1.0, (NUM, 3))
    particles[:, 0] += 100.0 * (np.arange(NUM) % SHARE == 0)
    return as_belief(jnp.asarray(particles, jnp.float32))


def gain(places):
    """The gain at (0, 0) given readings at these places: mean over keys, and its standard error."""
    model = Model(PlumePrior(), Field(), Gaussian(0.0, 1.0))
    planner = with_planned(LocationPlanner(model, 5.0), planned_readings(places, 2))
    ways, mask = jnp.zeros((1, 1, 2)), jnp.ones(1, bool)
    one = lambda key: planner.expected_gains(key, belief(), Station(jnp.zeros(2)), ways, mask)[0]  # noqa: E731
    found = np.asarray(jax.jit(jax.vmap(one))(jax.random.split(jax.random.key(2), 64)), np.float64)
    return found.mean(), found.std() / 8.0


def information(step):
    """Of which of the two towns, by a reading through noise of one: by quadrature."""

    def term(z):
        west, east = (1 - 1 / SHARE) * norm.pdf(z), norm.pdf(z, step) / SHARE
        total = west + east
        return west * np.log(norm.pdf(z) / total) + east * np.log(norm.pdf(z, step) / total)

    return quad(term, -8.0, 8.0 + step, limit=200)[0]


@pytest.mark.parametrize(
    ("places", "number"),
    [([], 0), ([(0.0, 0.0)], 1), ([(0.0, 0.0), (9.0, 0.0)], 2), ([(0.0, 90.0)], 0)],
    ids=["nobody", "one", "two", "one that sees nothing"],
)
def test_the_gain_is_that_beyond_the_readings_of_others(places, number):
    """By the chain rule: n readings tell as much as one with √n times the signal."""
    found, error = gain(places)
    expected = information(np.sqrt(number + 1) * STEP) - information(np.sqrt(number) * STEP)
    assert found == pytest.approx(expected, abs=4 * error + 0.02 * information(STEP))


def test_candidates_keep_apart_from_the_places_of_others():
    places = jnp.asarray([[0.0, 0.0], [4.0, 0.0], [9.0, 0.0]])
    candidates = Candidates(places, jnp.ones(3), jnp.ones(3), jnp.asarray([True, True, False]))
    near = keep_apart(candidates, planned_readings([(0.0, 1.0)], 3), 2.0)
    assert near.mask.tolist() == [False, True, False]
    # Where no other is left, all are.
    assert keep_apart(candidates, planned_readings([(2.0, 0.0)], 3), 5.0).mask.tolist() == [True, True, False]
    assert keep_apart(candidates, planned_readings([], 3), 5.0).mask.tolist() == [True, True, False]
    assert keep_apart(candidates, None, 5.0) is candidates


def test_a_policy_without_expectations_stays_as_it_is():
    policy = Random()
    assert with_planned(policy, planned_readings([(0.0, 0.0)], 1)) is policy
