"""What else a survey measures: columns, units, what the site knows of the sensors, and what is said of it."""

import numpy as np
import pytest
from made_surveys import COUNTS, gas_site, reader

from dowsax.site import parse_site
from dowsax.survey.describe import describe_columns

TABLE = "x,y,counts,live_time,det,bg_cps,eff\n1,2,640,60,A,9.5,1\n5,2,900,60,B,12,1.25\n9,9,800,30,A,9.5,1\n"
LEVELS = '[area]\nlow = [0, 0]\nhigh = [200, 150]\n[field]\nkind = "level"\n'
BEAM = LEVELS + "[sensor]\nbeam = 60\n"


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


def notes_about(survey, word):
    return [note for note in survey.notes if word in note]


def test_a_survey_that_has_them_uses_them_and_says_so(read):
    """By the names that loggers use, with their units; the findings have the notes."""
    survey = read(TABLE, parse_site(COUNTS), {"sensor": "det"})
    np.testing.assert_array_equal(survey.quantities["background"], [9.5, 12, 9.5])
    np.testing.assert_array_equal(survey.stations().efficiency, np.float32([1, 1.25, 1]))
    assert notes_about(survey, "background") == [
        "The background of each reading is known, from the column 'bg_cps': 9.5 to 12 cps."
    ]
    assert notes_about(survey, "efficiency")[0].endswith("from the column 'eff': 1 to 1.25.")
    said = dict(describe_columns(survey, parse_site(COUNTS)))
    assert said["background"] == "'bg_cps', in cps, what this sensor reads there without a source"


@pytest.mark.parametrize(
    ("header", "cell", "background"),
    [
        ("background (cpm)", 600, 10),
        ("bkg_kcps", 0.01, 10),
        ("background", 10, 10),
        ("Baseline [cps]", 10, 10),
    ],
)
def test_units_of_the_header_are_converted(read, header, cell, background):
    survey = read(f"x,y,counts,dwell,{header}\n1,2,640,60,{cell}\n", parse_site(COUNTS))
    assert survey.quantities["background"] == pytest.approx([background])


def test_without_a_unit_it_has_that_of_the_values(read):
    """Of gas; and an efficiency may be in percent."""
    site = gas_site('[wind]\nmode = "unknown"\n')
    rows = "1,2,2100,1900,30,80\n"
    survey = read(f"x,y,ch4 (ppb),baseline,sigma,eff (%)\n{rows}", site)
    assert survey.quantities["background"] == pytest.approx([1.9])
    assert survey.quantities["uncertainty"] == pytest.approx([0.03])
    assert survey.quantities["efficiency"] == pytest.approx([0.8])
    own = read(f"x,y,ch4 (ppb),baseline_ppm,sigma,eff (%)\n{rows}", site)
    assert own.quantities["background"] == pytest.approx([1900])


KNOWN = COUNTS + "[sensors]\nA = {background = 9.5}\nB = {background = 12, efficiency = 1.25}\n"


def test_what_a_file_does_not_say_the_site_knows_of_the_sensor(read):
    """An empty cell takes it, too; and a column wins."""
    survey = read("x,y,counts,sensor\n1,2,640,A\n5,2,900,B\n", parse_site(KNOWN))
    np.testing.assert_array_equal(survey.quantities["background"], [9.5, 12])
    np.testing.assert_array_equal(survey.quantities["efficiency"], [1, 1.25])
    assert "from the site file, by its sensor: 9.5 to 12 cps" in notes_about(survey, "background")[0]
    mixed = read("x,y,counts,sensor,background\n1,2,640,A,3\n5,2,900,B,\n", parse_site(KNOWN))
    np.testing.assert_array_equal(mixed.quantities["background"], [3, 12])
    assert "1 cell of 'background' says nothing, 12 is taken (first on line 3)." in mixed.notes


def test_a_row_without_a_background_is_left_out(read):
    """Nothing can stand in for it."""
    survey = read("x,y,counts,bg\n1,2,30,4\n5,2,90,\n9,9,60,5\n", parse_site(COUNTS))
    assert survey.lines.tolist() == [2, 4]
    np.testing.assert_array_equal(survey.quantities["background"], [4, 5])
    assert "1 row has no value in 'bg', left out (on line 3)." in survey.notes
    assert survey.left_out == 1


