"""Survey files that are wrong or odd: refused with file, line and column named, or asked about."""

import numpy as np
import pytest
from made_surveys import COUNTS, DRONE, gas_site, reader

from dowsax.site import parse_site


@pytest.fixture
def survey(tmp_path):
    return reader(tmp_path)


def test_readings_outside_the_area(survey):
    text = "x,y,counts\n1,2,3\n300,2,4\n5,6,7\n"
    with pytest.raises(
        ValueError, match=r"line 3, column 'x': \(300, 2\) m is \d+ m outside the area from \(0, 0\)"
    ):
        survey(text, parse_site(COUNTS))
    allowed = COUNTS.replace("[field]", 'outside = "allow"\n[field]')
    assert len(survey(text, parse_site(allowed)).values) == 3
    found = survey(text, parse_site(allowed.replace("allow", "leave-out")))
    assert found.lines.tolist() == [2, 4]
    assert "1 reading is outside the area, left out (first on line 3)" in found.notes[-1]


WALLS = """
[[obstacle]]
name = "hall"
corners = [[10, 10], [20, 10], [20, 20], [10, 20]]
height = 5
[[obstacle]]
corners = [[30, 10], [40, 10], [40, 20], [30, 20]]
attenuation = 0.1
"""


def test_readings_in_an_opaque_obstacle_are_left_out(survey):
    """Not those on its border, above it, or where something passes."""
    text = "x,y,counts,altitude\n1,2,3,1\n15,15,4,1\n15,16,4,1\n10,15,4,1\n15,15,4,6\n35,15,4,1\n"
    found = survey(text, parse_site(COUNTS + WALLS))
    assert found.lines.tolist() == [2, 5, 6, 7]
    assert found.left_out == 2
    words = "2 readings are in the opaque obstacle 'hall', left out (first on line 3)"
    assert any(note.startswith(words) for note in found.notes)


def test_a_sensor_that_is_stuck(survey):
    """Said, and which of several it is."""
    rows = [f"{step},2,{value},{name}" for step in range(5) for name, value in (("A", 7), ("B", step))]
    found = survey("\n".join(["x,y,value,sensor", *rows]))
    assert found.notes[0].startswith("The sensor 'A' reads 7 in all its 5 readings")
    assert len(found.notes) == 1
    assert found.stuck == found.notes


def test_a_sensor_that_reads_nothing_beside_others_is_not_stuck(survey):
    """It may be out of reach; one alone that reads 0 is asked about."""
    rows = [f"{step},2,{value},{name}" for step in range(5) for name, value in (("A", 0), ("B", step))]
    found = survey("\n".join(["x,y,value,sensor", *rows]))
    assert (len(found.notes), found.stuck) == (1, ())
    alone = survey("\n".join(["x,y,value", *(f"{step},2,0" for step in range(5))]))
    assert alone.stuck == alone.notes


def test_a_sensor_that_gets_stuck_on_the_way(survey):
    """From which line on; a silent one is not suspected."""
    rows = [f"{step},2,{min(step, 12)}" for step in range(32)]
    found = survey("\n".join(["x,y,value", *rows]))
    assert found.notes == ("The sensor reads 12 20 times in a row (from line 14 on): is it stuck?",)
    silent = [f"{step},2,{max(0, step - 25)}" for step in range(32)]
    assert survey("\n".join(["x,y,value", *silent])).notes == ()


def test_missing_values_of_loggers(survey):
    """Left out where a reading cannot be so far below zero, a reading where it can."""
    text = "x,y,{},wind_u,wind_v\n1,2,3,1,0\n1,2,-999.0,1,0\n1,2,-9999,1,0\n1,2,-0.9,1,0\n"
    found = survey(text.format("ppm"), gas_site())
    assert found.values.tolist() == [3, -0.9]
    assert found.notes == ("2 rows have no value in 'ppm', left out (first on line 3).",)
    magnetic = COUNTS.replace("radiation", "magnetic-dipole")
    assert len(survey(text.format("nt"), parse_site(magnetic)).values) == 4


