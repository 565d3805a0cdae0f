"""Exports of a mission of several searchers: a track and a next place for each, and a plan for each."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import pytest
from made_teams import team_advisor, team_site, walk_in_turn

from dowsax import viz
from dowsax.geo.local import LocalCoordinates
from dowsax.report.export import geojson, kml, qgc_plan, readings_table
from dowsax.report.mission_findings import findings_of
from dowsax.site.schema import SearchSetting

SEARCH = SearchSetting.model_construct(preset="plain", particles=512, radius=1e-6)
PLACED = {"coordinates": LocalCoordinates((52.0, 5.0)), "search": SEARCH}
"""On the globe, with a stop that cannot be reached."""


@pytest.fixture(scope="module")
def advisor():
    one = team_advisor(**PLACED)
    walk_in_turn(one, 5)
    return one


@pytest.fixture(scope="module")
def findings(advisor):
    return findings_of(advisor, team_site(**PLACED), "location-gain")


def test_ways_join_readings_of_one_searcher_only(advisor, findings):
    for track in findings.tracks:
        own = [reading.position for reading in advisor.readings if reading.searcher == track.name]
        assert track.places.tolist() == np.array(own).tolist()
        assert track.waypoints.tolist() == [list(advisor.assigned[track.name].next_position)]
    assert {track.name for track in findings.tracks} == {"anna", "ben"}
    assert len({track.colour for track in findings.tracks}) == 2


def test_geojson_and_kml_have_a_track_for_each(findings):
    features = [feature["properties"] for feature in json.loads(geojson(findings))["features"]]
    for what in ("track", "next waypoint"):
        assert [one["searcher"] for one in features if one["what"] == what] == ["anna", "ben"]
    owners = [one["searcher"] for one in features if one["what"] == "reading"]
    assert owners == ["anna", "ben", "anna", "ben", "anna"]
    names = {element.text for element in ElementTree.fromstring(kml(findings)).iter() if element.text}
    assert {"Track anna", "Track ben", "Next waypoint anna", "Next waypoint ben"} <= names


def test_each_plan_takes_off_where_its_searcher_is(findings):
    for track in findings.tracks:
        items = json.loads(qgc_plan(findings.for_searcher(track)))["mission"]["items"]
        start, end = (findings.degrees(place)[0] for place in (track.last, track.waypoints))
        assert items[0]["params"][4:6] == pytest.approx(start.tolist(), abs=1e-8)
        assert items[-1]["params"][4:6] == pytest.approx(end.tolist(), abs=1e-8)


def test_the_table_says_whose_a_reading_is(advisor):
    rows = list(csv.DictReader(readings_table(advisor.readings, advisor.plan.coordinates).splitlines()))
    assert [row["searcher"] for row in rows] == [reading.searcher for reading in advisor.readings]


def test_the_map_draws_all_of_them(findings):
    figure = viz.survey_figure(findings)
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert {"anna, next waypoint", "ben, next waypoint"} <= set(labels)
