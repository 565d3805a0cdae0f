"""Densities drawn from weighted samples, against the Gaussian they were drawn from."""

import numpy as np
import pytest

from dowsax.viz.density import bandwidth, highest_density_level, marginal_density, position_density


def uniform(number):
    return np.full(number, 1 / number)


def test_mass_and_moments_of_a_gaussian():
    """Mass one; the mean within five standard errors; the variance that of draws and kernel."""
    number = 4000
    samples = np.random.default_rng(0).normal((10.0, 5.0), (1.0, 2.0), (number, 2))
    density = position_density(samples, uniform(number))
    assert density.mass.sum() == pytest.approx(1)
    for axis, centres, spread in ((0, density.x, 1.0), (1, density.y, 2.0)):
        marginal = density.mass.sum(axis=axis)
        mean = np.sum(marginal * centres)
        variance = np.sum(marginal * (centres - mean) ** 2)
        kernel = bandwidth(samples[:, axis], uniform(number), 2) ** 2
        assert abs(mean - (10.0, 5.0)[axis]) < 5 * spread / number**0.5
        assert variance == pytest.approx(samples[:, axis].var() + kernel, rel=0.02)


def test_regions_hold_their_probability():
    """The region above the level of p holds p of the mass, up to the largest cell."""
    samples = np.random.default_rng(1).normal(size=(2000, 2))
    mass = position_density(samples, uniform(2000)).mass
    for probability in (0.5, 0.95):
        held = mass[mass >= highest_density_level(mass, probability)].sum()
        assert probability <= held <= probability + mass.max()


def test_weights_count_and_nothing_leaves_the_prior():
    """Draws of weight zero leave no trace; the density ends where the draws end, at full height."""
    draws = np.random.default_rng(2).uniform(1, 5, 5000)
    weights = np.where(draws < 3, 1.0, 0.0)
    centres, density = marginal_density(draws, weights / weights.sum())
    assert centres.min() >= 1
    assert centres.max() <= 3
    # A bin of one bandwidth holds about 500 of 2,500 draws: 5/√500 is 0.22, on either side of the level.
    assert density[[0, -1]].min() > 1 - 2 * 0.22
