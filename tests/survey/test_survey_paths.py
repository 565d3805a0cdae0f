"""Open paths in survey files: both ends read in metres or degrees, and half a path refused."""

from pathlib import Path

import numpy as np
import pytest
from made_surveys import COUNTS, gas_site, reader

from dowsax.site import parse_site
from dowsax.survey import read_survey
from dowsax.survey.describe import describe_columns, describe_survey

PATHS = Path(__file__).parents[3] / "shared" / "data" / "ginninderra_ch4" / "paths.csv"
STARTS, ENDS = [[10.0, 20.0], [30.0, 40.0]], [[110.0, 20.0], [30.0, 100.0]]
CALM = "[wind]\nvelocity = [2, 1]\n"
UNDERSTOOD = {
    "by number": "x1,y1,x2,y2,value\n10,20,110,20,3\n30,40,30,100,4\n",
    "with units": "x1_m,y1_m,x2_m,y2_m,value\n10,20,110,20,3\n30,40,30,100,4\n",
    "another unit": "x1_m,y1_m,x2_km,y2_km,value\n10,20,0.11,0.02,3\n30,40,0.03,0.1,4\n",
    "other names": "easting,northing,easting2,northing2,value\n10,20,110,20,3\n30,40,30,100,4\n",
    "a name that the site knows": "x1,y1,reflector,y2,value\n10,20,110,20,3\n30,40,30,100,4\n",
}


@pytest.mark.parametrize("text", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_both_ends_are_understood(tmp_path, text):
    columns = {"x2": "reflector"} if "reflector" in text else {}
    survey = reader(tmp_path)(text, gas_site(CALM), columns)
    assert survey.positions.tolist() == STARTS
    np.testing.assert_allclose(survey.far_ends, ENDS, rtol=1e-12)
    np.testing.assert_allclose(survey.stations().place, [[60.0, 20.0], [30.0, 70.0]], rtol=1e-6)


def test_a_row_without_a_far_end_is_a_reading_at_a_point(tmp_path):
    survey = reader(tmp_path)("x1,y1,x2,y2,value\n10,20,110,20,3\n30,40,,,4\n", gas_site(CALM))
    assert survey.far_ends.tolist() == [ENDS[0], STARTS[1]]
    words = dict(describe_survey(survey, gas_site(CALM)))
    assert words["paths"] == "1 readings along 100 to 100 m, 1 at points"
    assert "x 10 to 110 m" in words["places"]
    assert "far end of a path" in dict(describe_columns(survey, gas_site(CALM)))["x2"]


def test_columns_without_any_far_end_are_points(tmp_path):
    survey = reader(tmp_path)("x1,y1,x2,y2,value\n10,20,,,3\n30,40,,,4\n", gas_site(CALM))
    assert survey.far_ends is None
    assert survey.stations().far_end is None
    assert any("all readings are at points" in note for note in survey.notes)


def test_degrees_are_the_metres_of_the_site(tmp_path):
    site = gas_site(CALM, "origin = [52.1, 5.1]\n")
    (start, *_), (end, *_) = site.coordinates.to_degrees(STARTS), site.coordinates.to_degrees(ENDS)
    cells = ",".join(f"{number:.12f}" for number in (*start, *end))
    survey = reader(tmp_path)(f"lat1,lon1,lat2,lon2,value\n{cells},3\n", site)
    np.testing.assert_allclose(survey.positions, STARTS[:1], atol=1e-5)
    np.testing.assert_allclose(survey.far_ends, ENDS[:1], atol=1e-5)


REFUSED = {
    "one end": ("x1,y1,value\n1,2,3\n", "line 1: 'x1' is of one end of a path, and the other is missing"),
    "half of the far end": (
        "x1,y1,x2,value\n1,2,3,4\n",
        "'x2' is of the far end of a path",
    ),
    "the far end alone": ("latitude,longitude,x2,y2,value\n52,5,3,4,5\n", "which needs x, y, x2, y2"),
    "two first ends": ("x,y,x1,y1,x2,y2,value\n1,2,3,4,5,6,7\n", "'x' and 'x1' may each be the x"),
    "half a cell": ("x1,y1,x2,y2,value\n1,2,3,4,5\n1,2,,4,5\n", "line 3, column 'x2': half of the far end"),
    "a word": ("x1,y1,x2,y2,value\n1,2,far,4,5\n", "line 2, column 'x2': 'far' is not a number"),
    "outside": ("x1,y1,x2,y2,value\n1,2,3,400,5\n", "line 2, column 'y2': "),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_half_a_path_is_refused_in_one_line(tmp_path, text, reason):
    site = gas_site(CALM, "origin = [52.1, 5.1]\n")
    with pytest.raises(ValueError, match=r"readings\.csv") as caught:
        reader(tmp_path)(text, site)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_of_another_kind_are_refused(tmp_path):
    with pytest.raises(ValueError, match="only the kind gas-plume is read along paths, not radiation"):
        reader(tmp_path)("x1,y1,x2,y2,value\n1,2,3,4,5\n", parse_site(COUNTS))


@pytest.mark.skipif(not PATHS.is_file(), reason="the shared data are not there")
def test_real_paths_are_understood_as_they_are():
    area = '[area]\nlow = [-80, -60]\nhigh = [60, 80]\n[field]\nkind = "gas-plume"\n'
    survey = read_survey(PATHS, parse_site(area), columns={"time": "t_s"}, rows={"inst": "P2"})
    lengths = np.linalg.norm(survey.far_ends - survey.positions, axis=1)
    np.testing.assert_allclose(lengths, np.hypot(27.24, 101.34), rtol=1e-4)
    np.testing.assert_allclose(survey.altitude, 1.28)
