"""Survey files: the columns of loggers, conversions, and what is left out and said."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from made_surveys import COUNTS, DRONE, gas_site, reader

from dowsax.geo import LocalCoordinates
from dowsax.site import parse_site
from dowsax.survey import read_survey

DATA = Path(__file__).parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real measurements are not in ../shared/data")


@pytest.fixture
def survey(tmp_path):
    return reader(tmp_path)


def test_the_drone_methane_convention(survey):
    """Degrees, wind FROM, UTC and metres above take-off."""
    site = gas_site(area="origin = [52.1, 5.1]\n")
    found = survey(DRONE, site)
    np.testing.assert_allclose(
        site.coordinates.to_degrees(found.positions), [[52.1001, 5.1001], [52.1002, 5.1001]]
    )
    np.testing.assert_allclose(found.wind, [[3, 0], [0, 2]], atol=1e-12)
    np.testing.assert_array_equal(found.altitude, [10, 11])
    np.testing.assert_array_equal(found.time, [0, 2])
    np.testing.assert_array_equal(found.values, [2.1, 2.2])
    np.testing.assert_array_equal(found.lines, [2, 3])
    assert found.start == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (found.left_out, found.notes) == (0, ())


def test_a_survey_written_in_degrees_comes_back_to_the_centimetre(survey):
    """Positions and winds of a made flight, written as a drone would and read again."""
    random = np.random.default_rng(0)
    frame = LocalCoordinates((-35.2, 149.1))
    positions, speeds = random.uniform(0, 150, (40, 2)), random.uniform(0.5, 8, 40)
    directions = random.uniform(0, 360, 40)
    places = frame.to_degrees(positions)
    rows = [
        f"{time},{lat:.8f},{lon:.8f},{speed:.6f},{direction:.6f},2.0{time:02d}"
        for time, ((lat, lon), speed, direction) in enumerate(zip(places, speeds, directions, strict=True))
    ]
    text = "\n".join(["time,lat,lon,ws,wd,ppm", *rows])
    found = survey(text, gas_site(area="origin = [-35.2, 149.1]\n"))
    np.testing.assert_allclose(found.positions, positions, atol=0.01)
    angle = np.radians(directions)
    np.testing.assert_allclose(found.wind[:, 0], -speeds * np.sin(angle), atol=1e-5)
    np.testing.assert_allclose(found.wind[:, 1], -speeds * np.cos(angle), atol=1e-5)


UNDERSTOOD = {
    "plain": "x,y,value\n1,2,3\n4,5,6.5\n",
    "metres in the name": "X_m,Y_m,Value\n1,2,3\n4,5,6.5\n",
    "units in brackets": "x [m],y [m],CH4 (ppm)\n1,2,3\n4,5,6.5\n",
    "other lengths": "x (km),y (cm),reading\n0.001,200,3\n0.004,500,6.5\n",
    "other order, other columns": "note,value,y,x,temperature\na,3,2,1,9\nb,6.5,5,4,9\n",
    "the own name wins": "x,y,value,ch4\n1,2,3,9\n4,5,6.5,9\n",
    "semicolons and decimal commas": "x;y;value\n1,0;2;3\n4;5;6,5\n",
    "a row without a value": "x,y,value\n1,2,3\n9,9,\n4,5,6.5\n9,9,NaN\n",
    "windows, byte order mark, blank lines": "\ufeffx,y,value\r\n\r\n1,2,3\r\n,,\r\n4,5,6.5\r\n",
    "both metres and degrees": "x_m,y_m,lat,lon,value\n1,2,52,5,3\n4,5,52,5,6.5\n",
}


@pytest.mark.parametrize("text", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_understood(survey, text):
    found = survey(text)
    np.testing.assert_allclose(found.positions, [[1, 2], [4, 5]])
    np.testing.assert_allclose(found.values, [3, 6.5])


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (("0", "2.5"), 2.5),
        (("1714557600", "1714557601"), 1),
        (("1714557600000", "1714557601000"), 1),
        (("2024-05-01T10:00:00Z", "2024-05-01T12:00:30+02:00"), 30),
        (("2024-05-01 10:00", "2024-05-01 10:01"), 60),
        (("2024/05/01 10:00:00.5", "2024/05/01 10:00:01"), 0.5),
        (("10:00:00", "10:00:59.5"), 59.5),
        (("5", "5"), 0),
    ],
)
def test_times(survey, cells, seconds):
    rows = [f"1,2,{value},{cell}" for value, cell in enumerate(cells)]
    found = survey("\n".join(["x,y,value,time", *rows]))
    np.testing.assert_allclose(found.time, [0, seconds])


def test_a_date_in_a_column_of_its_own(survey):
    found = survey("x,y,value,date,time\n1,2,3,2024-05-01,23:59:30\n1,2,4,2024-05-02,00:00:10\n")
    np.testing.assert_array_equal(found.time, [0, 40])
    assert found.start == datetime(2024, 5, 1, 23, 59, 30, tzinfo=UTC)


def test_a_time_column_without_times_is_not_used(survey):
    found = survey("x,y,value,time\n1,2,3,1100-1110\n1,2,4,1100-1110\n")
    assert found.time is None
    assert "holds no times ('1100-1110')" in found.notes[0]


def test_minutes_in_the_header(survey):
    np.testing.assert_array_equal(survey("x,y,value,t_min\n1,2,3,139\n1,2,4,140\n").time, [0, 60])


def test_units_are_converted_by_a_factor(survey):
    """ppb to the site's ppm, mg to g, and it is said."""
    found = survey("x,y,wind_u,wind_v,ch4 (ppb)\n1,2,1,0,1900\n1,2,1,0,2000\n", gas_site())
    np.testing.assert_allclose(found.values, [1.9, 2.0])
    assert "from ppb to ppm" in found.notes[0]
    grams = survey("x,y,wind_u,wind_v,conc_mg/m3\n1,2,1,0,1900\n", gas_site('unit = "g/m3"\n'))
    np.testing.assert_allclose(grams.values, [1.9])
    for header in ("conc_mg_m3", "conc [mg/m³]", "Conc (mg/m^3)"):
        again = survey(f"x,y,wind_u,wind_v,{header}\n1,2,1,0,1900\n", gas_site('unit = "g/m3"\n'))
        np.testing.assert_allclose(again.values, [1.9])
    speeds = survey("x,y,ws (km/h),wd,ppm\n1,2,36,90,2\n", gas_site())
    np.testing.assert_allclose(speeds.wind, [[-10, 0]], atol=1e-12)


