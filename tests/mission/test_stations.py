"""From readings to stations: what each model needs is asked for, and nothing else."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from made_missions import MODEL

from dowsax.mission.stations import TRAIL_LENGTH, Stations, default_altitude, required_measurements
from dowsax.site import build_model, parse_site
from dowsax.site.area import ListedPath
from dowsax.site.schema import SensorSetting
from dowsax.survey.reading import Reading, Refused
from dowsax.types import Station
from dowsax.world.trails import with_trail

SITE = """
area = {{low = [0, 0], high = [100, 80]}}
field = {{kind = "{kind}"}}
{more}
"""
SENSORS = """
sensor = {names = ["A", "B"]}
background = {mode = "per-sensor", range = [20, 40]}
"""


def model(kind, more=""):
    return build_model(parse_site(SITE.format(kind=kind, more=more)))


@pytest.mark.parametrize(
    ("of", "names"),
    [
        (MODEL, ()),
        (model("gas-plume"), ("wind", "altitude")),
        (model("radiation"), ("altitude", "dwell")),
        (model("level", SENSORS), ("altitude", "sensor")),
        (model("level", "sensor = {lag = 5}"), ("altitude", "trail")),
        (model("level", "sensor = {lag = 5, beam = 60}"), ("altitude", "trail", "heading")),
        (
            model("radiation", 'background = {mode = "measured"}\nsensor = {efficiency = "measured"}'),
            ("altitude", "dwell", "background", "efficiency"),
        ),
        (model("gas-plume", 'sensor = {reading = "binary"}'), ("wind", "altitude", "dwell")),
        (
            model("gas-plume", 'sensor = {reading = "rank", names = ["A", "B"]}'),
            ("wind", "altitude", "sensor"),
        ),
    ],
    ids=["hill", "plume", "radiation", "sensors", "lag", "beam", "known", "hits", "ranks"],
)
def test_what_a_model_needs_is_found(of, names):
    assert required_measurements(of) == names


def test_what_is_missing_is_filled_in_or_asked_for():
    """By the reading, the site, or the field, in this order; a wind is held only where the site says so."""
    plume = Stations(("wind", "altitude"), altitude=default_altitude(model("gas-plume")))
    with pytest.raises(Refused, match="wind is missing"):
        plume.complete(Reading((1.0, 2.0), 3.0), ())
    windy = Reading((1.0, 2.0), 3.0, wind=(2.0, 1.0), altitude=9.0)
    assert plume.complete(Reading((1.0, 2.0), 3.0, wind=(2.0, 1.0)), ()).altitude == 1.5
    holding = Stations(("wind", "altitude"), SensorSetting(height=4.0, ground=1.0), hold_wind=True)
    assert holding.complete(windy, ()).altitude == 8.0
    held = holding.complete(Reading((1.0, 2.0), 3.0), [windy])
    assert (held.wind, held.altitude) == ((2.0, 1.0), 4.0)
    named = Stations(("sensor",), SensorSetting(names=("A", "B")))
    assert int(named.station(Reading((1.0, 2.0), 3.0, sensor="B"), ()).sensor) == 1
    with pytest.raises(Refused, match="Unknown sensor 'C'"):
        named.complete(Reading((1.0, 2.0), 3.0, sensor="C"), ())


def test_quantities_are_those_of_the_reading_or_of_its_sensor():
    """The reading's own goes before; what nobody knows is asked for, and what nobody uses is refused."""
    known = {"A": {"background": 9.0, "efficiency": 2.0}, "B": {"background": 5.0}}
    stations = Stations(("background", "efficiency"), SensorSetting(names=("A", "B")), known)

    def complete(sensor=None, **quantities):
        return stations.complete(Reading((1.0, 2.0), 3.0, sensor=sensor, quantities=quantities), ())

    assert complete("A").quantities == {"background": 9.0, "efficiency": 2.0}
    assert complete("B", background=4.0).quantities == {"background": 4.0, "efficiency": 1.0}
    made = stations.station(complete("A"), ())
    assert (float(made.background), float(made.efficiency), made.heading) == (9.0, 2.0, None)
    with pytest.raises(Refused, match=r"The background is missing.*give the name of the sensor"):
        complete()
    with pytest.raises(Refused, match=r"The efficiency is missing.*give the name of the sensor"):
        complete(background=4.0)
    with pytest.raises(Refused, match=r"The heading is missing.*or of its sensor in \[sensors\]"):
        Stations(("heading",)).complete(Reading((1.0, 2.0), 3.0), ())
    with pytest.raises(Refused, match="`heading` is not used here"):
        complete("A", heading=3.0)


def test_a_trail_grown_reading_by_reading_is_that_of_the_survey():
    """Against `with_trail` of all readings at once; times are large, as dates are."""
    start, number = 1.7e9, 12
    readings = [Reading((float(count), 2.0), 1.0, time=start + 3.0 * count**1.5) for count in range(number)]
    stations = Stations(("time", "trail"))
    survey = Station(
        jnp.array([reading.position for reading in readings], jnp.float32),
        time=jnp.array([reading.time - start for reading in readings], jnp.float32),
    )
    expected = with_trail(survey, TRAIL_LENGTH)
    for count, reading in enumerate(readings):
        made = stations.station(reading, readings[:count])
        np.testing.assert_allclose(made.trail.ages, expected.trail.ages[count], rtol=1e-5)
        np.testing.assert_array_equal(made.trail.stations.position, expected.trail.stations.position[count])
    with pytest.raises(Refused, match="time is missing"):
        Stations(("trail",)).complete(Reading((1.0, 2.0), 3.0), ())


def test_a_reading_on_the_way_counts_at_most_the_interval():
    """Unless it says how long it counted."""
    stations = Stations(("dwell",), SensorSetting(dwell=10.0), interval=2.0)
    dwells = [
        stations.complete(Reading((1.0, 2.0), 3.0, moving=moving, dwell=dwell), ()).dwell
        for moving, dwell in ((False, None), (True, None), (True, 5.0))
    ]
    assert dwells == [10.0, 2.0, 5.0]


def test_paths_one_above_the_other_need_an_altitude():
    """Two paths with the same ends: which was read is not known, unless the reading gives its height."""
    ends = ((0.0, 0.0), (9.0, 0.0))
    stacked = Stations(
        ("altitude", "far_end"),
        SensorSetting(ground=1.0),
        paths=(ListedPath("low", ends, 1.5), ListedPath("high", ends[::-1], 6.0)),
    )
    reading = Reading(ends[0], 3.0, far_end=ends[1])
    with pytest.raises(Refused, match="The paths low, high have these ends, at different heights"):
        stacked.complete(reading, ())
    assert stacked.complete(replace(reading, altitude=7.0), ()).altitude == 6.0
    assert replace(stacked, paths=stacked.paths[1:]).complete(reading, ()).altitude == 6.0
