"""The mean of a plume along a path: against fine sums and the flux, its limits, and what composes with it."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import GaussianPlume, InverseSquare, UniformBox
from dowsax.world.compose import compose
from dowsax.world.fields import Arranged, Dipole, LogDistance, PathMean, Plume
from dowsax.world.fields.gaussian_plume import BRIGGS
from dowsax.world.fields.wind import along_axis
from dowsax.world.trails import with_trail
from tests.world.fields.test_gaussian_plume import ANY, theta_of

PLUME = GaussianPlume()
MEAN = PathMean(PLUME)
NUM_CASES = 40
NUM_STEPS = 20_000
BOX = UniformBox((0.0, 0.0), (200.0, 200.0))


def fine_values(theta, station):
    """The plume at the middles of equal steps of a path."""
    shares = (jnp.arange(NUM_STEPS) + 0.5) / NUM_STEPS
    places = station.position[None, :] + shares[:, None] * (station.far_end - station.position)[None, :]
    point = replace(station, far_end=None)
    return jax.vmap(lambda place: PLUME(theta, replace(point, position=place)))(places)


each_fine_values = jax.jit(lambda *cases: jax.lax.map(lambda case: fine_values(*case), cases))


def fine_sums(thetas, stations):
    """Their means, added in double precision; a step is at most 1 cm."""
    return np.asarray(each_fine_values(thetas, stations), np.float64).mean(axis=1)


means = jax.jit(jax.vmap(MEAN))
mean = jax.jit(MEAN)


@eqx.filter_jit
def intensity(model, theta, station):
    return model.intensity(theta, station)


def a_source(model, key):
    return jax.jit(model.prior.sample)(key)


def sources(number, growing):
    """Sources from the prior, the second half with spreads that grow as in Briggs' formulas."""
    thetas = np.array(jax.jit(jax.vmap(ANY.sample))(jax.random.split(jax.random.key(7), number)))
    if not growing:
        thetas[:, 10:15] = list(BRIGGS.values())
    return thetas


def place_path(kind, generator, source, wind, length):
    """Both ends of a path of one kind."""
    axis = wind / np.linalg.norm(wind)
    across, share = np.array([-axis[1], axis[0]]), generator.uniform()
    distance = math.exp(generator.uniform(0.0, math.log(150.0)))
    angle = generator.uniform(0, 2 * math.pi)
    any_way = np.array([math.cos(angle), math.sin(angle)])
    start, way = {
        "across": (source + distance * axis - share * length * across, across),
        "along": (source + distance * axis + 5.0 * generator.normal() * across, axis),
        "oblique": (source + 50.0 * generator.normal(size=2), any_way),
        "through the source": (source - share * length * any_way, any_way),
        "upwind": (source - distance * axis - share * length * across, across),
        "ending on the axis": (source + distance * axis, any_way),
    }[kind]
    return start, start + length * way


def draw_cases(kind, seed, growing=True):
    """Sources and paths of 2 to 200 m in light and strong wind."""
    generator = np.random.default_rng(seed)
    thetas = sources(NUM_CASES, growing)
    winds, ends = [], []
    for theta in thetas:
        wind = generator.normal(size=2) * (0.2 if generator.uniform() < 0.1 else 3.0)
        turn = math.radians(theta[8])
        turned = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) @ wind
        length = math.exp(generator.uniform(math.log(2.0), math.log(200.0)))
        winds.append(wind)
        ends.append(place_path(kind, generator, theta[:2], turned, length))
    starts, fars = (np.float32([pair[end] for pair in ends]) for end in (0, 1))
    altitude = np.float32(np.abs(generator.normal(1.5, 1.0, NUM_CASES)))
    starts, fars, winds, altitude = map(jnp.asarray, (starts, fars, np.float32(winds), altitude))
    return jnp.asarray(thetas), Station(starts, wind=winds, altitude=altitude, far_end=fars)


def take(stations, at):
    return jax.tree.map(lambda leaf: leaf[at], stations)


@pytest.mark.parametrize("growing", [False, True])
@pytest.mark.parametrize(
    ("kind", "seed", "largest", "usual"),
    [
        ("across", 1, 0.02, 5e-3),
        ("along", 2, 0.02, 5e-3),
        ("oblique", 3, 0.02, 5e-3),
        ("upwind", 4, 0.02, 5e-3),
        ("ending on the axis", 5, 0.02, 5e-3),
        ("through the source", 6, 0.3, 0.02),
    ],
)
def test_is_the_fine_sum(kind, seed, largest, usual, growing):
    """Within 2 %, nine of ten within 0.5 %; 10⁻⁷ g/m³ for a g/s is below what any sensor reads.

    Through the source itself, which is 0.2 m in size, peaks of a few decimetres may be off by more.
    """
    thetas, stations = draw_cases(kind, seed, growing)
    ours = np.asarray(means(thetas, stations), np.float64)
    exact = fine_sums(thetas, stations)
    error = np.abs(ours - exact) / (exact + 1e-7 * np.asarray(thetas[:, 2]))
    assert error.max() < largest
    assert np.quantile(error, 0.9) < usual