def test_count_rates_become_counts_by_the_time_counted(survey):
    found = survey("x,y,cps,dwell\n1,2,10.5,2\n1,2,4,5\n", parse_site(COUNTS))
    np.testing.assert_array_equal(found.values, [21, 20])
    np.testing.assert_array_equal(found.dwell, [2, 5])
    found = survey("x,y,cpm\n1,2,120\n", parse_site(COUNTS + "[sensor]\ndwell = 3\n"))
    np.testing.assert_array_equal(found.values, [6])
    with pytest.raises(ValueError, match=r"line 1, column 'cps': a count rate becomes counts"):
        survey("x,y,cps\n1,2,10\n", parse_site(COUNTS))


def test_counts_without_a_time_take_a_second(survey):
    found = survey("x,y,counts\n1,2,10\n", parse_site(COUNTS))
    np.testing.assert_array_equal(found.dwell, [1])
    assert "1 s is taken" in found.notes[0]


def test_columns_can_be_mapped(survey):
    """By the caller or by the site file; an empty text leaves a column out."""
    text = "x,y,co2,ch4,wind_u,wind_v\n1,2,400,3,1,0\n4,5,410,4,1,0\n"
    np.testing.assert_array_equal(survey(text, columns={"value": "CH4"}).values, [3, 4])
    np.testing.assert_array_equal(survey(text, gas_site('[columns]\nvalue = "co2"\n')).values, [400, 410])
    assert survey(text, columns={"value": "ch4", "wind_u": "", "wind_v": ""}).wind is None


def test_rows_can_be_chosen(survey):
    text = "event,x,y,value,t_s\n1,1,2,3,0\n1,1,2,4,5\n2,7,8,9,0\n"
    assert survey(text, rows={"event": "2"}).values.tolist() == [9]
    with pytest.raises(ValueError, match=r"line 4, column 't_s': time runs backwards, 5 s before line 3"):
        survey(text)
    with pytest.raises(ValueError, match="no row has '7' in the column 'event'"):
        survey(text, rows={"event": "7"})
    with pytest.raises(ValueError, match="no column 'run' to choose rows by"):
        survey(text, rows={"run": "7"})


