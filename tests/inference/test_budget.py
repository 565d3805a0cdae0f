"""The particle budget: Fox's formula against the exact chi-square quantile, and its limits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2

from dowsax.inference.budget import KLDBudget, kld_bound, mask_to
from dowsax.inference.resampling import systematic


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_bound_is_the_chi_square_quantile(confidence):
    """The approximation of Wilson and Hilferty is within 1 % from five cells on, and 7 % at two."""
    cells = np.array([2, 5, 20, 100, 600])
    bounds = jax.vmap(lambda k: kld_bound(k, 0.05, confidence))(jnp.asarray(cells))
    exact = chi2.ppf(confidence, cells - 1) / (2 * 0.05)
    error = np.abs(np.asarray(bounds) / exact - 1)
    assert error[0] < 0.07
    assert (error[1:] < 0.01).all()
    assert kld_bound(jnp.asarray(1), 0.05, confidence) == 1.0


def test_budget_follows_the_spread(key, as_belief):
    """Few cells need the minimum, more cells more, and never more than there is room for."""
    budget = KLDBudget(minimum=100)
    normals = jax.random.normal(key, (2000, 2))
    sizes = [int(budget(as_belief(12.5 + scale * normals))) for scale in (0.01, 1.0, 2.0, 8.0)]
    assert sizes == sorted(sizes)
    assert sizes[0] == 100
    assert 100 < sizes[1] < 2000
    assert sizes[3] == 2000
    occupied = len(np.unique(np.floor(np.asarray(12.5 + normals)), axis=0))
    assert sizes[1] == pytest.approx(chi2.ppf(0.99, occupied - 1) / 0.1, rel=0.01)


def test_cells_of_negligible_weight_do_not_count(as_belief):
    locations = jnp.stack([jnp.arange(20.0) + 0.5, jnp.full(20, 3.5)], axis=1)
    log_weights = jnp.where(jnp.arange(20) < 1, 0.0, -30.0)
    assert KLDBudget(minimum=5)(as_belief(locations, log_weights)) == 5


def test_masked_draws_are_uniform_over_a_sample_of_the_belief(key):
    """After resampling to 30 of 100 places the mean is that of the belief, within five standard errors."""
    values = jnp.linspace(0.0, 1.0, 100)
    log_weights = jnp.log(values)
    num_active = jnp.asarray(30)

    def resampled_mean(key):
        ancestors = systematic(key, log_weights, 100, num_active)
        return jnp.sum(jnp.exp(mask_to(100, num_active)) * values[ancestors])

    means = np.asarray(jax.jit(jax.vmap(resampled_mean))(jax.random.split(key, 2000)))
    weights = np.asarray(values, np.float64)
    exact = np.sum(weights * weights) / weights.sum()
    assert abs(means.mean() - exact) < 5 * means.std() / 2000**0.5 + 1e-6
    masked = mask_to(100, num_active)
    assert (np.asarray(masked)[30:] == -np.inf).all()
    np.testing.assert_allclose(np.exp(np.asarray(masked)[:30]), 1 / 30, rtol=1e-5)


@pytest.mark.parametrize("wrong", [{"error": 0.0}, {"confidence": 1.0}, {"minimum": 0}])
def test_an_impossible_budget_is_refused(wrong):
    with pytest.raises(ValueError, match="`"):
        KLDBudget(**wrong)
