"""Models from plain choices: every column in its place."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.types import Station
from dowsax.world import (
    KINDS,
    MODALITIES,
    Counting,
    Gaussian,
    GaussianPlume,
    StudentT,
    UncertainCounting,
    UniformBox,
    UnknownNoise,
    benchmark_model,
    compose,
    kind_of,
    with_trail,
    without_source,
)
from dowsax.world.distributions import LogNormal, LogUniform, Normal
from dowsax.world.fields.gaussian_plume import BRIGGS
from dowsax.world.sensors.above_background import AboveBackground

BOX = UniformBox((0, 0), (100, 100))
NAMES = [*KINDS, *MODALITIES]


@pytest.fixture
def stations(key):
    """Six stations with all that may be measured along."""
    return with_trail(
        Station(
            jax.random.uniform(key, (6, 2), maxval=100.0),
            wind=jnp.tile(jnp.float32([[3, 1]]), (6, 1)),
            dwell=jnp.full(6, 10.0),
            time=10 * jnp.arange(6.0),
            altitude=jnp.full(6, 2.0),
            sensor=jnp.array([0, 1, 2, 0, 1, 2]),
        ),
        2,
    )


def names_of(model):
    return [parameter.name for parameter in model.prior.parameters]


def intensities(model, theta, stations):
    return np.asarray(jax.jit(jax.vmap(model.intensity, in_axes=(None, 0)))(jnp.float32(theta), stations))


@pytest.mark.slow_after(2)
@pytest.mark.parametrize("kind", [*KINDS, "gas", "noise"])
def test_readings_of_every_kind_have_a_density(kind, stations, key):
    """With all nuisances on: what the model simulates it also explains. Without tables it can be hashed."""
    background = LogUniform(0.01, 0.1) if kind in MODALITIES else "unknown"
    wind = {"wind": (2.0, 1.0)} if kind == "gas-buildings" else {}
    build = lambda: compose(kind, BOX, background=background, sensors="ABC", lag="unknown", **wind)  # noqa: E731
    model = build()
    if kind != "gas-buildings":
        assert hash(model) == hash(build())
        assert model == build()

    @jax.jit
    @jax.vmap
    def survey(key):
        theta = model.prior.sample(key)
        readings = model.simulate(key, theta, stations)
        terms = jax.vmap(model.log_likelihood, in_axes=(None, 0, 0))(theta, stations, readings)
        return readings, terms, model.prior.log_prob(theta)

    readings, *logs = survey(jax.random.split(key, 50))
    assert model.sensor.fault(np.asarray(readings).ravel()) is None
    assert all(np.isfinite(log).all() for log in logs)
    assert names_of(model)[:2] == ["x", "y"]
    assert {"lag", "background A", "background B", "background C"} < set(names_of(model))


def test_columns_of_a_gas_plume_are_in_their_order():
    model = compose("gas-plume", BOX, unit="ppm", gas="methane", wind="unknown")
    own = ["q", "height", "stability", "lateral", "vertical", "meander"]
    assert names_of(model) == ["x", "y", *own, "ux", "uy", "background", "noise_ratio", "noise_floor"]
    units = {parameter.name: parameter.unit for parameter in model.prior.parameters}
    assert (units["q"], units["background"], units["noise_floor"]) == ("g/s", "ppm", "ppm")
    assert isinstance(model.sensor, AboveBackground)
    assert isinstance(model.sensor.sensor, UnknownNoise)


def test_known_numbers_leave_no_columns(stations):
    """The composed field is the plain one with the known numbers written in."""
    model = compose(
        "gas-plume",
        BOX,
        unit="mg/m3",
        distributions={"height": 0.5, "stability": 3, "turn": 0, "meander": 0.2, "lateral": 1.0},
        background=1.5,
        noise={"noise_ratio": 0.2, "noise_floor": Normal(1.0, 0.1)},
    )
    assert names_of(model) == ["x", "y", "q", "vertical", "speed", "noise_floor"]
    plain = GaussianPlume(1e3)
    full = jnp.float32([50, 50, 2, 0.5, 3, 1, 1.1, 0.2, 0, 0.9, *BRIGGS.values()])
    expected = 1.5 + np.asarray(jax.jit(jax.vmap(plain, in_axes=(None, 0)))(full, stations))
    ours = intensities(model, [50, 50, 2, 1.1, 0.9, 3.0], stations)
    np.testing.assert_allclose(ours, expected, rtol=1e-5)
    assert model.sensor.sensor.sensor.noise_ratio == 0.2


def test_what_is_usually_known_may_be_unknown():
    """The word `unknown` gives it the default distribution; a distribution may also be given."""
    model = compose(
        "gas-plume", BOX, distributions={"reach": "unknown", "rise": Normal(0, 0.1)}, background=None
    )
    assert names_of(model)[-4:] == ["reach", "rise", "noise_ratio", "noise_floor"]
    assert "attenuation" in names_of(compose("level", BOX, distributions={"attenuation": "unknown"}))


def test_redundant_readings_count_less(stations):
    """With noise that is unknown too: the log likelihood is divided, the draws stay as they are."""
    one, four = (compose("level", BOX, redundancy=count) for count in (1, 4))
    theta, here = jnp.float32([50, 50, -40, 2, 1, 5]), jax.tree.map(lambda leaf: leaf[0], stations)
    terms = [
        float(eqx.filter_jit(model.log_likelihood)(theta, here, jnp.float32(-70))) for model in (one, four)
    ]
    assert terms[0] == pytest.approx(4 * terms[1], rel=1e-5)
    key = jax.random.key(0)
    draws = [eqx.filter_jit(model.sample_reading)(key, theta, here) for model in (one, four)]
    assert draws[0] == draws[1]


def test_wind_given_inferred_and_measured_agree(stations):
    """The same wind by three ways gives the same readings."""
    known = {"turn": 0.0, "speed": 1.0}
    measured = compose("gas-plume", BOX, distributions=known)
    given = compose("gas-plume", BOX, distributions=known, wind=(3, 1))
    inferred = compose("gas-plume", BOX, wind="unknown")
    theta = [40.0, 40.0, 900.0, 1.0, 2.0, 1.0, 1.0, 0.3]
    rest = [1.0, 0.1, 0.01]
    expected = intensities(measured, theta + rest, stations)
    np.testing.assert_allclose(intensities(given, theta + rest, stations), expected, rtol=1e-5)
    np.testing.assert_allclose(
        intensities(inferred, [*theta, 3.0, 1.0, *rest], stations), expected, rtol=1e-5
    )


def test_a_benchmark_field_is_as_it_was():
    assert compose("gas", UniformBox()) == benchmark_model("gas")
    wider = compose("gas", BOX, options={"strength": (1.0, 5.0)})
    assert wider.prior.strength == (1.0, 5.0)
    assert wider.prior.location == BOX


def test_noise_is_normal_or_robust_or_counted():
    noise = {"noise_floor": 4, "correlation": 0}
    level = lambda **given: compose("level", BOX, noise=noise, **given).sensor  # noqa: E731
    assert level() == Gaussian(0.0, 4.0)
    assert level(robust=True) == StudentT(0.0, 4.0, 4.0)
    assert level(robust=7) == StudentT(0.0, 4.0, 7.0)
    known = {"background": None, "noise": {"noise_ratio": 0.2}, "variation": 0.0, "shielded": 0.0}
    counter = compose("radiation", BOX, dead_time=1e-5, **known).sensor
    assert counter == UncertainCounting(Counting(1e-5), 0.2)
    assert compose("temperature", BOX, robust=3.0).sensor == StudentT(0.10, 0.01, 3.0)
    assert compose("noise", BOX, noise={"spread": 2.0}).sensor.spread == 2.0


def test_counts_err_by_more_than_poissons_law_by_default():
    """By an unknown share of the source, a tenth of them shielded, over a background that varies."""
    model = compose("radiation", BOX)
    assert names_of(model)[-2:] == ["background", "noise_ratio"]
    assert model.prior.distributions[-1] == LogNormal(0.15, 2.0)
    counter = model.sensor.bind(jnp.float32([50, 50, 1e4, 0, 1, 10, 0.3])).sensor
    assert (float(counter.noise_ratio), counter.variation, counter.shielded) == (
        pytest.approx(0.3),
        0.05,
        0.1,
    )
    exact = {"noise": {"noise_ratio": 0}, "variation": 0.0, "shielded": 0.0}
    assert compose("radiation", BOX, **exact).sensor == Counting()


@pytest.mark.slow_after(3)
@pytest.mark.parametrize("kind", NAMES)
def test_without_a_source_its_place_says_nothing(kind, stations, key):
    """The null model has the same columns; its readings do not depend on x and y, nor on the station."""
    model = compose(kind, BOX, wind=(2.0, 1.0) if kind == "gas-buildings" else "measured")
    null = without_source(model)
    assert null.prior == model.prior
    thetas = jax.jit(jax.vmap(model.prior.sample))(jax.random.split(key, 2))
    here, there = (intensities(null, thetas[0].at[:2].set(thetas[at, :2]), stations) for at in (0, 1))
    assert np.array_equal(here, there)
    assert (here == here[0]).all()


def test_unknown_units_keep_the_readings_unit():
    assert kind_of("gas-plume", "volts").parameters[0].unit == "volts·m³/s"
    assert kind_of("level", "dBm").parameters[0].unit == "dBm"


def test_the_noise_of_levels_is_in_decibels():
    """Whatever they are levels over; the level itself keeps that."""
    units = {
        parameter.name: parameter.unit for parameter in compose("level", BOX, unit="dBm").prior.parameters
    }
    assert (units["level"], units["noise_floor"]) == ("dBm", "dB")


@pytest.mark.parametrize(
    ("kind", "given", "word"),
    [
        ("gas-plum", {}, "did you mean 'gas-plume'"),
        ("gas-plume", {"distributions": {"heigth": 1.0}}, "did you mean 'height'"),
        ("gas-plume", {"distributions": {"height": np.nan}}, "`height`"),
        ("gas-plume", {"wind": "west"}, "`wind`"),
        ("gas-plume", {"wind": (1.0, np.nan)}, "`wind`"),
        ("gas-plume", {"background": "some"}, "`background`"),
        ("gas-plume", {"background": None, "sensors": ("A", "B")}, "`sensors`"),
        ("gas-plume", {"noise": {"spread": 1.0}}, "noise of gas-plume"),
        ("gas-plume", {"options": {"speed": 1.0}}, "options of gas-plume"),
        ("gas-plume", {"gas": "phlogiston"}, "phlogiston"),
        ("gas-plume", {"dead_time": 1e-3}, "`dead_time`"),
        ("radiation", {"gas": "methane"}, "`gas`"),
        ("radiation", {"robust": True}, "`robust`"),
        ("radiation", {"wind": "unknown"}, "`wind`|unknown"),
        ("level", {"lag": "some"}, "`lag`"),
        ("gas", {"robust": True}, "`robust`"),
        ("gas", {"distributions": {"q": 1.0}}, "`distributions`"),
        ("gas", {"background": "unknown"}, "distribution"),
    ],
)
def test_refuses_in_one_line(kind, given, word):
    with pytest.raises(ValueError, match=word) as caught:
        compose(kind, BOX, **given)
    assert "\n" not in str(caught.value)
