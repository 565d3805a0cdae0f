"""Distributions with limits as arrays are those with limits as numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world import ProductPrior, UniformBox
from dowsax.world.distributions import LogUniform, Normal, Uniform
from dowsax.world.priors.varied import Between, Box, with_array_limits
from dowsax.world.source import Parameter

PRIOR = ProductPrior(
    UniformBox((1.0, 2.0), (4.0, 9.0)),
    (LogUniform(0.5, 80.0), Uniform(-3.0, 2.0), Normal(1.0, 2.0)),
    tuple(Parameter(name, "", "") for name in "abc"),
)


def test_only_uniform_distributions_change():
    lifted = with_array_limits(PRIOR)
    assert isinstance(lifted.location, Box)
    assert [type(one) for one in lifted.distributions] == [Between, Between, Normal]
    assert lifted.coordinates == PRIOR.coordinates


def test_samples_and_densities_are_the_same(key):
    lifted = with_array_limits(PRIOR)
    keys = jax.random.split(key, 200)
    found, expected = jax.vmap(lifted.sample)(keys), jax.vmap(PRIOR.sample)(keys)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        jax.vmap(lifted.log_prob)(expected), jax.vmap(PRIOR.log_prob)(expected), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_outside_there_is_no_density(at):
    theta = jnp.array([2.0, 3.0, 1.0, 0.0, 0.0]).at[at].set(100.0)
    assert with_array_limits(PRIOR).log_prob(theta) == PRIOR.log_prob(theta) == -jnp.inf
