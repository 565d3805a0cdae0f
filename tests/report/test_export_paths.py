"""Readings along open paths in exports and maps: lines between their ends, and no track."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from made_findings import made_findings, made_track
from matplotlib.collections import LineCollection

from dowsax.report.export import geojson, kml, qgc_plan
from dowsax.report.summary import readings
from dowsax.viz import survey_figure

KML = "{http://www.opengis.net/kml/2.2}"
NUMBER = 60
FAR_ENDS = made_track(NUMBER)
FAR_ENDS[10:] += [20.0, -5.0]
"""The first ten readings are at points."""
NEXT = np.array([[30.0, 30.0], [90.0, 60.0]])


@pytest.fixture(scope="module")
def findings():
    return made_findings(far_ends=FAR_ENDS, next_path=NEXT, waypoints=np.zeros((0, 2)))


def test_geojson_has_a_line_for_each_path(findings):
    features = json.loads(geojson(findings))["features"]
    kinds = [one["geometry"]["type"] for one in features if one["properties"]["what"] == "reading"]
    assert kinds == ["Point"] * 10 + ["LineString"] * (NUMBER - 10)
    track, following = (
        [one["geometry"]["coordinates"] for one in features if one["properties"]["what"] == what]
        for what in ("track", "next path")
    )
    assert len(track[0]) == 10
    latitude, longitude = np.transpose(findings.degrees(NEXT))
    np.testing.assert_allclose(following[0], np.stack([longitude, latitude], axis=1), atol=1e-8)


def test_kml_has_a_line_for_each_path(findings):
    root = ElementTree.fromstring(kml(findings))
    folder = root.find(f"{KML}Document/{KML}Folder")
    lines = folder.findall(f"{KML}Placemark/{KML}LineString/{KML}coordinates")
    assert len(lines) == NUMBER - 10
    assert all(len(line.text.split()) == 2 for line in lines)
    names = [name.text for name in root.iter(f"{KML}name")]
    assert "Next path" in names


def test_the_summary_counts_paths_and_the_way_between_points_alone(findings):
    words = " ".join(readings(findings))
    assert f"{NUMBER - 10} of them are means along a path." in words
    length = np.linalg.norm(np.diff(made_track(NUMBER)[:10], axis=0), axis=1).sum()
    assert f"Length of the track: {length:.0f} m." in words


def test_nothing_flies_to_a_path(findings):
    with pytest.raises(ValueError, match="along a path of an instrument that stands there"):
        qgc_plan(findings)


def test_the_map_shows_paths_as_lines_in_the_colours_of_readings(findings):
    figure = survey_figure(findings)
    axes = next(axes for axes in figure.axes if axes.get_label() == "map")
    drawn = [np.array(one.get_segments()) for one in axes.collections if isinstance(one, LineCollection)]
    # The others are the bars of the estimate.
    (ends,) = [segments for segments in drawn if len(segments) == NUMBER - 10]
    order = np.lexsort(ends[:, 0].T)
    expected = findings.ends[10:]
    np.testing.assert_allclose(ends[order], expected[np.lexsort(expected[:, 0].T)])
    labels = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert "track, readings, paths" in labels
    assert "next path" in labels
