"""A prior whose numbers are arguments of a program is the one whose numbers are part of it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.evaluate.search_steps import as_arrays
from dowsax.world import ProductPrior, UniformBox
from dowsax.world.distributions import LogNormal, LogUniform, Normal, Uniform
from dowsax.world.source import Parameter

PRIOR = ProductPrior(
    UniformBox((1.0, 2.0), (4.0, 9.0)),
    (LogUniform(0.5, 80.0), Uniform(-3.0, 2.0), Normal(1.0, 2.0), LogNormal(2.0, 1.5)),
    tuple(Parameter(name, "", "") for name in "abcd"),
)


@eqx.filter_jit
def _sample(prior, keys):
    return jax.vmap(prior.sample)(keys)


@eqx.filter_jit
def _log_prob(prior, thetas):
    return jax.vmap(prior.log_prob)(thetas)


def test_samples_and_densities_are_the_same(key):
    lifted = as_arrays(PRIOR)
    assert not any(isinstance(leaf, float) for leaf in jax.tree.leaves(lifted))
    assert lifted.coordinates == PRIOR.coordinates
    keys = jax.random.split(key, 200)
    found, expected = _sample(lifted, keys), _sample(PRIOR, keys)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(_log_prob(lifted, expected), _log_prob(PRIOR, expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_outside_there_is_no_density(at):
    theta = jnp.array([2.0, 3.0, 1.0, 0.0, 0.0, 1.0]).at[at].set(100.0)
    assert as_arrays(PRIOR).log_prob(theta) == PRIOR.log_prob(theta) == -jnp.inf
