"""Site files that are wrong: refused in one line, with file, line and key named."""

import re

import pytest
from made_sites import DEGREES, require_refused, site

from dowsax.site import NEW_SITE, parse_site, read_site

REFUSED = {
    "an unknown section": ("[budgt]\nreadings = 3\n", "line 6, budgt: unknown key; did you mean 'budget'?"),
    "an unknown key": ("[step]\nlenght = 3\n", "line 7, step.lenght: unknown key; did you mean 'length'?"),
    "a parameter of another kind": ("[prior]\nmoment = 1\n", "line 7, prior.moment: unknown key"),
    "text for a number": ('[step]\nlength = "ten"\n', "line 7, step.length: must be a finite number"),
    "true for a number": ("[step]\nlength = true\n", "step.length: must be a finite number"),
    "no finite number": ("[step]\nlength = nan\n", "step.length: must be a finite number"),
    "half a reading": ("[budget]\nreadings = 2.5\n", "budget.readings: must be a whole number; got 2.5"),
    "one of many words": (
        '[wind]\nmode = "mesured"\n',
        "wind.mode: must be one of measured, constant, unknown",
    ),
    "a section that is none": ("[[budget]]\ntime = 3\n", "line 6, budget: must be a table, [budget]"),
    "a list that is none": ("[geofence]\ncorners = []\n", "geofence: must be written as [[geofence]]"),
    "a range turned round": ("[prior]\nq = [2, 1]\n", "prior.q: must be [low, high] with low below high"),
    "zero on a log scale": ("[prior]\nq = [0, 1]\n", "line 7, prior.q: `low` must be > 0"),
    "half a law": ("[prior]\nq = {mean = 1}\n", "prior.q: must be a number"),
    "a background without value": ('[background]\nmode = "known"\n', "background.value: this key is missing"),
    "a value for nothing": (
        '[background]\nmode = "none"\nvalue = 1\n',
        "line 8, background.value: is for mode",
    ),
    "a wind for nothing": ('[wind]\nmode = "unknown"\nspeed = 3\n', "wind.speed: is for mode"),
    "half a wind": ("[wind]\nspeed = 3\n", "wind.from: this key is missing"),
    "a line for a fence": (
        "[[geofence]]\ncorners = [[0, 0], [1, 1]]\n",
        "geofence.1.corners: must have at least 3",
    ),
    "a fence that crosses itself": (
        "[[no_go]]\ncorners = [[0, 0], [9, 9], [9, 0], [0, 9]]\n",
        "line 7, no_go.1.corners: the border crosses itself",
    ),
    "a second fence": (
        "[[no_go]]\ncorners = [[0, 0], [9, 0], [9, 9]]\n[[no_go]]\ncorner = 3\n",
        "line 9, no_go.2.corner: unknown key; did you mean 'corners'?",
    ),
    "degrees without origin": (
        "[start]\nposition_degrees = [52, 5]\n",
        "start.position_degrees: needs `origin",
    ),
    "a start outside the area": (
        "[start]\nposition = [500, 5]\n",
        "start.position: (500, 5) m is outside the area; start inside it",
    ),
    "a start in a no-go area": (
        "[start]\nposition = [5, 4]\n[[no_go]]\ncorners = [[0, 0], [9, 0], [9, 9]]\n",
        "start.position: (5, 4) m is outside the geofence or in a no-go area",
    ),
    "a dead time of gas": ("[sensor]\ndead_time = 1e-6\n", "sensor.dead_time: is for counts"),
    "a rate below zero": ("[prior]\nq = -3\n", "line 7, prior.q: must be > 0; got -3"),
    "a source below ground": ("[prior]\nheight = [-3, 2]\n", "prior.height: must be >= 0; got -3"),
    "a class that is none": ("[prior]\nstability = 9\n", "prior.stability: must be <= 5; got 9"),
    "an exact sensor": ("[noise]\nfloor = 0\n", "line 7, noise.floor: must be > 0"),
    "a storm of storms": ("[wind]\nvelocity = [400, 0]\n", "wind.velocity: must be <= 150 m/s; got 400"),
    "a sensor in space": ("[sensor]\nheight = 1e6\n", "line 7, sensor.height: must be <= 20000; got 1e+06"),
    "a filter that does not follow": (
        '[search]\npreset = "paper"\nmay_jump = true\n',
        'line 8, search.may_jump: the preset "paper" does not follow changes',
    ),
    "more particles than fit": (
        "[search]\nparticles = 10000000\n",
        "search.particles: must be <= 1,000,000; got 10,000,000",
    ),
    "a flight underground": ("[flight]\nheight = -3\n", "line 7, flight.height: must be > 0; got -3"),
    "no TOML": ("[step]\nlength = = 3\n", "not a TOML file: Invalid value (at line 7, column 10)"),
    "an unknown gas": ('gas = "phlogiston"\n', "line 6, field.gas: must be one of methane"),
    "a unit of another kind": ('unit = "dBm"\n', "line 6, field.unit: gas-plume is read in"),
    "an unknown meaning": (
        '[columns]\nvalues = "ch4"\n',
        "columns.values: unknown key; did you mean 'value'?",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_refused(text, reason):
    require_refused(text, reason)


USELESS = {
    "wind of a radiation site": (
        "radiation",
        "[wind]\nspeed = 3\nfrom = 270\n",
        "line 7, wind.speed: wind does",
    ),
    "wind of a level": ("level", '[wind]\nmode = "measured"\n', "wind does not matter for the kind level"),
    "wind of a benchmark field": ("gas", "[wind]\nvelocity = [1, 0]\n", "inferred with the source"),
    "dwell of a level": ("level", "[sensor]\ndwell = 2\n", "line 7, sensor.dwell: is for counts"),
    "height of a benchmark field": ("gas", "[sensor]\nheight = 2\n", "sensor.height: heights do not matter"),
    "noise of counts": ("radiation", "[noise]\nfloor = 2\n", "noise.floor: counts have a noise of their own"),
    "steps where there are places": (
        "level",
        "[step]\nlength = 3\ndirections = 8\npoints = [[1, 2]]\n",
        "line 7, step.length: cannot be given with points, which are the only places: comment length and "
        "directions out with #.",
    ),
    "a single place": (
        "level",
        "[step]\npoints = [1, 2]\n",
        "line 7, step.points: must be pairs of numbers in brackets, [[1, 2], [3, 4]]; got 1.",
    ),
    "a law of a benchmark range": (
        "gas",
        "[prior]\nstrength = {mean = 3, std = 1}\n",
        "line 7, prior.strength: must be [low, high] for a benchmark field",
    ),
    "a range of a benchmark number": (
        "gas",
        "[prior]\nmax_speed = [1, 2]\n",
        "prior.max_speed: must be a number for a benchmark field",
    ),
}


@pytest.mark.parametrize(("kind", "text", "reason"), USELESS.values(), ids=USELESS)
def test_keys_that_have_no_use_at_the_kind_are_refused(kind, text, reason):
    """Who gives them expects something of them."""
    with pytest.raises(ValueError, match=r"^site\.toml, line \d+, ") as caught:
        site(text, kind)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("area", "reason"),
    [
        (DEGREES.replace("5.103", "5.0"), "area.east: must be east of west = 5.1; got 5.0"),
        (DEGREES.replace("52.1", "89.9"), "area.south: a latitude of 89.901 is so near a pole"),
        ("[area]\nlow = [0, 0]\nhigh = [9, 9]\norigin = [-90, 0]\n", "area.origin: a latitude of -90 is so"),
        ("", "area: this key is missing"),
        ("[area]\nlow = [0, 0]\n", "area.high: this key is missing"),
        ("[area]\nlow = [0, 0]\nhigh = [10, 0]\n", "line 3, area.high: must be east and north"),
        ("[area]\nlow = [500000, 5600000]\nhigh = [500100, 5600100]\n", "too far for single precision"),
        (
            "[area]\nlow = [0, 0]\nhigh = [9, 9]\norigin = [149.1, -35.2]\n",
            "area.origin: a latitude must be between",
        ),
        (f"{DEGREES}low = [0, 0]\n", "area.low: give low and high in metres, or"),
        (DEGREES.replace("52.102", "52.0"), "area.north: must be above south"),
        (DEGREES.replace("east = 5.103\n", ""), "area.east: this key is missing"),
    ],
)
def test_areas_that_are_none(area, reason):
    with pytest.raises(ValueError, match=re.escape(reason)):
        site(area=area)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ValueError, match="does not exist: write one with `dowsax site new"):
        read_site(tmp_path / "missing.toml")
    with pytest.raises(ValueError, match="is a folder"):
        read_site(tmp_path)
    path = tmp_path / "site.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="UTF-8"):
        read_site(path)
    path.write_text(NEW_SITE, encoding="utf-8")
    assert read_site(path).name == "My site"


