"""Site files: what is understood of them; `test_site_oddities` has what is refused or asked about."""

import re

import jax.numpy as jnp
import numpy as np
import pytest

from dowsax.geo import Frame
from dowsax.site import NEW_SITE, new_site, parse_site
from dowsax.site.kinds import KINDS, parameter_names, world_unit
from dowsax.site.settings import LawSetting
from dowsax.types import Station
from dowsax.world import MODALITIES
from dowsax.world import kinds as world_kinds
from dowsax.world.sensors.above_background import AboveBackground
from dowsax.world.sensors.fuzzy_edge import FuzzyEdge
from dowsax.world.sensors.swaying_wind import SwayingWind

AREA = "[area]\nlow = [0, 0]\nhigh = [200, 150]\n"
DEGREES = "[area]\nsouth = 52.1\nwest = 5.1\nnorth = 52.102\neast = 5.103\n"


def site(text="", kind="gas-plume", area=AREA):
    return parse_site(f'{area}[field]\nkind = "{kind}"\n{text}')


def test_the_new_site_reads_back():
    """And says what it means to say."""
    new = parse_site(NEW_SITE)
    assert (new.low, new.high) == ((0.0, 0.0), (200.0, 150.0))
    assert (new.kind, new.unit, new.gas) == ("gas-plume", "ppm", "methane")
    assert new.prior["q"] == LawSetting("range", 0.001, 10.0)
    assert (new.budget.distance, new.budget.readings, new.budget.time) == (2000.0, 100, 1800.0)
    assert new.text == NEW_SITE


def complaint(text):
    """What is wrong with a site, or nothing."""
    try:
        parse_site(text)
    except ValueError as error:
        return str(error)
    return ""


def refused_when_used(text):
    """Whether each key behind a # is refused when the # is taken away, for this one alone."""
    lines, complaints = text.splitlines(), {}
    for index, line in enumerate(lines):
        if re.match(r"# [a-z_]+ = \S+( *\S)*$", line):
            changed = [*lines[:index], line.removeprefix("# "), *lines[index + 1 :]]
            complaints.setdefault(line.split()[1], complaint("\n".join(changed)))
    return {name: bool(words) for name, words in complaints.items()}


