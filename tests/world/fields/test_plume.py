"""Laws of the plume: its equation, its decay, its limits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world.fields import Plume
from dowsax.world.priors import PlumePrior
from dowsax.world.source import unpack

PLUME = Plume()
PRIOR = PlumePrior()


def test_matches_the_formula(key, draw):
    """Against the printed formula in float64; the exponent costs a few hundred units of rounding."""
    thetas = draw(PRIOR, key, 100)
    position = jnp.array([11.0, 12.0])
    ours = jax.jit(jax.vmap(PLUME, in_axes=(0, None)))(thetas, Station(position))
    logs = jax.jit(jax.vmap(PLUME.log_intensity, in_axes=(0, None)))(thetas, Station(position))
    x, y, q, ux, uy, alpha, length = np.asarray(thetas, np.float64).T
    east, north = 11.0 - x, 12.0 - y
    d = np.sqrt(east**2 + north**2 + 0.1**2)
    drift = (east * ux + north * uy) / (2 * alpha)
    expected = np.log(q / (4 * np.pi * alpha * d)) - d / length + drift
    rounding = 1e-6 * (10 + d / length + np.abs(drift))
    assert (np.abs(logs - expected) < rounding).all()
    assert (np.abs(ours - np.exp(expected)) < 2 * rounding * np.exp(expected) + 1e-30).all()


def test_solves_the_advection_diffusion_equation(key, draw):
    """α∇²φ − u·∇φ − kφ = 0 in three dimensions, height being the stand-off, to rounding in float64."""
    thetas, places = draw(PRIOR, key, 50), jax.random.uniform(key, (50, 3), minval=1.0, maxval=6.0)

    def residual(theta, offset):
        source = unpack(theta)
        wind = jnp.stack([source.wind_x, source.wind_y, jnp.zeros(())])

        def phi(point):
            field = eqx.tree_at(lambda plume: plume.standoff, PLUME, point[2])
            return field(theta, Station(point[:2]))

        point = offset + jnp.stack([source.x, source.y, jnp.zeros(())])
        alpha = source.diffusivity
        rate = alpha * (1 / source.decay_length**2 - jnp.sum(wind**2) / (4 * alpha**2))
        diffusion = alpha * jnp.diagonal(jax.hessian(phi)(point))
        terms = jnp.concatenate([diffusion, -wind * jax.grad(phi)(point), -rate * phi(point)[None]])
        return jnp.abs(jnp.sum(terms)), jnp.sum(jnp.abs(terms))

    with jax.enable_x64(True):
        wide = jnp.asarray(np.asarray(thetas, np.float64)), jnp.asarray(np.asarray(places, np.float64))
        error, size = jax.jit(jax.vmap(residual))(*wide)
    seen = np.asarray(size) > 1e-200
    assert seen.sum() > 25
    assert (np.asarray(error)[seen] < 1e-11 * np.asarray(size)[seen]).all()


def test_decays_along_every_ray(key, draw):
    thetas = draw(PRIOR, key, 200)
    angles = jnp.linspace(0, 2 * jnp.pi, 16, endpoint=False)
    rays = jnp.stack([jnp.cos(angles), jnp.sin(angles)], axis=1)
    radii = jnp.arange(1.0, 25.0)

    def profile(theta, ray):
        return jax.vmap(lambda r: PLUME.log_intensity(theta, Station(theta[:2] + r * ray)))(radii)

    logs = jax.jit(jax.vmap(jax.vmap(profile, in_axes=(None, 0)), in_axes=(0, None)))(thetas, rays)
    assert (np.diff(logs, axis=2) < 0).all()


@pytest.mark.parametrize("wind", [0.0, 2.0], ids=["calm", "windy"])
@pytest.mark.parametrize("length", [0.0, 1e-30, 1e-7, 1e-4, 1.0], ids=str)
@pytest.mark.parametrize("distance", [0.0, 20.0], ids=["at-source", "far"])
def test_is_finite_with_finite_gradients(wind, length, distance):
    theta = jnp.array([10.0, 10.0, 500.0, wind, 0.0, 2.0, length])

    def intensity(theta, position):
        return PLUME(theta, Station(position))

    position = jnp.array([10.0 + distance, 10.0])
    value, slopes = jax.jit(jax.value_and_grad(intensity, argnums=(0, 1)))(theta, position)
    assert np.isfinite(value)
    assert all(np.isfinite(slope).all() for slope in slopes)
    assert value == 0 or length >= 1e-3


def test_stays_finite_outside_the_support():
    """Proposals may ask for anything; the intensity is finite and not negative."""
    wild = jnp.array(
        [
            [10.0, 10.0, -5.0, 1.0, 0.0, 2.0, 1.0],
            [10.0, 10.0, 5.0, 900.0, 0.0, 0.01, 100.0],
            [10.0, 10.0, 5.0, 1.0, 0.0, -2.0, -1.0],
        ]
    )
    values = jax.jit(jax.vmap(PLUME, in_axes=(0, None)))(wild, Station(jnp.array([20.0, 10.0])))
    assert np.isfinite(values).all()
    assert (values >= 0).all()


def test_keeps_what_depends_on_theta_alone_out_of_the_readings(key, draw):
    """Divisions depend on Θ alone: with 3 readings of 5 particles no division is of 15 elements."""
    thetas, positions = draw(PRIOR, key, 5), jnp.ones((3, 2))
    over_readings = jax.vmap(lambda theta: jax.vmap(lambda p: PLUME(theta, Station(p)))(positions))
    equations = jax.make_jaxpr(over_readings)(thetas).jaxpr.eqns
    sizes = {name: [] for name in ("div", "rsqrt", "exp", "log")}
    for equation in equations:
        sizes.get(equation.primitive.name, []).append(equation.outvars[0].aval.size)
    assert max(sizes["div"]) == 5
    assert (sizes["rsqrt"], sizes["exp"], sizes["log"]) == ([15], [15], [])
