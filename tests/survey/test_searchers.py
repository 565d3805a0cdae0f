"""The searchers of a survey: whose reading is whose, and what follows from it."""

import pytest
from made_surveys import COUNTS, reader

from dowsax.site import parse_site
from dowsax.survey.repeats import add_up_counts, survey_has_track

TEAM = """
area = {low = [0, 0], high = [60, 40]}
field = {kind = "level"}
sensor = {lag = 5}
searcher = [{name = "anna"}, {name = "ben"}]
"""


@pytest.fixture
def survey(tmp_path):
    return reader(tmp_path)


def test_a_trail_is_of_the_sensor_of_one_searcher(survey):
    """The names are those of the site; without searchers the column is not used."""
    text = "time,x,y,value,searcher\n0,0,0,1,anna\n1,50,0,1,ben\n2,3,0,1,anna\n3,53,0,1,ben\n"
    site = parse_site(TEAM)
    read = survey(text, site)
    assert read.searcher.tolist() == [0, 1, 0, 1]
    trail = read.stations(trail=True).trail
    assert trail.stations.position[2:, 0, 0].tolist() == [0.0, 50.0]
    assert trail.ages[2:, 0].tolist() == [2.0, 2.0]
    assert not survey_has_track(read)
    with pytest.raises(ValueError, match=r"line 5, .*'carl' is none of the site's searchers, anna, ben"):
        survey(text.replace("3,53,0,1,ben", "3,53,0,1,carl"), site)
    assert survey(text).searcher is None


def test_counts_of_several_searchers_are_not_added_up(survey):
    site = parse_site(COUNTS + '[[searcher]]\nname = "anna"\n[[searcher]]\nname = "ben"\n')
    text = "x,y,counts,dwell,searcher\n1,2,40,10,anna\n1,2,50,10,ben\n1,2,60,10,anna\n"
    summed = add_up_counts(survey(text, site), site)
    assert (summed.values.tolist(), summed.searcher.tolist()) == ([100, 50], [0, 1])


def test_searchers_of_a_site_that_names_none_are_noted(survey):
    """And a name that differs in its case alone is suggested."""
    text = "x,y,counts,searcher\n1,2,3,anna\n3,4,5,ben\n"
    (note,) = [note for note in survey(text, parse_site(COUNTS)).notes if "searcher" in note]
    assert note.startswith(
        "The column 'searcher' was not used: name each searcher in the site file, [[searcher]]"
    )
    named = parse_site(COUNTS + '[[searcher]]\nname = "Anna"\n[[searcher]]\nname = "ben"\n')
    with pytest.raises(ValueError, match=r"'anna' is none of the site's searchers, .* Did you mean 'Anna'\?"):
        survey(text, named)
