"""Transitions: sample and log density are one distribution, in Θ whatever the coordinates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.world import Drift, Identity, Jump, Logarithmic, Transition

OLD = jnp.array([1.0, 2.0])
SPREAD = jnp.array([0.5, 0.3])


def test_drift_meets_the_protocol():
    assert isinstance(Drift(Identity(), SPREAD), Transition)


@pytest.mark.parametrize("coordinates", [Identity(), Logarithmic((1,))], ids=["as is", "log"])
def test_drift_density_is_the_textbook_one(coordinates, key):
    """Normal in a column that moves as it is, log-normal in one that moves by factors, Jacobian and all."""
    drift = Drift(coordinates, SPREAD)
    points = OLD[None, :] * jnp.exp(0.3 * jax.random.normal(key, (50, 2)))
    ours = jax.jit(jax.vmap(lambda new: drift.log_prob(new, OLD)))(points)
    first = stats.norm.logpdf(np.asarray(points[:, 0], float), 1.0, 0.5)
    values = np.asarray(points[:, 1], float)
    second = (
        stats.lognorm.logpdf(values, 0.3, scale=2.0)
        if isinstance(coordinates, Logarithmic)
        else stats.norm.logpdf(values, 2.0, 0.3)
    )
    np.testing.assert_allclose(ours, first + second, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("coordinates", [Identity(), Logarithmic((1,))], ids=["as is", "log"])
def test_drift_samples_have_that_density(coordinates, key):
    drift = Drift(coordinates, SPREAD)
    draws = jax.jit(jax.vmap(lambda key: drift.sample(key, OLD)))(jax.random.split(key, 4000))
    first, second = np.asarray(draws, float).T
    assert stats.kstest(first, stats.norm(1.0, 0.5).cdf).pvalue > 1e-4
    distribution = (
        stats.lognorm(0.3, scale=2.0) if isinstance(coordinates, Logarithmic) else stats.norm(2.0, 0.3)
    )
    assert stats.kstest(second, distribution.cdf).pvalue > 1e-4
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / 4000**0.5


def test_a_column_without_spread_stands_still(key):
    drift = Drift(Identity(), jnp.array([0.5, 0.0]))
    new = drift.sample(key, OLD)
    assert new[1] == OLD[1]
    exact = stats.norm.logpdf(float(new[0]), 1.0, 0.5)
    np.testing.assert_allclose(drift.log_prob(new, OLD), exact, rtol=1e-4)


@pytest.mark.parametrize(
    "wrong", [{"hazard": -0.1}, {"hazard": 1.0}, {"hazard": 0.2, "birth_share": 0.1}, {"birth_share": 1.0}]
)
def test_an_impossible_jump_is_refused(wrong):
    with pytest.raises(ValueError, match="`"):
        Jump(**wrong)
