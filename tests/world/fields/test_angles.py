"""Fast angles against the slow ones."""

import jax
import jax.numpy as jnp
import numpy as np

from dowsax.world.fields.angles import angle_of, versine

ROUNDING = 2.0**-23


def test_versine_is_one_less_the_cosine():
    """To the rounding of numbers up to 2, and of a series cut off after the eleventh power."""
    angles = jnp.linspace(-3 * np.pi, 3 * np.pi, 10_001)
    cut_off = 4 * (np.pi / 2) ** 13 / 6_227_020_800
    exact = 1 - np.cos(np.asarray(angles, np.float64))
    # An error of the argument counts as much as one of the result.
    slack = cut_off + 8 * ROUNDING + ROUNDING * 3 * np.pi
    np.testing.assert_allclose(jax.vmap(versine)(angles), exact, atol=slack)


def test_angle_of_is_the_inverse():
    """An error of 1e-6 in v is one of 1e-6 / sin x in the angle, and of its root where that is zero."""
    angles = jnp.linspace(0.0, np.pi, 5001)
    back = jax.vmap(angle_of)(jax.vmap(versine)(angles))
    error = 1e-6
    slope = np.maximum(np.sin(np.asarray(angles, np.float64)), np.sqrt(error / 2))
    # A small v has a small error: both functions keep their digits there.
    slack = np.where(angles < 1, 32 * ROUNDING * (angles + 1e-1), error / slope + 16 * ROUNDING)
    assert (np.abs(np.asarray(back - angles)) <= slack).all()


def test_gradients_are_finite_on_the_axis():
    for at in (0.0, 2.0):
        assert np.isfinite(jax.grad(angle_of)(at))
    assert jax.grad(versine)(0.0) == 0