@pytest.mark.parametrize("lateral", [0.02, 0.3, 1.0])
def test_a_path_across_reads_the_flux(lateral):
    """∫ c dy = q/U times the vertical density, to the square of the plume's width and 0.3 % of the nodes.

    The narrowest is 0.3 m wide, of 200 m.
    """
    theta, wind, distance = theta_of(lateral=lateral), 5.0, 100.0
    station = Station(
        jnp.float32([distance, -130.0]),
        wind=jnp.float32([wind, 0.0]),
        altitude=jnp.float32(1.5),
        far_end=jnp.float32([distance, 70.0]),
    )
    sigma_z = 0.06 * distance / math.sqrt(1 + 1.5e-3 * distance)
    above = math.exp(-(0.5**2) / (2 * sigma_z**2)) + math.exp(-(2.5**2) / (2 * sigma_z**2))
    expected = 2.0 / wind * above / (math.sqrt(2 * math.pi) * sigma_z) / 200.0
    assert float(mean(theta, station)) == pytest.approx(expected, rel=(2 * lateral * 0.08) ** 2 + 3e-3)


def test_parts_add_up_to_the_whole():
    """The mean over a path is that of its parts, weighted by their lengths; within 1 %, mostly 10⁻³."""
    thetas, stations = draw_cases("oblique", 8, growing=False)
    shares = np.random.default_rng(9).uniform(0.1, 0.9, NUM_CASES)
    start, far = np.asarray(stations.position), np.asarray(stations.far_end)
    middle = jnp.asarray(start + np.float32(shares)[:, None] * (far - start))
    whole = np.asarray(means(thetas, stations), float)
    first = np.asarray(means(thetas, replace(stations, far_end=middle)), float)
    second = np.asarray(means(thetas, replace(stations, position=middle)), float)
    error = np.abs(shares * first + (1 - shares) * second - whole) / (whole + 1e-8 * np.asarray(thetas[:, 2]))
    assert error.max() < 0.01
    assert np.quantile(error, 0.8) < 1e-3


def test_both_ends_are_alike():
    thetas, stations = draw_cases("oblique", 10)
    reversed_ = replace(stations, position=stations.far_end, far_end=stations.position)
    values = np.asarray(means(thetas, stations))
    # Places within rounding of each other, 10⁻⁵ m, at distances of a metre and more.
    np.testing.assert_allclose(means(thetas, reversed_), values, rtol=2e-3, atol=1e-10)


means_on_axis = jax.jit(jax.vmap(along_axis(MEAN)))


@jax.jit
@jax.vmap
def turned_profiles(theta, station):
    profile = MEAN.direction_profile(theta, station, 0.2)
    turns = profile.angle + jnp.array([-0.2, 0.0, 0.1])
    return jax.vmap(profile.value)(turns), profile.angle, profile.width


@pytest.mark.parametrize("length", [0.0, 1e-7, 1e-3])
def test_a_path_of_no_length_is_a_point(length):
    """Its mean, its profile in other winds and its axis are those of the point.

    To 0.5 %, by which a narrow plume changes within a millimetre, and to 1 % where the wind is turned, as the
    direction to the point is seen from a source that has a size.
    """
    thetas, stations = draw_cases("oblique", 11)
    paths = replace(stations, far_end=stations.position + length)
    points = replace(stations, far_end=None)
    for at in (means, means_on_axis):
        np.testing.assert_allclose(at(thetas, paths), at(thetas, points), rtol=5e-3, atol=1e-10)
    for path, point in zip(*(turned_profiles(thetas, at) for at in (paths, points)), strict=True):
        np.testing.assert_allclose(path, point, rtol=1e-2, atol=1e-4)


def test_a_profile_is_the_mean_in_turned_winds():
    """At turns up to 30°, against the mean in a wind that is turned by hand: within 5 % of the largest."""
    thetas, stations = draw_cases("across", 12)
    turns = jnp.linspace(-0.5, 0.5, 11)

    def both(theta, station):
        profile = MEAN.direction_profile(theta, station, 0.2)

        def by_hand(turn):
            cosine, sine = jnp.cos(turn), jnp.sin(turn)
            east, north = station.wind
            wind = jnp.stack([cosine * east - sine * north, sine * east + cosine * north])
            return MEAN(theta, replace(station, wind=wind))

        return jax.vmap(profile.value)(turns), jax.vmap(by_hand)(turns)

    ours, exact = (np.asarray(values) for values in jax.jit(jax.vmap(both))(thetas, stations))
    largest = exact.max(axis=1) + 1e-8 * np.asarray(thetas[:, 2])
    error = np.abs(ours - exact).mean(axis=1) / largest
    assert error.max() < 0.1
    assert np.quantile(error, 0.9) < 0.02


