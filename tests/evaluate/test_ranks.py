"""Ranks, coverage and z-scores of weighted particles."""

import numpy as np
import pytest

from dowsax.evaluate.ranks import NUM_DRAWS, draws, join, score
from dowsax.inference.posterior import Posterior, Trace

GENERATOR_SEED = 3


def weighted(num_cases: int, num_particles: int, num_parameters: int = 3):
    generator = np.random.default_rng(GENERATOR_SEED)
    truths = generator.normal(size=(num_cases, num_parameters))
    samples = generator.normal(size=(num_cases, num_particles, num_parameters))
    return truths, samples, generator.dirichlet(np.ones(num_particles), size=num_cases)


def test_equal_weights_are_drawn_without_repetition():
    chosen = draws(np.full(200, 1 / 200), NUM_DRAWS, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == NUM_DRAWS


def test_draws_follow_the_weights():
    """Each particle is drawn L·w times on average; systematic counts are L·w rounded down or up."""
    weights = np.array([0.5, 0.25, 0.2, 0.05, 0.0])
    generator = np.random.default_rng(0)
    counts = np.array([np.bincount(draws(weights, NUM_DRAWS, generator), minlength=5) for _ in range(400)])
    expected = NUM_DRAWS * weights
    assert (np.abs(counts - expected[None, :]) < 1).all()
    np.testing.assert_allclose(counts.mean(axis=0), expected, atol=5 * 0.5 / 400**0.5)


@pytest.mark.parametrize("probability", [0.5, 0.9])
def test_coverage_is_that_of_the_posteriors_own_interval(probability):
    truths, samples, weights = weighted(200, 30)
    nothing = np.zeros(0)
    posterior = Posterior((), samples, weights, nothing, nothing, nothing, nothing, Trace(*[nothing] * 7))
    low, high = posterior.interval(probability)
    expected = (truths >= low) & (truths <= high)
    np.testing.assert_array_equal(score(truths, samples, weights, seed=0).covered(probability), expected)


def test_ranks_count_the_draws_below():
    """With L particles of equal weight every particle is drawn once, and the rank is a plain count."""
    generator = np.random.default_rng(5)
    truths, samples = generator.normal(size=(10, 2)), generator.normal(size=(10, NUM_DRAWS, 2))
    scores = score(truths, samples, np.full((10, NUM_DRAWS), 1 / NUM_DRAWS), seed=0)
    np.testing.assert_array_equal(scores.ranks, np.sum(samples < truths[:, None, :], axis=1))


def test_ties_are_broken_evenly():
    """A belief whose every draw equals the truth has uniform ranks: mean L/2 within five standard errors."""
    scores = score(np.ones((500, 2)), np.ones((500, 50, 2)), np.full((500, 50), 0.02), seed=0)
    error = ((100**2 - 1) / 12 / scores.ranks.size) ** 0.5
    assert abs(scores.ranks.mean() - NUM_DRAWS / 2) < 5 * error
    assert scores.ranks.min() == 0
    assert scores.ranks.max() == NUM_DRAWS


def test_position_error_spread_and_z_score():
    """Two particles at (0, 0) and (2, 0), equal weights: mean (1, 0), std (1, 0)."""
    scores = score(np.array([[4.0, 4.0]]), np.array([[[0.0, 0.0], [2.0, 0.0]]]), np.full((1, 2), 0.5), seed=0)
    assert scores.errors == pytest.approx([5.0])
    assert scores.spreads == pytest.approx([1.0])
    np.testing.assert_array_equal(scores.z_scores, [[3.0, np.inf]])


def test_joined_keeps_the_order():
    truths, samples, weights = weighted(6, 20)
    parts = [score(truths[at], samples[at], weights[at], seed=0) for at in (slice(0, 4), slice(4, 6))]
    whole = join(parts)
    np.testing.assert_array_equal(whole.ranks[4:], parts[1].ranks)
    np.testing.assert_allclose(whole.below, score(truths, samples, weights, seed=1).below)