LAT_LON = "area = {south = 52.1, west = 5.1, north = 52.1015, east = 5.103}\nfield = {kind = 'level'}\n"
BOX = [[52.1002, 5.1002], [52.1002, 5.1028], [52.1013, 5.1028], [52.1013, 5.1002]]
SWAPPED = [[longitude, latitude] for latitude, longitude in BOX]
METRES = [[0, 0], [60, 0], [60, 40], [0, 40]]
MIXED_UP = {
    "a geofence in degrees": (f"[[geofence]]\ncorners = {BOX}\n", "write corners_degrees instead."),
    "no-go in degrees": (f"[[no_go]]\ncorners = {SWAPPED}\n", "corners_degrees instead, latitude first."),
    "places in degrees": (f"[step]\npoints = {BOX}\n", "write points_degrees instead."),
    "a start in degrees": ("[start]\nposition = [52.101, 5.102]\n", "write position_degrees instead."),
    "a geofence in metres": (f"[[geofence]]\ncorners_degrees = {METRES}\n", "or write corners where they"),
    "longitude first": (f"[[geofence]]\ncorners_degrees = {SWAPPED}\n", "exchange the two numbers of each"),
    "a start far off": ("[start]\nposition_degrees = [-52.101, 5.102]\n", "km from the area; give latitude"),
}


@pytest.mark.parametrize(("text", "reason"), MIXED_UP.values(), ids=MIXED_UP)
def test_metres_and_degrees_mixed_up(text, reason):
    """A fence of four millimetres, or of half a continent, is not meant."""
    with pytest.raises(ValueError, match=r"^site\.toml, line \d+, \w+(\.1)?\.\w+: ") as caught:
        parse_site(LAT_LON + text)
    assert reason in str(caught.value)


def test_places_of_a_site_in_degrees_are_given_in_both():
    """As they were typed, and as maps have them."""
    words = r"position: \(130, 0\) m, 52\.10\d{4}° N, 5\.10\d{4}° E is outside the area"
    with pytest.raises(ValueError, match=words):
        parse_site(LAT_LON + "[start]\nposition = [130.0, 0.0]\n")
