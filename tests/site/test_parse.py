"""Site files that are understood, and the models they make; `test_errors` has what is refused."""

import jax.numpy as jnp
import numpy as np
import pytest
from made_sites import AREA, DEGREES, site

from dowsax.geo import LocalCoordinates
from dowsax.site import NEW_SITE, build_model, new_site, parse_site
from dowsax.types import Station
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.swaying_wind import SwayingWind


def test_settings_become_distributions():
    """Ranges take the scale of the usual distribution, known numbers leave the model, the rest is as said."""
    made = site(
        'gas = "methane"\nunit = "ppb"\n[prior]\nq = [0.01, 10]\nheight = 2\nturn = {mean = 5, std = 2}\n'
        '[background]\nmode = "per-sensor"\nrange = [1700, 2500]\n[noise]\n'
        'floor = {median = 10, factor = 3}\nratio = 0.2\nrobust = true\n[sensor]\nnames = ["a", "b"]\n'
        'lag = "unknown"\n'
    )
    prior = build_model(made).prior
    distributions = dict(zip((item.name for item in prior.parameters[2:]), prior.distributions, strict=True))
    assert "height" not in distributions
    assert "noise_ratio" not in distributions
    assert (type(distributions["q"]).__name__, distributions["q"].low, distributions["q"].high) == (
        "LogUniform",
        0.01,
        10.0,
    )
    assert (distributions["turn"].mean, distributions["turn"].std) == (5.0, 2.0)
    assert (distributions["background b"].low, distributions["background b"].high) == (1700.0, 2500.0)
    assert (distributions["noise_floor"].median, distributions["noise_floor"].factor) == (10.0, 3.0)
    assert "lag" in distributions


def test_readings_that_err_together_count_as_fewer():
    """With a redundancy of 4, four readings say what one says without."""
    text = '[background]\nmode = "none"\n[noise]\nfloor = 0.1\nratio = 0.2\n[sensor]\n'
    alone, together = build_model(site(text)), build_model(site(text + "redundancy = 4\n"))
    arguments = (jnp.asarray(2.0), jnp.asarray(1.5), Station(jnp.zeros(2)))
    whole, part = (model.sensor.log_prob(*arguments) for model in (alone, together))
    np.testing.assert_allclose(4 * part, whole, rtol=1e-6)
    with pytest.raises(ValueError, match=r"sensor\.redundancy"):
        site("[sensor]\nredundancy = 0.5\n")


def test_backgrounds_by_sensor_need_the_sensors():
    made = site('[background]\nmode = "per-sensor"\n')
    names = [item.name for item in build_model(made, ("N", "S")).prior.parameters]
    assert {"background N", "background S"} <= set(names)
    with pytest.raises(ValueError, match=r"site\.toml, line 7, background\.mode: which sensors"):
        build_model(made)


def test_an_area_in_degrees():
    """The origin is the middle, and the box in metres holds every corner."""
    made = site(area=DEGREES)
    assert made.coordinates == LocalCoordinates((52.101, 5.1015))
    corners = made.coordinates.to_metres([52.1, 52.1, 52.102, 52.102], [5.1, 5.103, 5.1, 5.103])
    assert (corners >= made.low).all()
    assert (corners <= made.high).all()
    np.testing.assert_allclose(np.subtract(made.high, made.low), [205.6, 222.5], atol=0.2)


def test_places_in_degrees_and_in_metres_are_the_same():
    """Polygons, start and points may be given either way."""
    metres = np.array([[10.0, 20.0], [150.0, 20.0], [150.0, 120.0]])
    frame = LocalCoordinates((52.1, 5.1))
    degrees = frame.to_degrees(metres).tolist()
    area = f"{AREA}origin = [52.1, 5.1]\n"
    text = (
        f"[[geofence]]\ncorners_degrees = {degrees}\n[step]\npoints_degrees = {degrees}\n"
        f"[start]\nposition_degrees = {frame.to_degrees([[140.0, 60.0]])[0].tolist()}\n"
    )
    made = site(text, area=area)
    np.testing.assert_allclose(made.geofence[0], metres, atol=1e-3)
    np.testing.assert_allclose(made.step.points, metres, atol=1e-3)
    np.testing.assert_allclose(made.start, (140.0, 60.0), atol=1e-3)


