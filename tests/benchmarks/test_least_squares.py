"""The plain fit that the belief is compared with: it finds the plume that made the readings."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import least_squares, real
from benchmarks.least_squares import Pair
from benchmarks.table_files import TABLES
from dowsax.types import Station
from dowsax.world import GaussianPlume
from dowsax.world.fields.gaussian_plume import BRIGGS

SOURCE = np.array([-60.0, 25.0])
DIRECTION = math.radians(20)


def _arcs() -> np.ndarray:
    """Samplers on three arcs downwind of the source."""
    angles = DIRECTION + np.radians(np.arange(-24, 25, 4))
    spokes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([SOURCE + radius * spokes for radius in (50, 100, 200)])


@pytest.mark.parametrize("stability", range(6))
def test_the_plume_is_that_of_the_package_straight_downwind(stability):
    """With Briggs' spreads; they differ by how a spread of directions differs from one across."""
    places = SOURCE + np.outer([50.0, 200.0, 800.0], [math.cos(DIRECTION), math.sin(DIRECTION)])
    speed, rate = 3.0, 2.0
    known = {
        "q": rate,
        "height": least_squares.RELEASE,
        "stability": stability,
        "lateral": 1.0,
        "vertical": 1.0,
    }
    still = {"meander": 0.0, "turn": 0.0, "speed": 1.0}
    theta = jnp.float32([*SOURCE, *(known | still | BRIGGS).values()])
    wind = jnp.float32([speed * math.cos(DIRECTION), speed * math.sin(DIRECTION)])
    ours = [GaussianPlume(size=1e-3)(theta, Station(jnp.float32(place), wind=wind)) for place in places]
    log_rate = math.log(rate / (2 * math.pi * speed))
    plain = least_squares.plume(SOURCE, log_rate, DIRECTION, stability, places, 1.5)
    # To the order of 1/κ a von Mises density at its mode is a normal one; and 0.01 m/s is the least meander.
    lateral = least_squares.LATERAL[stability]
    np.testing.assert_allclose(plain, ours, rtol=lateral**2 + (0.01 / speed / lateral) ** 2)


@pytest.mark.parametrize("wind", [np.array([2.9, 1.3]), None], ids=["measured", "unknown"])
def test_clean_readings_lead_to_their_source(wind):
    """With the wind measured a few degrees off, and not at all."""
    places = _arcs()
    values = least_squares.plume(SOURCE, math.log(4e3), DIRECTION, 3, places, 1.5)
    stations = Station(
        jnp.float32(places),
        wind=None if wind is None else jnp.tile(jnp.float32(wind), (len(places), 1)),
        altitude=jnp.full(len(places), 1.5),
    )
    found = least_squares.fit(stations, values, starts=4)
    # Places are float32 of up to 300 m; a fit ends when it improves by 1e-8.
    np.testing.assert_allclose(found.position, SOURCE, atol=0.01)


def test_the_table_tells_the_two_apart():
    pairs = [
        Pair("1", "unknown", 40.0, 20.0),
        Pair("5", "measured", 6.0, 8.0),
        Pair("7", "measured", 9.0, 4.0),
    ]
    lines = least_squares.table(pairs).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["all", "wind measured", "wind unknown"]
    assert "9.0 m [" in lines[2]
    assert "2 of 3" in lines[2]
    assert "7.5 m [" in lines[3]


def test_the_page_shows_what_was_measured():
    """The table in the docs is that of the numbers beside it, and these are of the belief's own lines."""
    pairs = least_squares.read(least_squares.OUT)
    believed = {one.name: one.error for one in real.read(real.OUT) if one.group == "prairie"}
    assert {one.name: one.believed for one in pairs} == believed
    table = (TABLES / "real/least-squares.md").read_text(encoding="utf-8")
    assert least_squares.table(pairs).strip() == table.strip()
