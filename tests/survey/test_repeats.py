"""Counts at one place are added up: the sums, what is kept, and that nothing else is touched."""

import numpy as np
import pytest
from made_surveys import COUNTS, reader

from dowsax.report.locate_survey import build_problem
from dowsax.site import parse_site
from dowsax.survey import Survey
from dowsax.survey.repeats import add_up_counts, is_track, survey_has_track

HEADER = "time,x,y,counts,dwell,sensor,background\n"
REPEATED = (
    HEADER + "0,5,6,100,10,b,2\n5,1,2,40,20,a,3\n10,5,6,120,10,b,2\n15,1,2,41,20,a,3\n20,1,2,39,20,a,3\n"
)
SUMMED = HEADER + "0,5,6,220,20,b,2\n5,1,2,120,60,a,3\n"


def test_counts_and_seconds_are_added_up(tmp_path):
    site = parse_site(COUNTS)
    survey = add_up_counts(reader(tmp_path)(REPEATED, site), site)
    assert survey.values.tolist() == [220, 120]
    assert survey.dwell is not None
    assert survey.dwell.tolist() == [20, 60]
    assert survey.lines.tolist() == [2, 3]
    assert "5 counts at 2 places" in survey.notes[-1]


def test_equals_a_file_of_sums(tmp_path):
    """All that the filter is given."""
    site = parse_site(COUNTS)
    problems = [build_problem(reader(tmp_path)(text, site), site) for text in (REPEATED, SUMMED)]
    np.testing.assert_array_equal(*(problem.survey.values for problem in problems))
    for name in ("position", "dwell", "time", "sensor", "background"):
        np.testing.assert_array_equal(*(getattr(problem.stations, name) for problem in problems))


def test_other_places_heights_and_sensors_are_other_readings(tmp_path):
    """Without any repeat, the survey is the same one."""
    rows = "0,1,2,9,1,a,2\n0,1,2,9,1,b,2\n0,1,2.1,9,1,a,2\n"
    site = parse_site(COUNTS)
    survey = reader(tmp_path)(HEADER + rows, site)
    assert add_up_counts(survey, site) is survey
    heights = "x,y,z,counts,dwell\n1,2,1,9,1\n1,2,3,9,1\n"
    survey = reader(tmp_path)(heights, site)
    assert add_up_counts(survey, site) is survey


def test_backgrounds_of_one_place_are_averaged_over_the_seconds(tmp_path):
    site = parse_site(COUNTS)
    text = "x,y,counts,dwell,background\n1,2,40,20,3\n5,6,1,10,2\n1,2,50,30,4\n"
    survey = add_up_counts(reader(tmp_path)(text, site), site)
    assert survey.values.tolist() == [90, 1]
    assert survey.quantities["background"].tolist() == [(20 * 3 + 30 * 4) / 50, 2]


def test_counts_of_a_sensor_that_lags_stay_apart(tmp_path):
    """What it reads depends on its readings before."""
    site = parse_site(COUNTS + "[sensor]\nlag = 5\n")
    survey = reader(tmp_path)("x,y,counts,time\n1,2,40,0\n1,2,50,1\n", site)
    assert add_up_counts(survey, site) is survey


def test_counts_of_no_known_duration_stay_apart():
    """Only a survey made in Python has none; the model says what is missing."""
    places = np.ones((2, 2))
    survey = Survey(places, np.array([3.0, 4.0]), np.array([2, 3]))
    assert add_up_counts(survey, parse_site(COUNTS)) is survey


@pytest.mark.parametrize(("num_places", "expected"), [(6, False), (29, False), (30, True), (60, True)])
def test_a_track_returns_to_few_places_only(num_places, expected):
    """Half of the readings at least are at different places."""
    places = np.arange(60.0)[:, None] % num_places * [3.0, 4.0]
    assert is_track(places, 1) == expected
    assert not is_track(places, 2)


def test_readings_at_one_stop_are_one_visit():
    """A robot that reads three times at each of its stops has a track."""
    assert is_track(np.repeat(np.arange(20.0), 3)[:, None] * [3.0, 4.0], 1)


def test_fixed_sensors_have_no_track_though_their_counts_are_added_up(tmp_path):
    site = parse_site(COUNTS)
    rows = [f"{5 * place},6,7" for _ in range(4) for place in range(1, 7)]
    fixed, walked = (reader(tmp_path)("\n".join(["x,y,counts", *some]), site) for some in (rows, rows[:6]))
    assert (survey_has_track(fixed), survey_has_track(walked)) == (False, True)
    problem = build_problem(fixed, site)
    assert (len(problem.survey.values), problem.has_track) == (6, False)
    assert not survey_has_track(reader(tmp_path)(REPEATED, site))