def test_every_commented_key_may_be_used():
    """But for those that the kind or another key excludes."""
    refused = refused_when_used(NEW_SITE)
    another_kind = {"standoff", "inclination", "declination", "dead_time", "dwell"}
    another_mode = {"south", "west", "north", "east", "value", "speed", "from", "velocity", "points"}
    assert {name for name, is_refused in refused.items() if is_refused} == another_kind | another_mode
    assert {name for name, is_refused in refused.items() if not is_refused} == {
        *("origin", "size", "names", "lag", "particles", "time", "event", "redundancy", "edge"),
        *("height", "hold", "source_low", "source_high", "growth"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_site_of_every_kind(kind):
    """It is of that kind, and shows no key that has no use there."""
    text = new_site(kind)
    assert parse_site(text).kind == kind
    refused = refused_when_used(text)
    another_mode = {"south", "west", "north", "east", "points", "value", "speed", "from", "velocity"}
    another_kind = {"standoff", "inclination", "declination", "dead_time", "dwell"}
    allowed = another_mode | (another_kind if kind == "gas-plume" else set())
    assert {name for name, is_refused in refused.items() if is_refused} <= allowed
    assert max(map(len, text.splitlines())) <= 110


def test_the_kind_of_a_new_site_is_known():
    with pytest.raises(ValueError, match="Unknown kind 'neutrinos'; known are gas-plume, radiation"):
        new_site("neutrinos")


def test_the_template_shows_every_key():
    """Every key that any section knows is in the new site."""
    shown = set(re.findall(r"^(?:# )?([a-z_]+) = ", NEW_SITE, re.MULTILINE))
    for section in ("area", "geofence", "no_go", "field", "background", "noise", "wind", "sensor", "start"):
        with pytest.raises(ValueError, match="unknown key; known are") as caught:
            parse_site(_with_unknown_key(section))
        known = re.findall(r"\w+", str(caught.value).split("known are ")[1])
        missing = {key for key in known if key not in shown and f"{key} = " not in NEW_SITE}
        assert not missing, (section, missing)


def _with_unknown_key(section):
    if section in ("area", "field"):
        return f'{AREA}[field]\nkind = "level"\n'.replace(f"[{section}]\n", f"[{section}]\nqqqqqqq = 1\n")
    header = f"[[{section}]]" if section in ("geofence", "no_go") else f"[{section}]"
    return f'{AREA}[field]\nkind = "level"\n{header}\nqqqqqqq = 1\n'


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_a_model(kind):
    """A site that says nothing but area and kind has a prior on the area."""
    parameters = site(kind=kind).model().prior.parameters
    assert [parameter.name for parameter in parameters[:2]] == ["x", "y"]
    facts = KINDS[kind]
    if kind in MODALITIES:
        assert facts.unit == MODALITIES[kind].unit
        return
    for unit in facts.units:
        physics = world_kinds.kind_of(kind, world_unit(unit))
        assert facts.uses_wind == physics.windy
        assert set(facts.options) | {"altitude"} == set(physics.options)
        names = [parameter.name for parameter in physics.parameters]
        assert list(parameter_names(kind, unit, infers_wind=False)) == names


def test_kinds_are_those_of_the_world():
    assert set(KINDS) == {*world_kinds.KINDS, *MODALITIES}


def test_settings_become_laws():
    """Ranges take the scale of the usual law, known numbers leave the model, the rest is as said."""
    made = site(
        'gas = "methane"\nunit = "ppb"\n[prior]\nq = [0.01, 10]\nheight = 2\nturn = {mean = 5, std = 2}\n'
        '[background]\nmode = "per-sensor"\nrange = [1700, 2500]\n[noise]\n'
        'floor = {median = 10, factor = 3}\nratio = 0.2\nrobust = true\n[sensor]\nnames = ["a", "b"]\n'
        'lag = "unknown"\n'
    )
    prior = made.model().prior
    laws = dict(zip((item.name for item in prior.parameters[2:]), prior.laws, strict=True))
    assert "height" not in laws
    assert "noise_ratio" not in laws
    assert (type(laws["q"]).__name__, laws["q"].low, laws["q"].high) == ("LogUniform", 0.01, 10.0)
    assert (laws["turn"].mean, laws["turn"].std) == (5.0, 2.0)
    assert (laws["background b"].low, laws["background b"].high) == (1700.0, 2500.0)
    assert (laws["noise_floor"].median, laws["noise_floor"].factor) == (10.0, 3.0)
    assert "lag" in laws


def test_readings_that_err_together_count_as_fewer():
    """With a redundancy of 4, four readings say what one says without."""
    text = '[background]\nmode = "none"\n[noise]\nfloor = 0.1\nratio = 0.2\n[sensor]\n'
    alone, together = site(text).model(), site(text + "redundancy = 4\n").model()
    arguments = (jnp.asarray(2.0), jnp.asarray(1.5), Station(jnp.zeros(2)))
    whole, part = (model.sensor.log_prob(*arguments) for model in (alone, together))
    np.testing.assert_allclose(4 * part, whole, rtol=1e-6)
    with pytest.raises(ValueError, match=r"sensor\.redundancy"):
        site("[sensor]\nredundancy = 0.5\n")


def test_backgrounds_by_sensor_need_the_sensors():
    made = site('[background]\nmode = "per-sensor"\n')
    names = [item.name for item in made.model(("N", "S")).prior.parameters]
    assert {"background N", "background S"} <= set(names)
    with pytest.raises(ValueError, match=r"site\.toml, line 7, background\.mode: which sensors"):
        made.model()


def test_an_area_in_degrees():
    """The origin is the middle, and the box in metres holds every corner."""
    made = site(area=DEGREES)
    assert made.frame == Frame((52.101, 5.1015))
    corners = made.frame.to_metres([52.1, 52.1, 52.102, 52.102], [5.1, 5.103, 5.1, 5.103])
    assert (corners >= made.low).all()
    assert (corners <= made.high).all()
    np.testing.assert_allclose(np.subtract(made.high, made.low), [205.6, 222.5], atol=0.2)


def test_places_in_degrees_and_in_metres_are_the_same():
    """Polygons, start and points may be given either way."""
    metres = np.array([[10.0, 20.0], [150.0, 20.0], [150.0, 120.0]])
    frame = Frame((52.1, 5.1))
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
    assert usual.model().prior.strength == said.model().prior.strength


def test_an_area_across_the_180th_meridian():
    """West of it is a large number and east of it a small one; the box is as wide as the two are apart."""
    area = "[area]\nsouth = -17.01\nwest = 179.99\nnorth = -17\neast = -179.98\n"
    made, usual = site(area=area), site(area=area.replace("179.99", "5.00").replace("-179.98", "5.03"))
    np.testing.assert_allclose(made.area, usual.area, atol=1e-3)
    assert made.frame.origin == pytest.approx((-17.005, -179.995))
    ((x, _),) = made.frame.to_metres(-17.005, 179.995)
    assert made.low[0] < x < made.high[0]


def test_the_edge_is_that_of_a_gas_plume():
    """It reaches the sensor of the model; other kinds have none."""
    sensor = site("[noise]\nedge = 0.1\n[wind]\ndirection_error = 0\n").model().sensor
    assert isinstance(sensor, AboveBackground)
    assert isinstance(sensor.sensor, FuzzyEdge)
    with pytest.raises(ValueError, match=r"noise\.edge"):
        site("[noise]\nedge = 0.1\n", kind="level")


def test_the_growth_of_a_gas_plume_may_be_unknown():
    """Five further columns with their usual laws, but for what [prior] says; other kinds have none."""

    def named(text):
        return [parameter.name for parameter in parse_site(text).model().prior.parameters]

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
    site = "area = {{low = [0, 0], high = [20, 10]{part}}}\nfield = {{kind = 'gas'}}"
    for part, low, high in (
        ("", (0.0, 0.0), (20.0, 10.0)),
        (", source_low = [5, 2]", (5.0, 2.0), (20.0, 10.0)),
        (", source_low = [5, 2], source_high = [9, 4]", (5.0, 2.0), (9.0, 4.0)),
    ):
        location = parse_site(site.format(part=part)).model().prior.location
        assert (location.low, location.high) == (low, high)
    for corner, words in (([0, 4], "encloses nothing"), ([9, 11], "outside the area")):
        with pytest.raises(ValueError, match=words):
            parse_site(site.format(part=f", source_high = {corner}"))


def test_the_error_of_a_measured_wind_is_10_degrees_unless_it_is_said():
    """It reaches the sensor of the model; a wind that is not measured has none."""
    sensor = site().model().sensor
    assert isinstance(sensor, AboveBackground)
    assert isinstance(sensor.sensor, SwayingWind)
    assert sensor.sensor.error == 10
    exact = site("[wind]\ndirection_error = 0\n")
    assert exact.wind.direction_error == 0
    assert not isinstance(exact.model().sensor.sensor, SwayingWind)
    assert site('[wind]\nmode = "unknown"\n').wind.direction_error == 0
    for wrong in ('mode = "unknown"\ndirection_error = 5', "direction_error = 60", "direction_error = -1"):
        with pytest.raises(ValueError, match=r"wind\.direction_error"):
            site(f"[wind]\n{wrong}\n")
