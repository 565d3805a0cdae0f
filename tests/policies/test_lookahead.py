"""The lookahead loop against brute force: numerical integration on a problem with one unknown parameter."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from made_beliefs import as_belief
from made_choices import utilities as expected
from scipy import stats

from dowsax.inference.summaries import mean
from dowsax.policies import Lookahead
from dowsax.policies.utilities import information_gain, negative_distance_and_spread, predictive_entropy
from dowsax.types import Station
from dowsax.world import Model, Motion, PlumePrior
from dowsax.world.sensors import Censored, Gaussian, Poisson

NUM_KEYS = 400
# Only the east coordinate of the source is unknown; its belief is a grid, so that sums over it are exact.
GRID = np.linspace(4.0, 16.0, 7)
NORTH = 6.0
LOG_WEIGHTS = np.log(np.array([1.0, 2.0, 4.0, 3.0, 2.0, 2.0, 1.0]) / 15)
HERE = np.array([12.0, 5.0])
ALONG = Motion(moves=((2.0, 0.0), (-1.0, 0.0), (2.0, 0.0)), high=(15.5, 10.0))
"""Moves on a line: east, west, and east once more. The second move east in a row is cut short."""
PLACES = np.array([14.0, 11.0, 14.0])
"""[m], where they lead."""
UTILITIES = (information_gain, predictive_entropy)
THRESHOLD = 0.6


def hill(theta, station):
    """A field with one parameter, lop-sided so that east and west differ."""
    offset = station.position[0] - theta[0]
    return 3.0 * jnp.exp(-0.5 * (offset / 3) ** 2) + 0.05 * station.position[0]


def intensities(east):
    """The field at one position for every particle, in double precision."""
    return 3.0 * np.exp(-0.5 * ((east - GRID) / 3) ** 2) + 0.05 * east


class Deaf(eqx.Module):
    """A sensor whose law does not depend on the field."""

    def sample(self, key, intensity, station):
        return jax.random.normal(key)

    def log_prob(self, reading, intensity, station):
        return -0.5 * reading**2 - 0.5 * jnp.log(2 * jnp.pi)


def gaussian_law(levels):
    """Densities (particles, readings) on a fine grid of readings, and the length each stands for."""
    readings = np.linspace(-5.0, 10.0, 6001)
    scale = 0.2 * levels + 0.3
    return stats.norm.pdf(readings, levels[:, None], scale[:, None]), np.full(readings.size, 15.0 / 6000)


def poisson_law(levels):
    counts = np.arange(60)
    return stats.poisson.pmf(counts, levels[:, None] + 1.0), np.ones(60)


def censored_law(levels):
    """A mixed measure: an atom of size one at zero, lengths in units of the threshold above it."""
    scale = 0.2 * levels + 0.3
    silent = 0.1 + 0.9 * stats.norm.cdf((THRESHOLD - levels) / scale)
    edges = np.linspace(THRESHOLD, 10.0, 6001)
    heard = 0.9 * stats.norm.pdf((edges[1:] + edges[:-1]) / 2, levels[:, None], scale[:, None])
    return np.column_stack([silent, THRESHOLD * heard]), np.append(1.0, np.diff(edges) / THRESHOLD)


def deaf_law(levels):
    readings = np.linspace(-10.0, 10.0, 6001)
    return stats.norm.pdf(readings, 0 * levels[:, None]), np.full(readings.size, 20.0 / 6000)


LAWS = {
    "gaussian": (Gaussian(0.2, 0.3), gaussian_law),
    "poisson": (Poisson(1.0), poisson_law),
    "censored": (Censored(0.9, THRESHOLD, 0.2, 0.3), censored_law),
    "deaf": (Deaf(), deaf_law),
}


def belief():
    particles = np.stack([GRID, np.full(GRID.size, NORTH)], axis=1)
    return as_belief(jnp.asarray(particles, jnp.float32), jnp.asarray(LOG_WEIGHTS, jnp.float32))


@functools.cache
def program(name, utilities, **choices):
    """(keys, belief) -> for each utility the expected utility of each move under each key; compiled once."""
    model, station = Model(PlumePrior(), hill, LAWS[name][0]), Station(jnp.asarray(HERE, jnp.float32))
    policies = [Lookahead(model, utility, ALONG, **choices) for utility in utilities]
    one = lambda key, belief: [expected(policy, key, belief, station, ALONG) for policy in policies]  # noqa: E731
    return jax.jit(jax.vmap(one, in_axes=(0, None)))


def utilities_of(key, name, utilities=UTILITIES, **choices):
    found = program(name, utilities, **choices)(jax.random.split(key, NUM_KEYS), belief())
    return [np.asarray(one, np.float64) for one in found]


def assert_expected(found, expected):
    """The mean over keys, within five standard errors."""
    error = 5 * found.std(axis=0) / len(found) ** 0.5 + 1e-5
    assert (np.abs(found.mean(axis=0) - expected) <= error).all(), (found.mean(axis=0), expected, error)


def surprise(density, measure):
    """The entropy [nats] of each law."""
    return -np.sum(np.where(density > 0, density * np.log(density + 1e-300), 0.0) * measure, axis=-1)


def entropy_and_information(density, measure):
    """The entropy of the reading, and what it tells of the parameter [nats]."""
    assert density @ measure == pytest.approx(1.0, abs=1e-3)
    weights = np.exp(LOG_WEIGHTS)
    entropy = surprise(weights @ density, measure)
    return entropy, entropy - weights @ surprise(density, measure)


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("name", LAWS)
def test_one_move_matches_numerical_integration(name, key):
    """Mutual information and predictive entropy, by quadrature or summation over readings."""
    exact = [entropy_and_information(*LAWS[name][1](intensities(east))) for east in PLACES]
    entropies, gains = zip(*exact, strict=True)
    found_gains, found_entropies = utilities_of(key, name)
    assert_expected(found_gains, gains)
    assert_expected(found_entropies, entropies)


def test_dcee_is_greedy_on_average(key):
    """The tower property: E_z[E_{w⁺}|s − p'|²] = E_w|s − p'|², whatever is read."""
    (found,) = utilities_of(key, "gaussian", (negative_distance_and_spread,))
    squares = (GRID[:, None] - PLACES[None, :]) ** 2 + (NORTH - HERE[1]) ** 2
    assert_expected(found, -np.exp(LOG_WEIGHTS) @ squares)
    assert np.argmin(np.abs(PLACES - float(mean(belief())[0]))) == np.argmax(found.mean(axis=0))


def test_a_sensor_that_hears_nothing_tells_nothing(key):
    """No gain under any key, but for rounding."""
    gains, _ = utilities_of(key, "deaf")
    assert (np.abs(gains) < 1e-5).all()


def test_candidates_share_their_luck(key):
    """Two moves to the same place have the same utility, to the bit, and another one is not."""
    for found in utilities_of(key, "gaussian"):
        np.testing.assert_array_equal(found[:, 0], found[:, 2])
        assert (found[:, 0] != found[:, 1]).all()


def two_reading_gain(first, second):
    """The information of two Gaussian readings at two places, by quadrature over both."""
    weights = np.exp(LOG_WEIGHTS)
    readings = np.linspace(-4.0, 8.0, 241)
    step = (readings[1] - readings[0]) ** 2

    def densities(east):
        levels = intensities(east)
        return stats.norm.pdf(readings, levels[:, None], (0.2 * levels + 0.3)[:, None])

    joint = densities(first)[:, :, None] * densities(second)[:, None, :]
    predictive = np.tensordot(weights, joint, 1)
    ratio = np.log(np.maximum(joint, 1e-300)) - np.log(np.maximum(predictive, 1e-300))[None]
    return float(weights @ np.sum(joint * ratio, axis=(1, 2)) * step)


def test_two_moves_match_enumeration(key):
    """Every row of two moves by quadrature; a row that leaves the area at its second move does not count."""
    east, west, _ = PLACES
    east_west = two_reading_gain(east, east - 1)
    west_east, west_west = two_reading_gain(west, west + 2), two_reading_gain(west, west - 1)
    (found,) = utilities_of(key, "gaussian", (information_gain,), depth=2, num_readings=256)
    # So far apart that the greater of two noisy rows is always the same one: its mean has no bias.
    assert abs(west_east - west_west) > 5 * found.std(axis=0)[1]
    assert_expected(found, [east_west, max(west_east, west_west), east_west])


@pytest.mark.parametrize("choices", [{"num_readings": 0}, {"depth": 5}, {"depth": 0}])
def test_bad_choices_are_named(choices):
    with pytest.raises(ValueError, match=next(iter(choices))):
        Lookahead(Model(PlumePrior(), hill, Gaussian(0.1, 0.1)), information_gain, **choices)
