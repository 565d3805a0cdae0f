"""Gas among buildings: the open field against its exact solution, and the model of it."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import k0

from dowsax.types import Station
from dowsax.world import Obstacle, UniformBox, compose, without_source
from dowsax.world.fields.among_buildings import AmongBuildings

LOW, HIGH, WIND, DEPTH_M = (0.0, 0.0), (60.0, 45.0), (2.0, 1.0), 4.0
HOUSE = Obstacle(np.array([[25.0, 15.0], [37.0, 15.0], [37.0, 30.0], [25.0, 30.0]]))
SOURCE = np.array([14.0, 14.0])


@pytest.fixture(scope="module")
def open_field():
    return AmongBuildings.of(LOW, HIGH, [], WIND, depth=DEPTH_M, gain=7.0)


@eqx.filter_jit
def intensity(field, theta, station):
    return field(theta, station)


def read(field, theta, place):
    return float(intensity(field, jnp.asarray(theta, jnp.float32), Station(jnp.asarray(place, jnp.float32))))


@pytest.mark.parametrize("spread", [1.5, 2.0, 3.0, 4.0, 6.0])
def test_the_open_field_has_the_plume_of_advection_and_diffusion(open_field, spread):
    r"""$\frac{q}{2 \pi D H} e^{u x / 2 D} K_0(u r / 2 D)$ in two dimensions, from 8 m of the source on.

    The cells are 1.25 m wide, which adds at most that much times the two sines of 0.9 and 0.45 to D/u, by
    half: 0.25 m; and clean air is 15 m outside of the box.
    """
    speed = math.hypot(*WIND)
    axis = np.array(WIND) / speed
    across = np.array([-axis[1], axis[0]])
    for along, aside in ((8.0, 0.0), (16.0, 3.0), (28.0, 0.0), (28.0, 5.0)):
        place = SOURCE + along * axis + aside * across
        exact = 7.0 * 5.0 / (2 * math.pi * spread * speed * DEPTH_M)
        exact *= math.exp(along / (2 * spread)) * k0(math.hypot(along, aside) / (2 * spread))
        found = read(open_field, [*SOURCE, 5.0, spread], place)
        assert found == pytest.approx(exact, rel=0.25 / spread + 0.05)


def test_finer_cells_change_little():
    """Among buildings there is no closed form: half the cell, and the same to 15 % 10 m and more away."""
    coarse, fine = (AmongBuildings.of(LOW, HIGH, [HOUSE], WIND, cells=cells) for cells in (22, 44))
    for place in ((44.0, 22.0), (44.0, 35.0), (30.0, 10.0), (50.0, 30.0)):
        one, other = (read(field, [*SOURCE, 1.0, 4.0], place) for field in (coarse, fine))
        assert one == pytest.approx(other, rel=0.15)


def test_a_house_leaves_less_behind_it():
    """Behind the middle of the house, straight downwind; the gas goes around it."""
    open_field, house = (
        AmongBuildings.of(LOW, HIGH, houses, WIND, depth=DEPTH_M, gain=7.0, cells=24)
        for houses in ([], [HOUSE])
    )
    behind, beside = (39.0, 26.5), (44.0, 15.0)
    theta = [*SOURCE, 5.0, 2.0]
    assert read(house, theta, behind) < 0.9 * read(open_field, theta, behind)
    assert read(house, theta, beside) > 1.1 * read(open_field, theta, beside)


def test_readings_are_in_proportion_to_the_rate_and_one_over_the_wind():
    slow, fast = (AmongBuildings.of(LOW, HIGH, [HOUSE], (speed, 0.0), cells=16) for speed in (1.0, 3.0))
    one, three = (
        read(field, [*SOURCE, rate, 2.0], (50.0, 20.0)) for field, rate in ((slow, 1.0), (fast, 3.0))
    )
    assert one == pytest.approx(three, rel=1e-5)


def test_no_reading_is_nan_anywhere():
    """In the house, outside the box, and far upwind, where next to nothing arrives."""
    field = AmongBuildings.of(LOW, HIGH, [HOUSE], WIND, cells=16)
    for place in ((30.0, 20.0), (-500.0, 900.0), (60.0, 45.0)):
        for spread in (0.01, 1.0, 100.0):
            assert read(field, [59.0, 44.0, 1.0, spread], place) >= 0


def test_the_model_has_a_source_in_the_open_and_methane_in_ppm():
    model = compose("gas-buildings", UniformBox(LOW, HIGH), obstacles=[HOUSE], wind=WIND, gas="methane")
    names = [parameter.name for parameter in model.prior.parameters]
    assert names[:4] == ["x", "y", "q", "spread"]
    inside = eqx.filter_jit(model.prior.sample)(jax.random.key(0)).at[:2].set(jnp.float32([30.0, 20.0]))
    assert eqx.filter_jit(model.prior.log_prob)(inside) == -jnp.inf
    here = Station(jnp.float32([50.0, 30.0]))
    theta = inside.at[:2].set(jnp.float32(SOURCE))
    with_it, without = (eqx.filter_jit(one.intensity)(theta, here) for one in (model, without_source(model)))
    added = float(with_it) - float(without)
    grams = AmongBuildings.of(LOW, HIGH, [HOUSE], WIND)
    # 24.05 l/mol at 15 °C and 1 atm is 23.64: 1 g/m³ of methane are 1,474 ppm.
    assert added / read(grams, theta[:4], here.position) == pytest.approx(1474, rel=2e-3)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"wind": "measured"}, "solved for one wind"),
        ({"wind": (0.0, 0.05)}, "at least 0.1 m/s"),
        ({"wind": (1.0, math.nan)}, "two finite numbers"),
        ({"options": {"depth": 0.0}}, "`depth` of the mixed layer must be > 0 m"),
    ],
)
def test_bad_input_is_one_line(given, words):
    with pytest.raises(ValueError, match=words):
        compose("gas-buildings", UniformBox(LOW, HIGH), **{"wind": WIND, **given})
