"""Summaries of a belief, against numpy in double precision and against closed forms."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi

from dowsax.inference import Contraction, Credible, summaries
from dowsax.inference.grid import Grid, cell_index
from dowsax.inference.summaries import weighted_quantile


@pytest.fixture
def cloud(key, as_belief):
    """200 correlated particles of three columns, unevenly weighted, twenty of them without weight."""
    particle_key, weight_key = jax.random.split(key)
    factor = jnp.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [30.0, 0.0, 100.0]])
    offset = jnp.array([12.0, 9.0, 900.0])
    particles = jax.random.normal(particle_key, (200, 3)) @ factor.T + offset[None, :]
    log_weights = jax.random.normal(weight_key, (200,)).at[:20].set(-jnp.inf)
    return as_belief(particles, log_weights)


def in_double(belief):
    weights = np.exp(np.asarray(belief.log_weights, np.float64))
    return np.asarray(belief.particles, np.float64), weights / weights.sum()


def test_moments_agree_with_numpy(cloud):
    particles, weights = in_double(cloud)
    covariance = np.cov(particles.T, aweights=weights, ddof=0)
    np.testing.assert_allclose(summaries.mean(cloud), weights @ particles, rtol=1e-5)
    np.testing.assert_allclose(summaries.covariance(cloud), covariance, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(summaries.std(cloud), np.sqrt(np.diag(covariance)), rtol=1e-4)


@pytest.mark.parametrize("probability", [0.0, 0.05, 0.5, 0.95, 1.0])
def test_quantile_is_the_least_value_with_enough_mass_below(cloud, probability):
    particles, weights = in_double(cloud)
    for column, value in enumerate(np.asarray(summaries.quantile(cloud, probability), np.float64)):
        values = particles[:, column]
        carrying = values[weights > 0]
        assert value in carrying
        # Float32 rounding of a running sum of 200 weights.
        assert weights[values <= value].sum() >= probability - 1e-5
        below = carrying[carrying < value]
        assert below.size == 0 or weights[values <= below.max()].sum() <= probability + 1e-5


def test_quantile_of_two_values():
    values, log_weights = jnp.array([3.0, 1.0]), jnp.log(jnp.array([0.25, 0.75]))
    picks = [float(weighted_quantile(values, log_weights, p)) for p in (0.0, 0.7, 0.8, 1.0)]
    assert picks == [1.0, 1.0, 3.0, 3.0]


@pytest.mark.parametrize("probability", [0.0, 0.5, 0.9, 0.95, 1.0])
def test_an_interval_lies_between_two_quantiles(cloud, as_belief, probability):
    """The same values as by sorting: of a cloud, of equal values, and far from zero."""
    far = as_belief(cloud.particles + 1e6, cloud.log_weights)
    equal = as_belief(jnp.round(cloud.particles), cloud.log_weights)
    for belief in (cloud, far, equal):
        tails = ((1 - probability) / 2, (1 + probability) / 2)
        expected = [summaries.quantile(belief, tail) for tail in tails]
        np.testing.assert_array_equal(summaries.interval(belief, probability), expected)


def test_an_interval_of_no_particles_is_no_number_that_could_be_taken_for_one(as_belief):
    low, high = summaries.interval(as_belief(jnp.ones((8, 3)), jnp.full(8, -jnp.inf)), 0.9)
    assert np.isinf(low).all()
    assert np.isinf(high).all()


def test_radius_of_a_gaussian_cloud(key, as_belief):
    r"""The 95 % radius of an isotropic Gaussian is $\sigma\sqrt{-2 \ln 0.05} = 2.448\,\sigma$.

    The standard error of a sample quantile is $\sqrt{p(1-p)/n}$ over the density there, which for the
    Rayleigh law is $(r/\sigma^2)(1 - p)$.
    """
    num_particles, sigma, probability = 20_000, 1.5, 0.95
    belief = as_belief(10 + sigma * jax.random.normal(key, (num_particles, 2)))
    exact = sigma * np.sqrt(-2 * np.log(1 - probability))
    density = exact / sigma**2 * (1 - probability)
    error = np.sqrt(probability * (1 - probability) / num_particles) / density
    radius = float(summaries.credible_radius(belief, probability))
    assert abs(radius - exact) < 5 * error
    # The radius and the mass are inverse to each other.
    assert probability <= summaries.mass_within(belief, radius) + 1e-5
    assert summaries.mass_within(belief, radius * (1 - 1e-3)) < probability + 1e-3


def test_entropies_of_uniform_clouds(as_belief):
    """One particle in each cell: both entropies are the log of their number. One cell: zero."""
    grid = Grid(high=(4.0, 3.0))
    corners = np.stack(np.meshgrid(np.arange(4), np.arange(3), indexing="xy"), -1).reshape(-1, 2)
    belief = as_belief(jnp.asarray(corners + 0.5, jnp.float32))
    np.testing.assert_allclose(summaries.location_entropy(belief, grid), np.log(12), rtol=1e-5)
    np.testing.assert_allclose(summaries.weight_entropy(belief), np.log(12), rtol=1e-5)
    point = as_belief(jnp.full((5, 2), 0.25, jnp.float32))
    assert abs(summaries.location_entropy(point, grid)) < 1e-5


def test_cells_cover_the_area_and_clip_outside():
    grid = Grid(low=(1.0, 2.0), high=(4.0, 4.0))
    locations = jnp.array([[1.0, 2.0], [3.9, 2.1], [1.5, 3.9], [9.0, 9.0], [-9.0, -9.0]])
    assert cell_index(grid, locations).tolist() == [0, 2, 3, 5, 0]


@pytest.mark.parametrize("wrong", [{"cell": 0.0}, {"low": (30.0, 0.0)}])
def test_an_impossible_grid_is_refused(wrong):
    with pytest.raises(ValueError, match="`"):
        Grid(**wrong)


def test_summaries_of_the_position_follow_its_columns(cloud):
    """With the columns of Θ in another order, and said so, everything about the position stays."""
    order = np.array([2, 1, 0])
    turned = replace(cloud, particles=cloud.particles[:, order], position_columns=(2, 1))
    for summary in (
        summaries.mean_position,
        summaries.location_spread,
        summaries.location_entropy,
        summaries.promising_places,
        lambda belief: summaries.mass_within(belief, 2.0),
        lambda belief: summaries.credible_radius(belief, 0.8),
        lambda belief: Contraction(2.5)(belief),
        lambda belief: Credible(3.0, 0.5)(belief),
    ):
        np.testing.assert_allclose(summary(turned), summary(cloud), rtol=1e-5)
    assert not np.allclose(summaries.mean_position(replace(turned, position_columns=(0, 1))), [12, 9], atol=3)


def test_the_credible_radius_in_three_dimensions_is_that_of_a_ball(key, as_belief):
    """Of a round normal distribution: quantiles of σχ with three degrees of freedom, to 5 standard errors.

    That of an empirical quantile at p is √(p(1 − p)/n) over the density there.
    """
    number, spread = 20_000, 1.7
    columns = jnp.concatenate(
        [jnp.full((number, 1), 1e6), spread * jax.random.normal(key, (number, 3))], axis=1
    )
    belief = replace(as_belief(columns), position_columns=(1, 2, 3))
    assert 0 < float(summaries.location_entropy(belief)) < np.log(625)
    for probability in (0.5, 0.95):
        expected = spread * chi(3).ppf(probability)
        error = np.sqrt(probability * (1 - probability) / number) / (chi(3).pdf(expected / spread) / spread)
        radius = float(summaries.credible_radius(belief, probability))
        assert abs(radius - expected) < 5 * error
        assert abs(float(summaries.mass_within(belief, expected)) - probability) < 5 * np.sqrt(0.25 / number)