def test_constant_wind_is_written_either_way():
    assert site("[wind]\nspeed = 3\nfrom = 270\n").wind.velocity == pytest.approx((3.0, 0.0))
    assert site("[wind]\nvelocity = [3, 0]\n").wind.velocity == (3.0, 0.0)


def test_unknown_is_the_usual_range_of_a_benchmark_field():
    usual, said = site(kind="gas"), site('[prior]\nstrength = "unknown"\n', "gas")
    assert build_model(usual).prior.strength == build_model(said).prior.strength


def test_an_area_across_the_180th_meridian():
    """West of it is a large number and east of it a small one; the box is as wide as the two are apart."""
    area = "[area]\nsouth = -17.01\nwest = 179.99\nnorth = -17\neast = -179.98\n"
    made, usual = site(area=area), site(area=area.replace("179.99", "5.00").replace("-179.98", "5.03"))
    np.testing.assert_allclose(made.area, usual.area, atol=1e-3)
    assert made.coordinates.origin == pytest.approx((-17.005, -179.995))
    ((x, _),) = made.coordinates.to_metres(-17.005, 179.995)
    assert made.low[0] < x < made.high[0]


def test_the_edge_is_that_of_a_gas_plume():
    """It reaches the sensor of the model; other kinds have none."""
    sensor = build_model(site("[noise]\nedge = 0.1\n[wind]\ndirection_error = 0\n")).sensor
    assert isinstance(sensor, AboveBackground)
    assert isinstance(sensor.sensor, FuzzyEdge)
    with pytest.raises(ValueError, match=r"noise\.edge"):
        site("[noise]\nedge = 0.1\n", kind="level")


def test_the_growth_of_a_gas_plume_may_be_unknown():
    """Five further columns with their usual distributions, but for what [prior] says."""

    def named(text):
        return [parameter.name for parameter in build_model(parse_site(text)).prior.parameters]

    usual = named(NEW_SITE)
    grown = NEW_SITE.replace('# growth = "unknown"', 'growth = "unknown"')
    assert set(named(grown)) - set(usual) == {"reach", "widen", "curve", "rise", "bend"}
    known = grown.replace("[prior]\n", "[prior]\nrise = 0.1\n")
    assert set(named(grown)) - set(named(known)) == {"rise"}
    with pytest.raises(ValueError, match=r"field\.growth: level has none"):
        parse_site(new_site("level").replace("[field]\n", '[field]\ngrowth = "unknown"\n'))


def test_how_plans_fly():
    flight = site("[flight]\nheight = 30\nspeed = 4\nhold = 12\n").flight
    assert (flight.height, flight.speed, flight.hold) == (30.0, 4.0, 12.0)
    assert site().flight.height is None


def test_the_source_lies_in_a_part_of_the_area():
    """The prior is uniform on that part, its corners the area's where they are not given."""
    text = "area = {{low = [0, 0], high = [20, 10]{part}}}\nfield = {{kind = 'gas'}}"
    for part, low, high in (
        ("", (0.0, 0.0), (20.0, 10.0)),
        (", source_low = [5, 2]", (5.0, 2.0), (20.0, 10.0)),
        (", source_low = [5, 2], source_high = [9, 4]", (5.0, 2.0), (9.0, 4.0)),
    ):
        location = build_model(parse_site(text.format(part=part))).prior.location
        assert (location.low, location.high) == (low, high)
    for corner, words in (([0, 4], "encloses nothing"), ([9, 11], "outside the area")):
        with pytest.raises(ValueError, match=words):
            parse_site(text.format(part=f", source_high = {corner}"))


def test_the_error_of_a_measured_wind_is_10_degrees_unless_it_is_said():
    """It reaches the sensor of the model; a wind that is not measured has none."""
    sensor = build_model(site()).sensor
    assert isinstance(sensor, AboveBackground)
    assert isinstance(sensor.sensor, SwayingWind)
    assert sensor.sensor.error == 10
    exact = site("[wind]\ndirection_error = 0\n")
    assert exact.wind.direction_error == 0
    assert not isinstance(build_model(exact).sensor.sensor, SwayingWind)
    assert site('[wind]\nmode = "unknown"\n').wind.direction_error == 0
    for wrong in ('mode = "unknown"\ndirection_error = 5', "direction_error = 60", "direction_error = -1"):
        with pytest.raises(ValueError, match=r"wind\.direction_error"):
            site(f"[wind]\n{wrong}\n")
