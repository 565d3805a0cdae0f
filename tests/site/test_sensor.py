"""What a site knows of its sensors, and what it asks for with each reading."""

import jax.numpy as jnp
import pytest
from made_sites import AREA, require_refused, site

from dowsax.site import build_model, parse_site
from dowsax.site.describe import describe_site
from dowsax.site.measured import QUANTITIES
from dowsax.site.sensor import ColumnsSetting, SensorConstants
from dowsax.types import Station
from dowsax.world import Beam

EIGHT = '[sensors]\nA = {background = 12, efficiency = 1.5}\n"16518" = {background = 9.5}\n'


def test_sensors_are_named_by_what_is_known_of_them():
    """Either way of writing a table; the names are then those of the site."""
    found = site(EIGHT, "radiation")
    assert found.sensor.names == ("A", "16518")
    assert found.sensors == {"A": {"background": 12.0, "efficiency": 1.5}, "16518": {"background": 9.5}}
    headers = "[sensors.A]\nbackground = 12\nefficiency = 1.5\n[sensors.16518]\nbackground = 9.5\n"
    assert site(headers, "radiation").sensors == found.sensors
    assert found.required_quantities == ("background", "efficiency")
    assert site().required_quantities == ()


@pytest.mark.parametrize(
    ("kind", "text", "names"),
    [
        ("radiation", '[background]\nmode = "measured"\n', ("background",)),
        ("gas-plume", '[sensor]\nefficiency = "measured"\n', ("efficiency",)),
        ("gas-plume", '[noise]\nuncertainty = "measured"\n', ("uncertainty",)),
        ("level", "[sensor]\nbeam = 60\n", ("heading",)),
    ],
)
def test_a_site_asks_for_what_its_model_needs(kind, text, names):
    """The model fails while it is traced without it, and says what to give."""
    asked = site(text, kind)
    assert asked.required_quantities == names
    model, here = build_model(asked), Station(jnp.zeros(2), wind=jnp.ones(2), altitude=jnp.ones(()))
    theta = jnp.ones(len(model.prior.parameters))
    with pytest.raises(ValueError, match=f"give `Station.{names[0]}`"):
        model.log_likelihood(theta, here, jnp.ones(()))


def test_the_beam_is_that_of_the_site():
    field = build_model(site("[sensor]\nbeam = 40\nfront_to_back = 15\n", "level")).field
    assert field.field.beam == Beam(40.0, 15.0)
    assert build_model(site(kind="level")).field.field.beam is None


