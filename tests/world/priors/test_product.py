"""Priors of independent factors: the sum of their log densities, and coordinates with the exact Jacobian."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.world import ExtendedPrior, Parameter, PlumePrior, Prior, ProductPrior, UniformBox
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform

NAMED = tuple(Parameter(name, "", name) for name in "abcd")
DISTRIBUTIONS = (LogUniform(1, 1000), Normal(2, 3), LogNormal(0.5, 2), Uniform(-1, 1))
ORACLES = (
    stats.loguniform(1, 1000),
    stats.norm(2, 3),
    stats.lognorm(np.log(2), scale=0.5),
    stats.uniform(-1, 2),
)
PRIORS = {
    "product": ProductPrior(UniformBox((0, 0), (10, 40)), DISTRIBUTIONS, NAMED),
    "extended": ExtendedPrior(PlumePrior(), DISTRIBUTIONS, NAMED),
}


@pytest.fixture(params=list(PRIORS))
def prior(request):
    return PRIORS[request.param]


def source_log_prob(prior, thetas):
    if isinstance(prior, ProductPrior):
        return jax.vmap(prior.location.log_prob)(thetas[:, :2])
    return jax.vmap(prior.source.log_prob)(thetas[:, :7])


def test_samples_are_independent_draws_of_the_factors(prior, key, draw):
    thetas = np.asarray(draw(prior, key, 4000), float)
    assert isinstance(prior, Prior)
    assert thetas.shape[1] == len(prior.parameters)
    for column, oracle in zip(thetas.T[-4:], ORACLES, strict=True):
        assert stats.kstest(column, oracle.cdf).pvalue > 1e-4
    correlations = stats.spearmanr(thetas[:, [0, 1, -4, -3, -2, -1]]).statistic - np.eye(6)
    assert np.abs(correlations).max() < 5 / 4000**0.5


def test_density_is_the_product(prior, key, draw):
    """To rounding in float32 of a sum of terms of about ten; −∞ where one factor has nothing."""
    thetas = draw(prior, key, 100)
    log_prob = jax.jit(jax.vmap(prior.log_prob))
    columns = np.asarray(thetas, float).T[-4:]
    expected = sum(oracle.logpdf(column) for oracle, column in zip(ORACLES, columns, strict=True))
    expected = expected + np.asarray(source_log_prob(prior, thetas), float)
    np.testing.assert_allclose(log_prob(thetas), expected, rtol=1e-4, atol=1e-4)
    for column in (0, -4, -2, -1):
        assert np.isneginf(log_prob(thetas.at[:, column].set(-1e4))).all()


def test_coordinates_are_a_bijection_with_the_exact_jacobian(prior, key, draw):
    thetas, coordinates = draw(prior, key, 50), prior.coordinates
    points = jax.jit(jax.vmap(coordinates.forward))(thetas)
    np.testing.assert_allclose(jax.jit(jax.vmap(coordinates.inverse))(points), thetas, rtol=2e-4, atol=1e-5)
    jacobian = np.asarray(jax.jit(jax.vmap(jax.jacfwd(coordinates.inverse)))(points), float)
    _, expected = np.linalg.slogdet(jacobian)
    np.testing.assert_allclose(jax.jit(jax.vmap(coordinates.log_det))(points), expected, rtol=1e-3, atol=1e-3)


def test_what_is_free_stays_last(key, draw):
    """The last coordinate is still uniform and changes neither the nuisances nor the field's own numbers."""
    prior = PRIORS["extended"]
    thetas, coordinates = draw(prior, key, 4000), prior.coordinates
    assert coordinates.free == 1
    points = jax.jit(jax.vmap(coordinates.forward))(thetas)
    assert stats.kstest(np.asarray(points)[:, -1], "uniform").pvalue > 1e-4
    moved = jax.jit(jax.vmap(coordinates.inverse))(points.at[:, -1].set(0.5))
    np.testing.assert_allclose(moved[:, -4:], thetas[:, -4:], rtol=1e-5)
    np.testing.assert_allclose(moved[:, 2] / moved[:, 5], thetas[:, 2] / thetas[:, 5], rtol=1e-4)


def test_wild_coordinates_stay_finite(prior, key):
    points = 1e3 * jax.random.normal(key, (500, len(prior.parameters)))
    assert np.isfinite(jax.jit(jax.vmap(prior.coordinates.inverse))(points)).all()


def test_needs_a_name_for_each_law():
    with pytest.raises(ValueError, match="name"):
        ProductPrior(UniformBox(), DISTRIBUTIONS, NAMED[:2])
    with pytest.raises(ValueError, match="name"):
        ExtendedPrior(PlumePrior(), DISTRIBUTIONS[:1], NAMED)


def test_coordinates_select_and_do_not_scatter(prior):
    """Scattering into columns is slow where particles move."""
    theta = jnp.ones(len(prior.parameters))
    text = str(jax.make_jaxpr(prior.coordinates.inverse)(theta))
    assert "scatter" not in text