def test_the_axis_of_a_path_it_crosses_is_the_path():
    """Where the axis misses the path, the wind is turned to its nearer end."""
    theta, on_axis = theta_of(lateral=0.5), jax.jit(along_axis(MEAN))

    def path(low, high, wind=(4.0, 0.0)):
        start, far = jnp.float32([50.0, low]), jnp.float32([50.0, high])
        return Station(start, wind=jnp.float32(wind), altitude=jnp.float32(1.0), far_end=far)

    crossed, missed = path(-20.0, 60.0), path(30.0, 110.0)
    assert float(on_axis(theta, crossed)) == pytest.approx(float(mean(theta, crossed)), rel=1e-4)
    angle = math.atan2(30.0, 50.0)
    turned = path(30.0, 110.0, wind=(4 * math.cos(angle), 4 * math.sin(angle)))
    assert float(mean(theta, missed)) < 1e-6 * float(mean(theta, turned))
    # The line is seen from the source with its size, 0.2 m of 50 m.
    assert float(on_axis(theta, missed)) == pytest.approx(float(mean(theta, turned)), rel=1e-3)


value_and_gradient = jax.jit(jax.value_and_grad(MEAN))


@pytest.mark.parametrize("offset", [(0.0, 0.0), (3e4, -2e4)])
def test_is_finite_with_its_gradient_everywhere(offset):
    """In calm air, from the source, over it and upwind, also far from the origin."""
    theta = theta_of(x=offset[0], y=offset[1], meander=0.2)
    for wind in ((0.0, 0.0), (1e-5, 0.0), (3.0, 0.0)):
        for ends in (((0, 0), (0, 0)), ((0, 0), (50, 0)), ((-20, 0), (20, 0)), ((-90, 5), (-5, 5))):
            start, far = (jnp.float32(np.add(end, offset)) for end in ends)
            station = Station(start, wind=jnp.float32(wind), altitude=jnp.float32(1.0), far_end=far)
            reading, gradient = value_and_gradient(theta, station)
            assert jnp.isfinite(reading)
            assert jnp.isfinite(gradient).all()
            assert reading >= 0


def test_traces_once():
    mean = eqx.debug.assert_max_traces(lambda *case: MEAN(*case), max_traces=1)
    traced = eqx.filter_jit(jax.vmap(mean))
    for seed in (13, 14):
        traced(*draw_cases("oblique", seed))


def model(**settings):
    """A neutral plume with a known background."""
    known = {"height": 1.0, "lateral": 1.0, "vertical": 1.0, "meander": 0.1, "turn": 0.0, "speed": 1.0}
    noise = {"noise_ratio": 0.1, "noise_floor": 0.01}
    return compose("gas-plume", BOX, gas="methane", distributions=known, noise=noise, **settings)


def track(length):
    """Stations of a sensor on paths, each of 40 m."""
    starts = jnp.stack([jnp.linspace(90.0, 120.0, length), jnp.linspace(80.0, 95.0, length)], axis=1)
    return Station(
        starts,
        wind=jnp.broadcast_to(jnp.array([2.0, 1.0]), (length, 2)),
        altitude=jnp.full(length, 1.5),
        time=3.0 * jnp.arange(length),
        far_end=starts + jnp.array([[0.0, 40.0]]),
    )


def test_a_background_is_added_once(key):
    """The mean of what is everywhere the same is just that."""
    plain, above = model(background=None), model(background=2.0)
    theta, station = a_source(plain, key), take(track(3), 1)
    added = intensity(above, theta, station) - intensity(plain, theta, station)
    assert float(added) == pytest.approx(2.0, rel=1e-4)


def test_a_sensor_that_lags_lags_along_paths(key):
    """The answer of τ y' = c − y from path to path, by hand."""
    lagging, plain = model(background=None, lag=5.0), model(background=None)
    theta, stations = a_source(plain, key), track(4)
    values = np.asarray(jax.jit(jax.vmap(plain.intensity, (None, 0)))(theta, stations), float)
    answer = values[0]
    for value in values[1:]:
        answer = math.exp(-3.0 / 5.0) * answer + (1 - math.exp(-3.0 / 5.0)) * value
    last = take(with_trail(stations, 4), 3)
    assert float(intensity(lagging, theta, last)) == pytest.approx(answer, rel=1e-4)


def test_a_wind_that_is_given_or_inferred_is_that_of_the_path(key):
    """The same as measured with the reading."""
    measured = model(background=None)
    theta, station = a_source(measured, key), take(track(3), 1)
    given = model(background=None, wind=(2.0, 1.0))
    bare = replace(station, wind=None)
    expected = float(intensity(measured, theta, station))
    assert float(intensity(given, theta, bare)) == pytest.approx(expected, rel=1e-6)
    inferred = model(background=None, wind="unknown")
    names = [parameter.name for parameter in inferred.prior.parameters]
    own = dict(zip([parameter.name for parameter in measured.prior.parameters], theta, strict=True))
    full = jnp.stack([own.get(name, {"ux": 2.0, "uy": 1.0}.get(name)) for name in names])
    assert float(intensity(inferred, full, bare)) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "field", [InverseSquare(), LogDistance(), Dipole(), Plume()], ids=lambda f: type(f).__name__
)
def test_other_fields_refuse_paths(field):
    station = Station(jnp.zeros(2), far_end=jnp.ones(2))
    with pytest.raises(ValueError, match="along a path"):
        field(jnp.ones(10), station)
    assert isinstance(model(background=None).field, Arranged)
