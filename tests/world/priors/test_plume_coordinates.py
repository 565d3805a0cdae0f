"""The coordinates: a bijection, its Jacobian, and one coordinate that nothing depends on."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from dowsax.types import Station
from dowsax.world.base import Coordinates
from dowsax.world.fields import Plume
from dowsax.world.priors import PlumePrior

PRIOR = PlumePrior()
COORDINATES = PRIOR.coordinates


@jax.jit
def log_density(coordinates):
    """The prior's log density of the coordinates."""
    return jax.vmap(lambda point: PRIOR.log_prob(COORDINATES.inverse(point)) + COORDINATES.log_det(point))(
        coordinates
    )


forward = jax.jit(jax.vmap(COORDINATES.forward))
inverse = jax.jit(jax.vmap(COORDINATES.inverse))


@pytest.fixture
def thetas(key, draw):
    return draw(PRIOR, key, 2000)


def test_meets_the_protocol():
    assert isinstance(COORDINATES, Coordinates)
    assert COORDINATES.free == 1


def test_round_trip(thetas):
    """Θ comes back to 30 units of float32 rounding; so does every coordinate but the free one."""
    points = forward(thetas)
    assert np.allclose(inverse(points), thetas, rtol=4e-6, atol=0)
    assert np.allclose(forward(inverse(points))[:, :6], points[:, :6], rtol=4e-6, atol=4e-6)


def test_log_det_matches_autodiff(thetas):
    """Against slogdet of the Jacobian by automatic differentiation, in float64."""
    with jax.enable_x64(True):
        points = jax.jit(jax.vmap(COORDINATES.forward))(jnp.asarray(np.asarray(thetas[:200], np.float64)))
        ours = jax.jit(jax.vmap(COORDINATES.log_det))(points)
        jacobians = jax.jit(jax.vmap(jax.jacfwd(COORDINATES.inverse)))(points)
        _, expected = np.linalg.slogdet(np.asarray(jacobians))
    assert np.allclose(ours, expected, atol=1e-8)
    single = jax.jit(jax.vmap(COORDINATES.log_det))(jnp.float32(np.asarray(points)))
    assert np.allclose(single, expected, atol=1e-3)


def test_neither_prior_nor_field_depends_on_the_free_coordinate(thetas, key):
    points = forward(thetas)
    moved = points.at[:, 6].set(jax.random.uniform(key, (2000,)))
    assert np.allclose(log_density(points), log_density(moved), rtol=0, atol=2e-5)
    field = jax.jit(jax.vmap(Plume().log_intensity, in_axes=(0, None)))
    station = Station(jnp.array([12.0, 9.0]))
    before, after = field(thetas, station), field(inverse(moved), station)
    # The exponent is a difference of terms of its own size divided by λ: 1e-5 of it is rounding.
    assert np.allclose(before, after, rtol=1e-5, atol=1e-4)


def test_free_coordinate_is_uniform_under_the_prior(thetas):
    assert stats.kstest(np.asarray(forward(thetas))[:, 6], "uniform").pvalue > 1e-4


@pytest.mark.parametrize("size", [1.0, 30.0, 1e3])
def test_wild_coordinates_are_rejected_cleanly(size, key):
    """Θ is finite and the log density a number or −∞, whatever is proposed."""
    points = size * jax.random.normal(key, (4000, 7))
    corners = size * (jnp.stack(jnp.meshgrid(*[jnp.array([-1.0, 0.0, 1.0])] * 7), axis=-1).reshape(-1, 7))
    for batch in (points, corners, corners.at[:, 6].set(0.5)):
        assert np.isfinite(inverse(batch)).all()
        values = np.asarray(log_density(batch))
        assert (np.isfinite(values) | np.isneginf(values)).all()


def test_free_coordinate_outside_the_unit_interval_is_rejected(thetas):
    points = forward(thetas)
    for value in (-0.1, 1.1):
        assert np.isneginf(log_density(points.at[:, 6].set(value))).all()