def test_missing_altitude_and_wind_of_loggers(survey):
    """As if the cell were empty: the site's own height is taken, a reading without wind is left out."""
    site = gas_site("[sensor]\nheight = 2\n")
    text = "x,y,ppm,alt,wind_u,wind_v\n1,2,3,30,1,0\n1,2,4,-9999.0,1,0\n1,2,5,31,-999,-999\n"
    found = survey(text, site)
    assert found.altitude.tolist() == [30, 2]
    assert found.values.tolist() == [3, 4]
    assert "1 cell of 'alt' says nothing, 2 is taken (first on line 3)." in found.notes
    with pytest.raises(ValueError, match=r"line 3, column 'alt': the cell says nothing \('-9999.0'\)"):
        survey(text, gas_site())


REFUSED = {
    "empty": ("", "is empty"),
    "only a header": ("x,y,value\n", "no readings"),
    "no value in any row": ("x,y,value\n1,2,\n", "no reading is left. 1 row has no value in 'value'"),
    "no place": ("value\n1\n", "line 1: no column 'x' or 'y'; found 'value'"),
    "half a place in degrees": (
        "lat_dd,lon,value\n1,2,3\n",
        "line 1: 'lon' is the longitude, and there is no column for latitude; found 'lat_dd', 'lon', 'value'",
    ),
    "a decimal comma": ("x,y,value\n1,2,3,5\n", "separate the cells by semicolons"),
    "half a place": ("x,value\n1,2\n", "line 1: no column 'y'; found 'x', 'value'"),
    "no value": ("x,y,temp\n1,2,3\n", "line 1: no column 'value'; found 'x', 'y', 'temp'"),
    "two values": ("x,y,ch4,co2\n1,2,3,4\n", "'ch4', 'co2' may each be the value; choose one"),
    "a column twice": ("x,y,value,X\n1,2,3,4\n", "the column 'x' occurs twice"),
    "half a wind": ("x,y,value,wind_u\n1,2,3,4\n", "a column for wind_u but none for wind_v"),
    "the wind twice": (
        "x,y,value,wind_u,wind_v,ws,wd\n1,2,3,4,5,6,7\n",
        "'wind_u', 'wind_v', 'ws', 'wd' give the wind twice",
    ),
    "a short line": ("x,y,value\n1,2,3\n4,5\n", "line 3: 2 cells where the header has 3"),
    "a word": ("x,y,value\n1,2,3\n1,two,3\n", "line 3, column 'y': 'two' is not a number"),
    "an underscore": ("x,y,value\n1,2,1_000\n", "line 2, column 'value': '1_000' is not a number"),
    "a hole": ("x,y,value\n1,,3\n", "line 2, column 'y': the cell is empty"),
    "infinite": ("x,y,value\ninf,2,3\n", "line 2, column 'x': 'inf' is not a finite number"),
    "too large": ("x,y,value\n1,2,1e31\n", "line 2, column 'value': '1e31' is not a usable number"),
    "off the globe": ("lat,lon,value\n1,2,3\n95,2,3\n", "line 3, column 'lat': a latitude must be between"),
    "round the globe": ("lat,lon,value\n1,200,3\n", "line 2, column 'lon': a longitude must be between"),
    "time backwards": ("x,y,value,time\n1,2,3,5\n1,2,3,4\n", "line 3, column 'time': time runs backwards"),
    "a clock that was not set": (
        "x,y,value,time\n1,2,3,1980-01-06T00:00\n1,2,3,2024-05-01T10:01\n",
        "line 3, column 'time': 1.39859e+09 s after line 2; correct the one that is wrong",
    ),
    "one time of another kind": (
        "x,y,value,time\n1,2,3,2024-05-01T10:00\n1,2,3,2024-05-01T10:01\n1,2,3,7\n",
        "line 4, column 'time': '7' is not a time like the others",
    ),
    "a wind from 400 degrees": (
        "x,y,value,ws,wd\n1,2,3,4,400\n",
        "line 2, column 'wd': must be from -360 to 360 degrees; got 400.",
    ),
    "a wind below zero": ("x,y,value,ws,wd\n1,2,3,-4,40\n", "line 2, column 'ws': must be >= 0 m/s"),
    "too high": (
        "x,y,value,alt\n1,2,3,1e5\n",
        "line 2, column 'alt': must be from -500 to 20000 m; got 100000.",
    ),
    "too windy": (
        "x,y,value,windspeed,winddir\n1,2,3,400,90\n",
        "line 2, column 'windspeed': must be <= 150 m/s; got 400: check its unit.",
    ),
    "too windy by both components": (
        "x,y,value,u,v\n1,2,3,120,120\n",
        "line 2, column 'u': the speed with wind_v must be <= 150 m/s; got 169.7: check its unit.",
    ),
    "no time to count": ("x,y,value,dwell\n1,2,3,0\n", "line 2, column 'dwell': must be above 0; got 0"),
    "a nameless sensor": ("x,y,value,sensor\n1,2,3,\n", "line 2, column 'sensor': the cell is empty"),
    "a length in seconds": ("x (s),y,value\n1,2,3\n", "column 'x (s)': the unit 's' of x"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(survey, text, reason):
    with pytest.raises(ValueError, match=r"readings\.csv") as caught:
        survey(text)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_site_whose_latitude_is_its_longitude(survey):
    """The readings lie in it either way round, and are taken as they are."""
    site = gas_site(area="origin = [10.0, 10.0]\n")
    text = "latitude,longitude,ppm,wind_u,wind_v\n10.0001,10.0002,2,1,0\n10.0002,10.0001,2,1,0\n"
    np.testing.assert_allclose(survey(text, site).positions, [[21.9, 11.1], [11.0, 22.1]], atol=0.1)


ODD_SITE = "[background]\nrange = [1.7, 2.5]\n[sensor]\nheight = 2.0\n"


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ("350,2.0", "All heights are 350 to 354 m above ground: if that is above the sea, give"),
        ("-40,2.0", "The lowest height is -40 m, below the ground"),
        ("10,1950", "is 1.7 to 2.5 ppm: if the file is in ppb, say so in the header, as in value (ppb)"),
        ("10,200", "check the unit of the file, and [background]"),
        ("10,0.0002", "if the file is in vol%, say so in the header"),
        ("10,0.01", 'if it is subtracted already, set mode = "none" in [background]'),
        ("10,2.0", None),
    ],
)
def test_what_may_not_be_meant_is_asked(survey, row, question):
    altitude, value = row.split(",")
    lines = [f"{x},20,{float(altitude) + x},{value},3,0" for x in range(5)]
    notes = survey("\n".join(["x,y,altitude,value,wind_u,wind_v", *lines]), gas_site(ODD_SITE)).notes
    asked = [note for note in notes if "is it stuck" not in note]
    assert len(asked) == (question is not None)
    assert question is None or question in asked[0]


