"""Laws of the Gaussian plume: mass, reflection, symmetry, its textbook and its calm limit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

from dowsax.types import Station
from dowsax.world import GaussianPlume, ProductPrior, UniformBox
from dowsax.world.fields.gaussian_plume import BRIGGS, default_distributions

PLUME = GaussianPlume()
POINT = GaussianPlume(size=1e-3)
ANY = ProductPrior(UniformBox((-50, -50), (50, 50)), default_distributions(), GaussianPlume.PARAMETERS)


def theta_of(**given):
    """A neutral plume of 2 g/s from the origin at 1 m, but for what is given."""
    neutral = {"x": 0.0, "y": 0.0, "q": 2.0, "height": 1.0, "stability": 3.0, "lateral": 1.0, "vertical": 1.0}
    steady = {"meander": 0.01, "turn": 0.0, "speed": 1.0}
    return jnp.float32(list((neutral | steady | BRIGGS | given).values()))


def evaluate(field, theta, positions, altitudes, wind):
    """The field at every position and altitude, in one wind."""

    @jax.jit
    def at(theta, positions, altitudes, wind):
        one = lambda position, altitude: field(theta, Station(position, wind=wind, altitude=altitude))  # noqa: E731
        return jax.vmap(one)(positions, altitudes)

    return np.asarray(at(theta, jnp.float32(positions), jnp.float32(altitudes), jnp.float32(wind)), float)


def briggs_neutral(distance):
    """σy and σz of class D over open country, written a second time."""
    return 0.08 * distance / np.sqrt(1 + 1e-4 * distance), 0.06 * distance / np.sqrt(1 + 1.5e-3 * distance)


def test_is_the_textbook_plume_where_it_is_narrow():
    """With a tenth of the spread the angles are small: the two differ by twenty times their square."""
    wind, height, factor = 5.0, 1.0, 0.1
    x, share, z = (grid.ravel() for grid in np.meshgrid([20, 100, 500, 2000], [-2, 0, 1], [0.0, 1.5, 4.0]))
    sigma_y, sigma_z = briggs_neutral(x)
    sigma_y = np.hypot(factor * sigma_y, x * 0.01 / wind)
    y = share * sigma_y
    above = np.exp(-((z - height) ** 2) / (2 * sigma_z**2)) + np.exp(-((z + height) ** 2) / (2 * sigma_z**2))
    expected = 2.0 / (2 * np.pi * wind * sigma_y * sigma_z) * np.exp(-(share**2) / 2) * above
    ours = evaluate(POINT, theta_of(lateral=factor), np.stack([x, y], 1), z, [wind, 0.0])
    seen = expected > 1e-12
    assert seen.sum() > 20
    np.testing.assert_allclose(ours[seen], expected[seen], rtol=20 * (factor * 0.08) ** 2)


@pytest.mark.parametrize("stability", [0.0, 2.5, 5.0])
def test_all_that_is_released_passes_a_plane_downwind(stability):
    """∫∫ U cos θ c dy dz = q at 100 m: the flux along r through the plane, in angles by the midpoint rule.

    What goes back (a spread of 13° at the most) and the change of the spread along the plane are below 1e-3.
    """
    wind, distance, height = 4.0, 100.0, 5.0
    edges = np.linspace(-1.2, 1.2, 401)
    angles = (edges[1:] + edges[:-1]) / 2
    levels = np.linspace(0, 200, 2001)
    levels = (levels[1:] + levels[:-1]) / 2
    theta, level = (grid.ravel() for grid in np.meshgrid(angles, levels, indexing="ij"))
    places = np.stack([np.full(theta.shape, distance), distance * np.tan(theta)], 1)
    values = evaluate(PLUME, theta_of(stability=stability, height=height), places, level, [wind, 0.0])
    # dy = D/cos²θ dθ; the flux has the factor cos θ.
    flux = np.sum(values * wind * distance / np.cos(theta)) * np.diff(edges)[0] * 0.1
    assert flux == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("wind", [0.0, 0.1, 0.5, 3.0])
def test_all_that_is_released_passes_every_cylinder(wind):
    """∫∫ U_e c r dθ dz = q in calm air and in wind, to the rounding and the size of the source (2e-4)."""
    meander, radius = 0.4, 20.0
    angles = np.linspace(-np.pi, np.pi, 801)[:-1]
    levels = np.linspace(0, 12, 601)
    levels = (levels[1:] + levels[:-1]) / 2
    theta, level = (grid.ravel() for grid in np.meshgrid(angles, levels, indexing="ij"))
    places = radius * np.stack([np.cos(theta), np.sin(theta)], 1)
    values = evaluate(PLUME, theta_of(meander=meander), places, level, [wind, 0.0])
    speed = np.sqrt(wind**2 + 2 * meander**2 / np.pi)
    flux = np.sum(values) * speed * radius * (2 * np.pi / 800) * 0.02
    assert flux == pytest.approx(2.0, rel=4e-4)


def test_calm_air_treats_all_directions_alike():
    """c = q/(2π r U_e) times the vertical part at every angle; U_e is 1/E[1/|v|] of the meandering."""
    angles, radius, meander = np.linspace(0, 6, 7), 30.0, 0.3
    places = radius * np.stack([np.cos(angles), np.sin(angles)], 1)
    values = evaluate(POINT, theta_of(meander=meander), places, np.full(7, 1.5), [0.0, 0.0])
    mean_inverse, _ = integrate.quad(lambda v: np.exp(-(v**2) / (2 * meander**2)) / meander**2, 0, 3)
    _, sigma_z = briggs_neutral(radius)
    above = np.exp(-(0.5**2) / (2 * sigma_z**2)) + np.exp(-(2.5**2) / (2 * sigma_z**2))
    expected = 2.0 * mean_inverse / (2 * np.pi * radius) * above / (np.sqrt(2 * np.pi) * sigma_z)
    np.testing.assert_allclose(values, expected, rtol=1e-4)


def test_a_light_wind_changes_little_and_smoothly():
    """From calm to a breeze the reading downwind never jumps: 40 steps change it by less than 40 % each."""
    speeds = np.geomspace(1e-4, 10, 40)
    at = jax.jit(jax.vmap(lambda u: PLUME(theta_of(meander=0.2), Station(jnp.float32([30, 0]), wind=u))))
    values = np.asarray(at(jnp.float32(np.stack([speeds, 0 * speeds], 1))))
    assert (values > 0).all()
    assert np.abs(np.diff(np.log(values))).max() < 0.4
    assert values[0] == pytest.approx(values[1], rel=1e-3)


def test_nothing_goes_into_the_ground():
    """∂c/∂z falls to zero with z: linearly, since c is even in z. Without reflection it would be c h/σz²."""
    slope = jax.jit(jax.grad(lambda z: PLUME(theta_of(), station_at(z))))

    def station_at(z):
        return Station(jnp.float32([40, 1]), wind=jnp.float32([3, 0]), altitude=z)

    near, far = float(slope(0.01)), float(slope(0.02))
    unreflected = float(PLUME(theta_of(), station_at(jnp.zeros(())))) / 2.4**2
    assert far == pytest.approx(2 * near, rel=0.01)
    assert abs(near) < 0.02 * unreflected


def test_turns_with_the_wind_and_is_symmetric(key):
    """Turned by any angle the field is the same, to rounding (κ up to 150 times that of a unit vector)."""
    field = jax.jit(
        lambda place, wind, turn: PLUME(theta_of(turn=turn, meander=0.1), Station(place, wind=wind))
    )
    places = jax.random.uniform(key, (20, 2), minval=-40.0, maxval=40.0)
    for place, angle in zip(places, np.linspace(0, 6, 20), strict=True):
        turn = jnp.float32([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        wind = jnp.float32([2.0, 0.0])
        here = field(place, wind, 0.0)
        np.testing.assert_allclose(field(turn @ place, turn @ wind, 0.0), here, rtol=2e-4)
        np.testing.assert_allclose(field(turn @ place, wind, np.degrees(angle)), here, rtol=2e-4)
        np.testing.assert_allclose(field(place * jnp.float32([1, -1]), wind, 0.0), here, rtol=1e-5)


def test_speed_is_a_factor_on_the_wind():
    here = jnp.float32([30, 2])
    twice = PLUME(theta_of(speed=2.0), Station(here, wind=jnp.float32([1.5, 0.5])))
    once = PLUME(theta_of(), Station(here, wind=jnp.float32([3.0, 1.0])))
    assert float(twice) == pytest.approx(float(once), rel=1e-5)


def test_gain_and_strength_are_factors():
    station = Station(jnp.float32([30, 2]), wind=jnp.float32([1.5, 0.5]))
    more = GaussianPlume(7.0)(theta_of(q=6.0), station)
    assert float(more) == pytest.approx(21 * float(PLUME(theta_of(), station)), rel=1e-5)


def test_is_positive_and_smooth_everywhere(key, draw):
    """For any source of the prior, in any wind, at the source, upwind, far away: no zero, no NaN."""
    thetas = draw(ANY, key, 200)
    offsets = jnp.float32([[0, 0], [1e-3, 0], [-5, 0], [-2e3, 0], [3e4, 1.0], [0, 400]])
    winds = jnp.float32([[0, 0], [1e-8, 0], [0.3, 0], [20, 0]])

    def value(theta, offset, wind, altitude):
        return PLUME(theta, Station(theta[:2] + offset, wind=wind, altitude=altitude))

    both = jax.value_and_grad(value, argnums=(0, 1, 2, 3))
    for axis in ((None, None, 0, None), (None, 0, None, None), (0, None, None, None)):
        both = jax.vmap(both, in_axes=axis)
    for altitude in (0.0, 1.5, 300.0):
        values, slopes = jax.jit(both)(thetas, offsets, winds, jnp.float32(altitude))
        assert (np.asarray(values) > 0).all()
        assert np.isfinite(values).all()
        assert all(np.isfinite(slope).all() for slope in slopes)


def test_stays_finite_outside_the_support(key):
    """Proposals may ask for anything; the intensity is finite and not negative."""
    wild = 100 * jax.random.normal(key, (2000, 15))
    station = Station(jnp.float32([20, 10]), wind=jnp.float32([2, 0]))
    values = np.asarray(jax.jit(jax.vmap(PLUME, in_axes=(0, None)))(wild, station))
    assert np.isfinite(values).all()
    assert (values >= 0).all()


@pytest.mark.parametrize("distance", [5.0, 60.0, 900.0])
def test_growth_is_a_factor_on_each_spread(distance):
    """1/(1 + √(r/ℓ)) across, with a reach that falls with stability, and ρ^(power + bend ln ρ) both ways."""
    station = Station(jnp.float32([distance, 0.05 * distance]), wind=jnp.float32([4, 0]))
    radius = np.hypot(distance, 0.05 * distance)
    growing = theta_of(stability=2.0, reach=800.0, widen=-0.15, curve=0.04, rise=0.2, bend=-0.05)
    ratio = radius / 100
    across = ratio ** (-0.15 + 0.04 * np.log(ratio)) / (1 + np.sqrt(radius / (800 * np.exp(-1.4))))
    upward = ratio ** (0.2 - 0.05 * np.log(ratio))
    fixed = theta_of(stability=2.0, lateral=across, vertical=upward)
    assert float(POINT(growing, station)) == pytest.approx(float(POINT(fixed, station)), rel=1e-4)


def test_says_that_it_needs_the_wind():
    with pytest.raises(ValueError, match="wind"):
        PLUME(theta_of(), Station(jnp.zeros(2)))
