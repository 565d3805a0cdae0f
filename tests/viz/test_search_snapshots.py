"""Clouds of particles: weights, thinning and the credible radius."""

import numpy as np
import pytest

from dowsax.viz.search_snapshots import normalise_weights, radius_about, thin_points


def test_weights_are_normal_or_nothing():
    assert normalise_weights(np.log([1.0, 3.0]) - 1000) == pytest.approx([0.25, 0.75])
    assert not normalise_weights(np.full(3, -np.inf)).any()


def test_thinning_keeps_the_distribution():
    """A systematic choice of m points misses the mass of any run of points by at most one share of m."""
    generator = np.random.default_rng(0)
    points = np.stack([np.arange(5000.0), np.zeros(5000)], axis=1)
    weights = generator.dirichlet(np.full(5000, 0.1))
    kept, equal = thin_points(points, weights, most=500)
    assert kept.shape == (500, 2)
    assert equal.sum() == pytest.approx(1)
    for end in (100, 1000, 2500, 4999):
        wanted, got = weights[:end].sum(), equal[kept[:, 0] < end].sum()
        assert abs(wanted - got) <= 1 / 500 + 1e-12


def test_few_points_are_all_kept():
    points, weights = np.ones((10, 2)), np.full(10, 0.1)
    assert thin_points(points, weights)[0] is not None
    assert thin_points(points, weights)[0].shape == (10, 2)
    assert thin_points(points, np.zeros(10), most=4)[1].shape == (4,)


def test_radius_is_a_quantile_of_distances():
    points = np.stack([np.arange(100.0), np.zeros(100)], axis=1)
    assert radius_about(np.zeros(2), points, np.full(100, 0.01)) == pytest.approx(95, abs=1)
    assert radius_about(np.zeros(2), points, np.zeros(100)) == np.inf