def test_a_sensor_that_dropped_out_is_asked_about(survey):
    """A source only adds to the background; clean air, and what is a little below it, raise no question."""
    rows = [f"{x},20,10,{value},3,0" for x, value in enumerate([2.0, 1.9, 0.0, 1.6, 7.0, 2.1])]
    notes = survey("\n".join(["x,y,altitude,value,wind_u,wind_v", *rows]), gas_site(ODD_SITE)).notes
    (asked,) = [note for note in notes if "below" in note]
    assert asked.startswith(
        "A reading is below 0.567 ppm, while the background of the site is 1.7 to 2.5 ppm"
    )


def test_refused_because_of_the_site(survey):
    with pytest.raises(ValueError, match="unit 'mg/m3' does not become 'ppm' of the site by a factor"):
        survey("x,y,wind_u,wind_v,conc (mg/m3)\n1,2,1,0,3\n", gas_site())
    with pytest.raises(ValueError, match="line 1: 'latitude' and 'longitude' look swapped"):
        survey(
            DRONE.replace("latitude,longitude", "longitude,latitude"), gas_site(area="origin = [52.1, 5.1]\n")
        )
    with pytest.raises(ValueError, match="places in degrees need an origin"):
        survey(DRONE, gas_site())
    with pytest.raises(ValueError, match="say twice where a reading was taken"):
        survey(
            "x,y,lat,lon,counts\n1,2,52,5,3\n",
            parse_site(COUNTS.replace("[field]", "origin = [52, 5]\n[field]")),
        )


def test_mappings_that_make_no_sense(survey):
    with pytest.raises(ValueError, match=r"no column 'ch5' for value; found 'x', 'y', 'value'"):
        survey("x,y,value\n1,2,3\n", columns={"value": "ch5"})
    with pytest.raises(ValueError, match="unknown meaning 'valeu' of a column; did you mean 'value'"):
        survey("x,y,value\n1,2,3\n", columns={"valeu": "value"})
