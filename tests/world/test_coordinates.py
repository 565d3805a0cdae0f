"""Coordinates that need nothing special: bijections, with the Jacobian of automatic differentiation."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.world import Coordinates, Identity, Logarithmic

ALL = [Identity(), Logarithmic((1,)), Logarithmic((0, 2))]


@pytest.fixture
def thetas(key):
    return jnp.exp(jax.random.normal(key, (100, 3)))


@pytest.mark.parametrize("coordinates", ALL, ids=repr)
def test_round_trip_and_jacobian(coordinates, thetas):
    """Θ comes back to float32 rounding; log_det is that of the Jacobian of the inverse."""
    assert isinstance(coordinates, Coordinates)
    assert coordinates.free == 0
    points = jax.vmap(coordinates.forward)(thetas)
    np.testing.assert_allclose(jax.vmap(coordinates.inverse)(points), thetas, rtol=2e-6)
    _, expected = np.linalg.slogdet(np.asarray(jax.vmap(jax.jacfwd(coordinates.inverse))(points), float))
    np.testing.assert_allclose(jax.vmap(coordinates.log_det)(points), expected, rtol=1e-4, atol=1e-5)


def test_only_the_named_columns_are_logarithms(thetas):
    points = np.asarray(jax.vmap(Logarithmic((0, 2)).forward)(thetas))
    np.testing.assert_allclose(points[:, [0, 2]], np.log(thetas)[:, [0, 2]], rtol=1e-5, atol=1e-6)
    assert (points[:, 1] == np.asarray(thetas[:, 1])).all()