def test_sensors_are_numbered_by_name(survey):
    text = "x,y,value,sensor\n1,2,3,N\n1,2,3,E\n1,2,4,N\n"
    found = survey(text)
    assert found.sensor_names == ("E", "N")
    np.testing.assert_array_equal(found.sensor, [1, 0, 1])
    site = parse_site(f'{COUNTS}[sensor]\nnames = ["N", "E", "S"]\n')
    np.testing.assert_array_equal(survey(text, site).sensor, [0, 1, 0])
    with pytest.raises(ValueError, match=r"line 3, column 'sensor': 'E' is none of the site's sensors, N, S"):
        survey(text, parse_site(f'{COUNTS}[sensor]\nnames = ["N", "S"]\n'))


GAPS = "x,y,ppm,t_s,wind_u,wind_v\n1,2,3,0,1,0\n1,2,4,5,,\n1,2,5,10,3,2\n"


def test_wind_missing_for_some_rows(survey):
    """Left out or interpolated, as the site says, and said."""
    found = survey(GAPS, gas_site())
    assert (found.lines.tolist(), found.left_out) == ([2, 4], 1)
    assert found.notes == ("1 reading is without wind, left out (first on line 3).",)
    found = survey(GAPS, gas_site('[wind]\nmissing = "interpolate"\n'))
    np.testing.assert_allclose(found.wind, [[1, 0], [2, 1], [3, 2]])
    assert "interpolated in time (first on line 3)" in found.notes[0]
    with pytest.raises(ValueError, match=r"line 3, column 'wind_u': the wind is missing; fill it in"):
        survey(GAPS, gas_site('[wind]\nmissing = "refuse"\n'))
    with pytest.raises(ValueError, match="without a time column"):
        survey(GAPS, gas_site('[wind]\nmissing = "interpolate"\n'), {"time": ""})


def test_wind_the_site_gives_or_does_without(survey):
    np.testing.assert_array_equal(survey(GAPS, gas_site("[wind]\nvelocity = [2, 1]\n")).wind, [[2, 1]] * 3)
    assert survey(GAPS, gas_site('[wind]\nmode = "unknown"\n')).wind is None
    assert survey(GAPS.replace("ppm", "counts"), parse_site(COUNTS)).wind is None
    with pytest.raises(ValueError, match="line 1: no wind columns"):
        survey("x,y,ppm\n1,2,3\n", gas_site())
    with pytest.raises(
        ValueError,
        match=r"line 1: a column for wind_speed but none for wind_from; name it under \[columns\], or set",
    ):
        survey("x,y,ppm,ws\n1,2,3,4\n", gas_site())


def test_altitudes(survey):
    """The ground is taken off; the site's height stands in for what is not there."""
    site = parse_site(f"{COUNTS}[sensor]\nheight = 1.5\nground = 20\n")
    np.testing.assert_array_equal(survey("x,y,counts,alt\n1,2,3,30\n1,2,4,\n", site).altitude, [10, 1.5])
    np.testing.assert_array_equal(survey("x,y,counts\n1,2,3\n", site).altitude, [1.5])


def test_stations_are_what_filters_take(survey):
    site = gas_site(area="origin = [52.1, 5.1]\n")
    stations = survey(
        DRONE.replace("ch4\n", "ch4,inst\n").replace(",2.1\n", ",2.1,a\n").replace(",2.2\n", ",2.2,b\n"), site
    ).stations(trail=True)
    assert stations.position.shape == (2, 2)
    assert stations.wind.dtype == np.float32
    assert stations.sensor.dtype == np.int32
    np.testing.assert_array_equal(stations.trail.ages[1], np.zeros(8))


@needs_data
@pytest.mark.parametrize(
    ("folder", "rows", "measured"),
    [
        ("metec_ch4", {"event": "1"}, {"time", "wind", "sensor", "altitude"}),
        ("ginninderra_ch4", {"period": "1"}, {"time", "wind", "sensor", "altitude"}),
        ("prairie_grass_so2", {"exp": "5"}, {"wind", "altitude"}),
        ("prairie_grass_so2", {"exp": "1"}, {"altitude"}),
        ("napa_shaking", {}, {"altitude"}),
        (
            "ble_rssi_room",
            {"hidden_source_id": "sensor10", "track": "rectangular_with_rotation"},
            {"time", "altitude"},
        ),
    ],
)
def test_real_files_are_understood_as_they_are(folder, rows, measured):
    """Every column of the real sets is found, with no mapping."""
    found = read_survey(DATA / folder / "readings.csv", rows=rows)
    names = ("time", "wind", "sensor", "altitude", "dwell")
    assert {name for name in names if getattr(found, name) is not None} == measured
    assert len(found.values) > 100
    assert np.isfinite(found.values).all()
