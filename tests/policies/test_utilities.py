"""Each utility of a prediction against a plain loop in double precision."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.inference.weights import normalise
from dowsax.policies import Prediction
from dowsax.policies.utilities import (
    information_gain,
    negative_distance_and_spread,
    negative_time_to_find,
    predictive_entropy,
)

NUM_READINGS, NUM_PARTICLES = 3, 40


def divergence(prior, posterior, places, candidate):
    del places, candidate
    return sum(p * math.log(p / w) for p, w in zip(posterior, prior, strict=True) if p > 0)


def distance_and_spread(prior, posterior, places, candidate):
    """The formula as printed: squared distance to the mean, plus the trace of the covariance."""
    del prior
    centre = sum(p * place for p, place in zip(posterior, places, strict=True))
    spread = sum(p * np.sum((place - centre) ** 2) for p, place in zip(posterior, places, strict=True))
    return -(np.sum((centre - candidate) ** 2) + spread)


def time_to_find(prior, posterior, places, candidate):
    del prior
    cells = {}
    distance = 0.0
    for mass, (east, north) in zip(posterior, places, strict=True):
        cell = math.floor(east), math.floor(north)
        cells[cell] = cells.get(cell, 0.0) + mass
        distance += mass * (abs(east - candidate[0]) + abs(north - candidate[1]))
    bits = -sum(mass * math.log2(mass) for mass in cells.values() if mass > 0)
    return -math.log2(distance + 2 ** (bits - 1) - 0.5)


ORACLES = {
    information_gain: divergence,
    negative_distance_and_spread: distance_and_spread,
    negative_time_to_find: time_to_find,
}


@pytest.fixture
def prediction(key):
    """Particles close together, so that cells hold several; one without weight, one that no reading fits."""
    place_key, weight_key, likelihood_key = jax.random.split(key, 3)
    particles = jax.random.uniform(place_key, (NUM_PARTICLES, 3), minval=4.0, maxval=9.0)
    log_weights = jax.random.normal(weight_key, (NUM_PARTICLES,)).at[0].set(-jnp.inf)
    log_likelihoods = 3 * jax.random.normal(likelihood_key, (NUM_READINGS, NUM_PARTICLES))
    log_likelihoods = log_likelihoods.at[:, 1].set(-jnp.inf)
    return Prediction(jnp.array([5.5, 7.5]), particles, normalise(log_weights), log_likelihoods)


def in_double(prediction):
    """(prior weights, likelihoods, posterior weights) of the prediction, by their definitions."""
    weights = np.exp(np.asarray(prediction.log_weights, np.float64))
    likelihoods = np.exp(np.asarray(prediction.log_likelihoods, np.float64))
    joint = weights[None] * likelihoods
    return weights, likelihoods, joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "utility", ORACLES, ids=lambda utility: getattr(utility, "__name__", "location_gain")
)
def test_is_the_mean_of_its_formula(utility, prediction):
    """Over the simulated readings; single precision keeps six digits."""
    prior, _, posteriors = in_double(prediction)
    places = np.asarray(prediction.particles, np.float64)[:, :2]
    candidate = np.asarray(prediction.position, np.float64)
    values = [ORACLES[utility](prior, posterior, places, candidate) for posterior in posteriors]
    assert float(jax.jit(utility)(prediction)) == pytest.approx(np.mean(values), rel=1e-5)


def test_the_predictive_is_the_mixture(prediction):
    prior, likelihoods, _ = in_double(prediction)
    expected = -np.mean(np.log(likelihoods @ prior))
    assert float(predictive_entropy(prediction)) == pytest.approx(expected, rel=1e-5)


def test_information_is_never_negative(key):
    """The divergence of each single reading, over a thousand outlooks of every sharpness, but for rounding.

    The utility cuts at zero; here each is held against its own double-precision value, which cannot be below.
    """
    scale = jnp.logspace(-3, 2, 1000)[:, None, None]
    likelihoods = scale * jax.random.normal(key, (1000, 1, NUM_PARTICLES))
    log_weights = normalise(jnp.zeros(NUM_PARTICLES))
    particles = jnp.zeros((NUM_PARTICLES, 3))
    evaluate = jax.vmap(
        lambda terms: information_gain(Prediction(jnp.zeros(2), particles, log_weights, terms))
    )
    found = np.asarray(jax.jit(evaluate)(likelihoods))
    exact = []
    for terms in np.asarray(likelihoods, np.float64)[:, 0]:
        log_posterior = terms - np.logaddexp.reduce(terms)
        exact.append(np.exp(log_posterior) @ (log_posterior + np.log(NUM_PARTICLES)))
    assert min(exact) >= 0
    np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-5)


def test_space_aware_is_finite_on_the_source(prediction):
    """One cell, no distance: D⁺ + 2^(H⁺ − 1) − ½ is zero there, and its logarithm is bounded."""
    there = replace(
        prediction, particles=jnp.broadcast_to(jnp.append(prediction.position, 1.0), (NUM_PARTICLES, 3))
    )
    assert jnp.isfinite(negative_time_to_find(there))
    assert negative_time_to_find(there) > negative_time_to_find(prediction)


@pytest.mark.parametrize("utility", ORACLES, ids=lambda function: function.__name__)
def test_the_position_is_where_the_prediction_says(prediction, utility):
    """With the columns of Θ in another order, the utility stays."""
    turned = replace(
        prediction, particles=prediction.particles[:, np.array([1, 2, 0])], position_columns=(2, 0)
    )
    np.testing.assert_allclose(utility(turned), utility(prediction), rtol=1e-5)
