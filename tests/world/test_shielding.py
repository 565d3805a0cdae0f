"""Models with obstacles: what passes of a source, where it may be, and what readings then tell."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import shapely

from dowsax import locate
from dowsax.types import Station
from dowsax.world import GaussianPlume, Obstacle, UniformBox, compose, without_source
from dowsax.world.distributions import LogUniform

LOW, HIGH = (0.0, 0.0), (30.0, 30.0)
BOX = UniformBox(LOW, HIGH)
WALL = np.array([[14.0, 5.0], [15.0, 5.0], [15.0, 25.0], [14.0, 25.0]])
SOURCE = jnp.float32([20.0, 15.0, 4e4, 0.0, 1.0])
"""Of radiation: 10 m from the sensor, at its height, in air that takes nothing."""
HERE = Station(jnp.float32([10.0, 15.0]), dwell=jnp.float32(1.0), altitude=jnp.float32(1.0))
OPEN_COUNT = 4e4 / (10.0**2 + 0.1**2)


def radiation(*obstacles, **given):
    settings = {"background": None, "noise": {"noise_ratio": 0.0}, "shielded": 0.0, "variation": 0.0}
    return compose("radiation", BOX, obstacles=obstacles, **{**settings, **given})


@eqx.filter_jit
def intensity(model, theta, station):
    return model.intensity(theta, station)


def test_a_wall_takes_what_its_thickness_says():
    for attenuation, share in ((0.0, 1.0), (2.5, math.exp(-2.5)), ("opaque", 0.0)):
        model = radiation(Obstacle(WALL, attenuation))
        found = float(intensity(model, SOURCE, HERE))
        assert found == pytest.approx(share * OPEN_COUNT, rel=1e-5, abs=1e-9)
        # Nothing stands between the source and a sensor on its own side.
        near = Station(jnp.float32([20.0, 5.0]), dwell=HERE.dwell, altitude=HERE.altitude)
        assert float(intensity(model, SOURCE, near)) == pytest.approx(OPEN_COUNT, rel=1e-5)


def test_a_sensor_above_the_wall_sees_over_it():
    """From 9 m to 1 m the line is at 5.8 m and 5 m above the ends of the wall."""
    high = Station(HERE.position, dwell=HERE.dwell, altitude=jnp.float32(9.0))
    open_count = float(intensity(radiation(), SOURCE, high))
    for height, share in ((4.9, 1.0), (6.0, math.exp(-2.0 * math.sqrt(1.64)))):
        found = float(intensity(radiation(Obstacle(WALL, 2.0, height)), SOURCE, high))
        assert found == pytest.approx(share * open_count, rel=1e-5)


def test_levels_lose_decibels():
    theta = jnp.float32([20.0, 15.0, 60.0, 1.0])
    known = {"exponent": 2.0, "gain_east": 0.0, "gain_north": 0.0}
    models = [
        compose("level", BOX, obstacles=obstacles, distributions=known)
        for obstacles in ((), (Obstacle(WALL, 7.0),), (Obstacle(WALL),))
    ]
    free, behind, hidden = (float(intensity(model, theta, HERE)) for model in models)
    assert free - behind == pytest.approx(7.0, abs=1e-4)
    assert free - hidden == pytest.approx(10 * 46 / math.log(10), abs=1e-3)


def test_an_unknown_attenuation_is_a_column_that_sources_share():
    obstacle = Obstacle(WALL, "unknown", name="the wall")
    model = radiation(
        obstacle, Obstacle(WALL + 12.0, LogUniform(1.0, 9.0)), sources=2, distributions={"height": 1.0}
    )
    names = [parameter.name for parameter in model.prior.parameters]
    assert names.count("attenuation of the wall") == names.count("attenuation of obstacle 2") == 1
    theta = eqx.filter_jit(model.prior.sample)(jax.random.key(0))
    at = names.index("attenuation of the wall")
    both = [20.0, 15.0], [22.0, 15.0]
    blocks = model.prior.source_columns.blocks
    for block, place in zip(blocks, both, strict=True):
        theta = theta.at[jnp.array(block[:2])].set(jnp.float32(place))
    counts = [float(intensity(model, theta.at[at].set(depth), HERE)) for depth in (1.0, 1.0 + math.log(2))]
    # From 20 and 22 m the lines of sight cross one metre of the wall.
    assert counts[0] == pytest.approx(2 * counts[1], rel=1e-4)


def test_no_source_lies_in_an_obstacle(key):
    """For every kind: also where nothing shields, as of gas."""
    for kind in ("radiation", "gas-plume", "magnetic-dipole"):
        model = compose(kind, BOX, obstacles=[Obstacle(WALL)])
        sample = jax.jit(jax.vmap(model.prior.sample))
        places = np.asarray(sample(jax.random.split(key, 300)))[:, :2].astype(float)
        depth = shapely.Polygon(WALL).buffer(-1e-4)
        assert not shapely.contains_xy(depth, *places.T).any()
        inside = eqx.filter_jit(model.prior.sample)(key).at[:2].set(jnp.float32([14.5, 15.0]))
        assert eqx.filter_jit(model.prior.log_prob)(inside) == -jnp.inf
    assert isinstance(
        compose("gas-plume", BOX, obstacles=[Obstacle(WALL)]).field.field.field.field, GaussianPlume
    )


def test_without_the_source_nothing_is_left():
    model = without_source(radiation(Obstacle(WALL), background=3.0))
    assert float(intensity(model, SOURCE, HERE)) == 3.0


def test_clean_readings_do_not_exclude_a_source_behind_a_wall():
    """The probability of the shadow, against weighted draws from the prior: the exact posterior."""
    model = radiation(
        Obstacle(WALL), background=5.0, distributions={"q": LogUniform(1e2, 1e5), "attenuation": 0.0}
    )
    places = np.array([[12.0, y] for y in np.linspace(8.0, 22.0, 8)], np.float32)
    stations = Station(jnp.asarray(places), dwell=jnp.full(8, 10.0), altitude=jnp.full(8, 1.0))
    readings = jnp.full(8, 50.0)
    draws = jax.jit(jax.vmap(model.prior.sample))(jax.random.split(jax.random.key(1), 200_000))

    @jax.jit
    @jax.vmap
    def log_likelihood(theta):
        return jnp.sum(jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))(theta, stations, readings))

    def is_in_shadow(thetas):
        return (thetas[:, 0] > 15.0) & (thetas[:, 0] < 20.0) & (thetas[:, 1] > 10.0) & (thetas[:, 1] < 20.0)

    weights = np.exp(np.asarray(log_likelihood(draws), np.float64))
    exact = np.average(is_in_shadow(np.asarray(draws)), weights=weights)
    found = locate(stations, readings, model=model, preset="survey", seed=3)
    share = np.average(is_in_shadow(found.samples), weights=found.weights)
    # A tenth of the draws count, and 1,024 particles: standard errors of 0.002 and 0.013.
    assert share == pytest.approx(exact, abs=0.05)
    assert exact > 1.5 * 50 / 880


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"obstacles": [Obstacle(WALL, "lead")]}, '"opaque", "unknown"'),
        ({"obstacles": [Obstacle(WALL, -1.0)]}, "must be >= 0; got -1"),
        ({"obstacles": [Obstacle(WALL, math.nan)]}, "a finite number"),
    ],
)
def test_bad_attenuations_are_errors_of_one_line(given, words):
    with pytest.raises(ValueError, match=words) as caught:
        compose("radiation", BOX, **given)
    assert "\n" not in str(caught.value)


def test_sources_of_benchmark_fields_lie_outside(key):
    model = compose("temperature", BOX, obstacles=[Obstacle(WALL)])
    inside = eqx.filter_jit(model.prior.sample)(key).at[:2].set(jnp.float32([14.5, 15.0]))
    assert eqx.filter_jit(model.prior.log_prob)(inside) == -jnp.inf