@pytest.mark.parametrize(
    ("site", "text", "reason"),
    [
        (KNOWN, "x,y,counts\n1,2,3\n", "line 1: the site knows the background of each sensor, and no column"),
        (KNOWN, "x,y,counts,sensor\n1,2,3,C\n", "line 2, column 'sensor': 'C' is none of the site's sensors"),
        (
            COUNTS + '[background]\nmode = "measured"\n',
            "x,y,counts\n1,2,3\n",
            "line 1: no background of each reading, which the site asks for; add a column background",
        ),
        (LEVELS + "[sensor]\nbeam = 60\n", "x,y,rssi\n1,2,-3\n", "no heading of each reading"),
        (
            LEVELS + "[sensor]\nbeam = 60\n",
            "x,y,rssi,yaw\n1,2,-3,400\n",
            "column 'yaw': must be <= 360; got 400.",
        ),
        (COUNTS, "x,y,counts,bg\n1,2,3,-1\n", "line 2, column 'bg': must be >= 0; got -1."),
        (COUNTS, "x,y,counts,bg_ppm\n1,2,3,4\n", "the unit 'ppm' of the background does not become cps"),
        (
            COUNTS,
            "x,y,counts,eff_s\n1,2,3,4\n",
            "the unit 's' of the efficiency does not become a plain",
        ),
        (
            COUNTS,
            "x,y,counts,bg,baseline\n1,2,3,4,5\n",
            "'bg', 'baseline' may each be the background;",
        ),
        (COUNTS, "x,y,counts,eff\n1,2,3,0\n", "line 2, column 'eff': must be > 0; got 0."),
        (COUNTS, "x,y,counts,eff\n1,2,3,120%\n", "column 'eff': '120%' is no plain number; write 1.2,"),
    ],
)
def test_errors_say_where_and_what_to_do(read, site, text, reason):
    with pytest.raises(ValueError, match=r"readings\.csv, line") as caught:
        read(text, parse_site(site))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_used_is_said_with_the_reason(read):
    """But not where the kind has no use for it at all: most drones write a heading."""
    unknown = parse_site(COUNTS + '[background]\nmode = "unknown"\n')
    survey = read("x,y,counts,bg,baseline,sigma,heading\n1,2,3,4,5,6,7\n", unknown)
    assert survey.quantities == {}
    assert notes_about(survey, "not used") == [
        "The column 'bg' was not used: the background of the site is \"unknown\" in [background].",
        "The column 'baseline' was not used: the background of the site is \"unknown\" in [background].",
        "The column 'sigma' was not used: counts have a noise of their own, Poisson's.",
    ]
    level = read("x,y,rssi,yaw,azimuth\n1,2,-3,4,5\n", parse_site(LEVELS))
    assert "The column 'yaw' was not used: the antenna of the site has no `beam` in [sensor]." in level.notes


def test_without_a_site_only_what_is_named_is_read(read):
    text = "x,y,value,background,yaw,heading\n1,2,3,4,5,6\n"
    assert read(text).quantities == {}
    named = read(text, columns={"heading": "yaw"})
    assert named.quantities["heading"] == [5]


def test_a_background_in_the_wrong_unit_is_asked_about(read):
    """Counts of a minute where counts per second belong; but not one that the noise explains."""
    text = "x,y,counts,dwell,background\n1,2,640,60,600\n1,3,700,60,650\n1,4,3,1,12\n"
    asked = [note for note in read(text, parse_site(COUNTS)).notes if "check" in note]
    assert asked == [
        "2 readings are below half of their known background: check whether that is in counts per second, as "
        "it is taken to be."
    ]


def test_values_of_loggers_for_nothing_are_missing(read):
    site = parse_site(LEVELS + "[sensor]\nbeam = 60\n[sensors]\nA = {heading = 12}\n")
    survey = read("x,y,rssi,sensor,heading,sigma\n1,2,-3,A,-999,-99\n1,2,-3,A,40,1\n", site)
    np.testing.assert_array_equal(survey.quantities["heading"], [12, 40])
    np.testing.assert_array_equal(survey.quantities["uncertainty"], [0, 1])