def test_the_quantities_of_a_survey_are_used_besides():
    """Only those that it has; the names of the columns of Θ say so."""
    unknown = [parameter.name for parameter in build_model(site(kind="radiation")).prior.parameters]
    known = build_model(site(kind="radiation"), (), ("background",)).prior.parameters
    assert "background" in unknown
    assert "background" not in [parameter.name for parameter in known]


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("level", "[sensor]\nfront_to_back = 9\n", "sensor.front_to_back: needs the `beam`"),
        ("level", "[sensors]\nA = {heading = 9}\n", "sensors.A.heading: needs the `beam` of the antenna"),
        ("level", "[sensor]\nbeam = 9\n[sensors]\nA = {heading = 999}\n", "must be <= 360; got 999."),
        ("level", "[sensors]\nA = {gain = 9}\n", "sensors.A.gain: unknown key; known are background"),
        ("level", "[sensors]\nA = 3\n", "sensors.A: must be a table, [sensors.A]; got 3."),
        ("radiation", "[sensors]\nA = {efficiency = 0}\n", "sensors.A.efficiency: must be > 0; got 0."),
        ("radiation", "[sensors]\nA = {background = -1}\n", "sensors.A.background: must be >= 0; got -1."),
        ("radiation", "[sensors]\nA = {uncertainty = 1}\n", "counts have a noise of their own, Poisson's"),
        ("radiation", '[noise]\nuncertainty = "measured"\n', "counts have a noise of their own, Poisson's"),
        ("gas-plume", "[sensor]\nbeam = 9\n", "the heading of an antenna does not matter"),
        ("gas", "[sensors]\nA = {efficiency = 2}\n", "the benchmark field gas has no efficiency"),
        (
            "radiation",
            '[background]\nmode = "unknown"\n[sensors]\nA = {background = 1}\n',
            'sensors.A.background: is known here, and "unknown" in [background]; leave one out.',
        ),
        (
            "radiation",
            "[sensors]\nA = {background = 1}\nB = {efficiency = 2}\n",
            "the background of 'B' is missing; give it for every sensor, or for none",
        ),
        (
            "radiation",
            '[sensor]\nnames = ["B"]\n[sensors]\nA = {background = 1}\n',
            "sensors.A: is none of `names` in [sensor], B; add it there.",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(kind, text, reason):
    with pytest.raises(ValueError, match=r"^site\.toml, line \d+, ") as caught:
        parse_site(f'{AREA}[field]\nkind = "{kind}"\n{text}')
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_background_that_is_measured_may_be_missing_of_some_sensors():
    """Their readings have it."""
    text = '[background]\nmode = "measured"\n[sensors]\nA = {background = 1}\nB = {efficiency = 2}\n'
    assert site(text, "radiation").required_quantities == ("background", "efficiency")
    require_refused('[background]\nmode = "none"\nrange = [1, 2]\n', "is for an unknown background")


def test_a_site_check_says_what_is_known_and_what_is_asked_for():
    words = dict(describe_site(site(EIGHT, "radiation")))
    assert ("", "A: background 12, efficiency 1.5") in describe_site(site(EIGHT, "radiation"))
    assert words["background"] == "known with each reading, or of its sensor, in counts per second"
    assert "needs efficiency with each reading, or of its sensor" in words["sensor"]
    assert "a survey has a column for it" in dict(describe_site(site(kind="radiation")))["background"]
    said = dict(describe_site(site("[sensor]\nbeam = 40\n", "level")))["sensor"]
    assert said.startswith(
        "a beam of 40° that points where the heading says; 20 dB less from behind; needs head"
    )


def test_every_quantity_has_a_key_in_each_table():
    """And a field of a station."""
    assert list(SensorConstants.known_keys()) == list(QUANTITIES)
    assert list(ColumnsSetting.known_keys())[-len(QUANTITIES) :] == list(QUANTITIES)
    assert set(QUANTITIES) <= set(Station.__dataclass_fields__)


@pytest.mark.parametrize("reading", ["binary", "rank"])
def test_readings_without_calibration_have_their_own_unknowns(reading):
    """The field keeps its unit, the readings have none, and the check says what cannot be told."""
    found = site(f'gas = "methane"\n[sensor]\nreading = "{reading}"\n')
    assert (found.unit, found.field_unit) == ("", "ppm")
    named = {parameter.name: parameter.unit for parameter in build_model(found).prior.parameters}
    hits = {"correlation_time": "s", "false_alarms": "1/s"} if reading == "binary" else {}
    assert {"q": "g/s", "threshold": "ppm", "fluctuation": "", **hits}.items() <= named.items()
    assert "background" not in named
    words = dict(describe_site(found))
    assert "relative to the threshold" in words["field"]
    assert "background" not in words


def test_numbers_of_a_sensor_without_calibration_may_be_known():
    text = '[sensor]\nreading = "binary"\nthreshold = 5\nfalse_alarms = 0\ndwell = 10\n'
    found = site(f"{text}[noise]\nfluctuation = {{median = 0.5, factor = 2}}\ncorrelation_time = [1, 9]\n")
    named = [parameter.name for parameter in build_model(found).prior.parameters]
    assert named[-2:] == ["fluctuation", "correlation_time"]
    words = dict(describe_site(found))
    assert "5 ppm is the threshold" in words["sensor"]
    assert "relative" not in words["field"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[sensor]\nreading = "ranks"\n', "reading"),
        ("[sensor]\nthreshold = 5\n", 'is for reading = "binary" or "rank" in [sensor]'),
        ('[sensor]\nreading = "rank"\nfalse_alarms = 0.1\n', 'is for reading = "binary" in [sensor]'),
        ('[sensor]\nreading = "rank"\ndwell = 5\n', "is for counts and hits"),
        ('[sensor]\nreading = "binary"\nthreshold = 0\n', "must be > 0"),
        ('[sensor]\nreading = "binary"\n[background]\nvalue = 2\n', "has no background"),
        ('[sensor]\nreading = "binary"\n[noise]\nfloor = 2\n', "is for readings with a value"),
        ('[sensor]\nreading = "rank"\n[search]\nmay_jump = true\n', "depends on earlier ones"),
    ],
)
def test_keys_without_use_for_the_reading_are_refused(text, reason):
    require_refused(text, reason)


def test_other_kinds_have_values_only():
    with pytest.raises(ValueError, match="readings of the kind radiation are values"):
        site('[sensor]\nreading = "binary"\n', "radiation")
