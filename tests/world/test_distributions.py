"""Distributions of one number: normalised densities, and samples that follow them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.world.base import Distribution
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform

NUM_DRAWS = 4000
DISTRIBUTIONS = {
    "uniform": (Uniform(-2, 3), stats.uniform(-2, 5)),
    "loguniform": (LogUniform(0.01, 50), stats.loguniform(0.01, 50)),
    "normal": (Normal(1, 0.5), stats.norm(1, 0.5)),
    "lognormal": (LogNormal(2, 1.5), stats.lognorm(np.log(1.5), scale=2)),
}
each = pytest.mark.parametrize(("distribution", "oracle"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)


@each
def test_density_is_the_textbook_one(distribution, oracle):
    assert isinstance(distribution, Distribution)
    values = np.float32(oracle.ppf(np.linspace(0.001, 0.999, 200)))
    ours = jax.jit(jax.vmap(distribution.log_prob))(jnp.asarray(values))
    np.testing.assert_allclose(ours, oracle.logpdf(values.astype(float)), rtol=1e-4, atol=1e-4)


@each
def test_samples_have_that_density(distribution, oracle, key):
    draws = jax.jit(jax.vmap(distribution.sample))(jax.random.split(key, NUM_DRAWS))
    assert stats.kstest(np.asarray(draws, float), oracle.cdf).pvalue > 1e-4
    assert np.isfinite(jax.vmap(distribution.log_prob)(draws)).all()


@each
def test_quantiles_are_the_textbook_ones(distribution, oracle):
    shares = np.float32([0.0, 1e-4, 0.1, 0.5, 0.9, 0.999])
    ours = jax.vmap(distribution.quantile)(jnp.asarray(shares))
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(ours[1:], oracle.ppf(shares[1:].astype(float)), rtol=1e-4)


@each
def test_there_is_nothing_outside(distribution, oracle):
    """−∞ and never NaN, with finite slopes; positive distributions give nothing to zero and below."""
    low, high = oracle.support()
    outside = [np.nan, np.inf, -np.inf]
    outside += [] if np.isinf(low) else [low - 1.0]
    outside += [] if np.isinf(high) else [high * 1.01]
    values, slopes = jax.vmap(jax.value_and_grad(distribution.log_prob))(jnp.float32(outside))
    assert np.isneginf(values).all()
    assert np.isfinite(slopes).all()
    if distribution.logarithmic:
        assert np.isneginf(distribution.log_prob(jnp.zeros(())))


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (lambda: Uniform(1, 1), "low < high"),
        (lambda: LogUniform(0, 1), "low"),
        (lambda: Normal(0, 0), "std"),
        (lambda: Normal(np.inf, 1), "mean"),
        (lambda: LogNormal(0, 2), "median"),
        (lambda: LogNormal(1, 1), "factor"),
    ],
)
def test_refuses_what_makes_no_distribution(wrong, word):
    with pytest.raises(ValueError, match=word) as caught:
        wrong()
    assert "\n" not in str(caught.value)
