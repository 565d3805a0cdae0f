"""Exports, read back by other means: standard parsers, the ellipsoid's radii, shoelaces and counted rays."""

import csv
import io
import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from made_findings import FENCE, made_findings
from made_lengths import CENTIMETRE, metres, shoelace

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.decision import sort_by_time
from dowsax.mission.plan import Plan
from dowsax.report.export import geojson, kml, posterior_table, readings_table
from dowsax.site import parse_site
from dowsax.site.obstacles import Obstacle
from dowsax.survey import read_survey
from dowsax.survey.reading import Reading

KML = "{http://www.opengis.net/kml/2.2}"


def is_inside(ring, point):
    """Counting the sides that a ray to the east meets."""
    met = False
    for (x0, y0), (x1, y1) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (y0 > point[1]) != (y1 > point[1]):
            met ^= point[0] < x0 + (point[1] - y0) * (x1 - x0) / (y1 - y0)
    return met


@pytest.fixture(scope="module")
def findings():
    return made_findings()


@pytest.fixture(scope="module")
def features(findings):
    collection = json.loads(geojson(findings))
    assert collection["type"] == "FeatureCollection"
    assert all(feature["type"] == "Feature" for feature in collection["features"])
    return collection["features"]


def of_kind(features, what):
    return [feature for feature in features if feature["properties"]["what"] == what]


def test_geojson_has_every_part(features, findings):
    parts = {
        "geofence": 1,
        "no-go area": 1,
        "credible region": 2,
        "track": 1,
        "estimate": 1,
        "next waypoint": 2,
    }
    for what, number in (parts | {"reading": len(findings.values)}).items():
        assert len(of_kind(features, what)) == number


def test_obstacles_and_the_way_around_them_are_drawn(findings):
    """In GeoJSON with name and height, in KML under their name; the way from the last reading to the next."""
    shed = Obstacle(np.array([[60.0, 40.0], [66.0, 40.0], [66.0, 46.0]]), "shed", height=4.0)
    way = np.array([[62.0, 50.0]])
    found = replace(findings, obstacles=(shed, Obstacle(shed.corners + 20.0)), next_way=way)
    features = json.loads(geojson(found))["features"]
    one, other = of_kind(features, "obstacle")
    assert one["properties"] == {"what": "obstacle", "name": "shed", "height_m": 4.0}
    assert other["properties"]["height_m"] is None
    np.testing.assert_allclose(
        metres(one["geometry"]["coordinates"][0]), [*shed.corners, shed.corners[0]], atol=CENTIMETRE
    )
    (line,) = of_kind(features, "next way")
    expected = [found.positions[-1], way[0], *found.waypoints]
    np.testing.assert_allclose(metres(line["geometry"]["coordinates"]), expected, atol=CENTIMETRE)
    names = re.findall(r"<name>(.*?)</name>", kml(found))
    assert {"shed", "Obstacle", "Next way"} <= set(names)
    assert not {"shed", "Obstacle", "Next way"} & set(re.findall(r"<name>(.*?)</name>", kml(findings)))


def test_geojson_places_are_longitude_latitude_to_centimetres(features, findings):
    places = [feature["geometry"]["coordinates"] for feature in of_kind(features, "reading")]
    np.testing.assert_allclose(metres(places), findings.positions, atol=CENTIMETRE)
    track = of_kind(features, "track")[0]["geometry"]
    assert track["type"] == "LineString"
    np.testing.assert_allclose(metres(track["coordinates"]), findings.positions, atol=CENTIMETRE)
    estimate = of_kind(features, "estimate")[0]["geometry"]["coordinates"]
    np.testing.assert_allclose(metres([estimate])[0], findings.estimate, atol=CENTIMETRE)


def test_geojson_readings_keep_what_was_measured(features, findings):
    properties = [feature["properties"] for feature in of_kind(features, "reading")]
    assert [each["value"] for each in properties] == pytest.approx(findings.values.tolist())
    assert [each["line"] for each in properties] == findings.lines.tolist()
    assert {each["unit"] for each in properties} == {"ppm"}
    assert properties[3]["wind_east_m_s"] == pytest.approx(findings.wind[3, 0])


def test_geojson_rings_are_closed_and_turn_by_the_right_hand_rule(features):
    """RFC 7946, 3.1.6: exterior rings leftward round, holes rightward round."""
    rings = [
        feature["geometry"]["coordinates"] for feature in features if feature["geometry"]["type"] == "Polygon"
    ]
    for feature in of_kind(features, "credible region"):
        rings += feature["geometry"]["coordinates"]
    for outer, *holes in rings:
        assert outer[0] == outer[-1]
        assert len(outer) >= 4
        assert shoelace(outer) > 0
        assert all(shoelace(hole) < 0 and hole[0] == hole[-1] for hole in holes)


def test_geojson_regions_have_their_area_and_hold_the_estimate(features):
    estimate = of_kind(features, "estimate")[0]["geometry"]["coordinates"]
    for feature in of_kind(features, "credible region"):
        patches = feature["geometry"]["coordinates"]
        area = sum(shoelace(metres(ring[:-1])) for patch in patches for ring in patch)
        assert area == pytest.approx(feature["properties"]["area_m2"], rel=1e-3)
        assert sum(is_inside(ring[:-1], estimate) for patch in patches for ring in patch) == 1


def test_geojson_stays_whole_across_the_180th_meridian():
    """Longitudes go on beyond 180, or below -180, on the side of the origin."""
    for longitude, sign in ((179.9995, 1), (-179.9995, -1)):
        collection = json.loads(geojson(made_findings(coordinates=LocalCoordinates((-17.0, longitude)))))
        (track,) = of_kind(collection["features"], "track")
        longitudes = sign * np.array(track["geometry"]["coordinates"])[:, 0]
        assert np.ptp(longitudes) < 0.01
        assert longitudes.max() > 180 if sign == 1 else longitudes.min() < 180


def test_geojson_without_degrees_says_that_it_is_in_metres():
    findings = made_findings(coordinates=LocalCoordinates())
    collection = json.loads(geojson(findings))
    assert "metres" in collection["note"]
    estimate = of_kind(collection["features"], "estimate")[0]["geometry"]["coordinates"]
    np.testing.assert_allclose(estimate, findings.estimate, atol=1e-3)
    assert "note" not in json.loads(geojson(made_findings()))


def placemarks(text):
    root = ElementTree.fromstring(text)
    return {mark.find(f"{KML}name").text: mark for mark in root.iter(f"{KML}Placemark")}, root


def lon_lat(element):
    words = element.find(f".//{KML}coordinates").text.split()
    return np.array([[float(number) for number in word.split(",")] for word in words])


def test_kml_reads_back(findings):
    """Track, regions, geofence and estimate at their places; names survive their ampersands."""
    marks, root = placemarks(kml(findings))
    assert root.find(f"{KML}Document/{KML}name").text == findings.name
    np.testing.assert_allclose(metres(lon_lat(marks["Track"])), findings.positions, atol=CENTIMETRE)
    np.testing.assert_allclose(metres(lon_lat(marks["Estimate"]))[0], findings.estimate, atol=CENTIMETRE)
    fence = metres(lon_lat(marks["Geofence"]))
    np.testing.assert_allclose(fence[:-1], FENCE, atol=CENTIMETRE)
    np.testing.assert_array_equal(fence[0], fence[-1])
    folder = root.find(f".//{KML}Folder")
    assert len(folder.findall(f"{KML}Placemark")) == len(findings.values)
    values = [float(each.text) for each in folder.iterfind(f".//{KML}Data[@name='value']/{KML}value")]
    np.testing.assert_allclose(values, findings.values, rtol=1e-8)


def test_kml_regions_have_their_areas(findings):
    marks, _ = placemarks(kml(findings))
    for probability, region in findings.regions.items():
        mark = next(mark for name, mark in marks.items() if name.startswith(f"{100 * probability:.0f} %"))
        rings = [lon_lat(ring) for ring in mark.iter(f"{KML}LinearRing")]
        assert sum(abs(shoelace(metres(ring[:-1]))) for ring in rings) == pytest.approx(region.area, rel=1e-3)


def test_kml_styles_exist_and_colours_are_swapped(findings):
    """Every style that is used is defined; KML writes alpha, blue, green, red."""
    marks, root = placemarks(kml(findings))
    defined = {style.get("id") for style in root.iter(f"{KML}Style")}
    assert {url.text.removeprefix("#") for url in root.iter(f"{KML}styleUrl")} <= defined
    estimate = next(style for style in root.iter(f"{KML}Style") if style.get("id") == "region-50")
    assert estimate.find(f"{KML}LineStyle/{KML}color").text == "ffb27200"
    assert marks


def test_kml_needs_nothing_from_the_net(findings):
    """The only address in it is the name of the format."""
    assert re.findall(r"https?://[^\s\"<]+", kml(findings)) == [KML.strip("{}")]


def test_kml_needs_degrees():
    with pytest.raises(ValueError, match="KML needs latitude and longitude"):
        kml(made_findings(coordinates=LocalCoordinates()))


def table(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}


def test_posterior_table_gives_back_the_posterior(findings):
    columns = table(posterior_table(findings))
    assert columns["weight"].sum() == pytest.approx(1)
    for column, name in enumerate(findings.posterior.names):
        np.testing.assert_allclose(columns[name], findings.posterior.samples[:, column], rtol=1e-10)
    places = np.stack([columns["longitude"], columns["latitude"]], axis=1)
    np.testing.assert_allclose(metres(places), findings.posterior.samples[:, :2], atol=CENTIMETRE)


COUNTED = """
area = {low = [0, 0], high = [160, 100], origin = [51.2, -1.75]}
field = {kind = "radiation", unit = "counts"}
background = {mode = "per-sensor"}
sensor = {names = ["left", "right"], ground = 31.7}
search = {particles = 64}
"""
BLOWN = """
area = {low = [0, 0], high = [160, 100]}
field = {kind = "gas-plume", unit = "ppm", gas = "methane"}
wind = {missing = "interpolate"}
search = {particles = 64}
"""


def counted():
    """Two sensors with dwells and heights of their own; the fourth reading is late, and some have no id."""
    random = np.random.default_rng(5)
    for number, (x, y) in enumerate(random.uniform((0, 0), (160, 100), (12, 2))):
        yield Reading(
            (x, y), float(random.poisson(30)), sensor=("left", "right")[number % 2], dwell=1 + number / 3,
            altitude=31.7 + random.uniform(0.5, 2), time=1.7e9 + number - 1.5 * (number == 3),
            id=None if number % 4 == 0 else f"a, {number}",
        )  # fmt: skip


def blown():
    """The wind changes, and is not measured each time; nor is the time, which is of no account."""
    random = np.random.default_rng(6)
    for number, (x, y) in enumerate(random.uniform((0, 0), (160, 100), (12, 2))):
        east, north = random.normal((3, 0), 1)
        wind = None if number % 5 == 4 else (east, north)
        yield Reading((x, y), 2 + random.exponential(), wind, None if number == 7 else float(number))


@pytest.mark.parametrize(("text", "mission"), [(COUNTED, counted), (BLOWN, blown)])
def test_the_readings_of_a_mission_are_a_survey_with_the_same_belief(tmp_path, text, mission):
    """The same readings at the same stations to the last bit, which are all that a belief is made of."""
    site = parse_site(text)
    stations, taken = Plan.of(site).stations, []
    for reading in mission():
        taken.append(stations.complete(reading, taken))
    path = tmp_path / "mission.csv"
    path.write_text(readings_table(taken, site.coordinates, site.sensor.ground))
    survey = read_survey(path, site)
    found, taken = survey.stations(), sort_by_time(taken)
    assert len(survey.values) == len(taken)
    for number, reading in enumerate(taken):
        expected = stations.station(reading, taken[:number])
        assert survey.values[number] == reading.value
        for name in ("position", *stations.names):
            np.testing.assert_array_equal(getattr(found, name)[number], getattr(expected, name))
    assert survey.notes == ()


def test_the_table_of_readings_keeps_all_that_is_known(tmp_path):
    """Ids with commas, times to the microsecond; what only some readings have is there, and not used."""
    readings = [
        Reading((1.0, 2.0), 3.0, time=1763223438.123456, id="a, b"),
        Reading((4.0, 0.1), 5.0, time=1763223439.0, sensor="left", wind=(1.0, -2.0)),
    ]
    text = readings_table(readings, LocalCoordinates((51.2, -1.75)))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["id"] for row in rows] == ["a, b", ""]
    assert [float(row["time"]) for row in rows] == [reading.time for reading in readings]
    assert [row["given_sensor"] for row in rows] == ["", "left"]
    assert [row["given_wind_v"] for row in rows] == ["", "-2.0"]
    assert not {"altitude", "given_altitude", "dwell", "sensor"} & rows[0].keys()
    places = [(float(row["longitude"]), float(row["latitude"])) for row in rows]
    np.testing.assert_allclose(metres(places), [(1.0, 2.0), (4.0, 0.1)], atol=CENTIMETRE)
    assert "latitude" not in readings_table(readings, LocalCoordinates())
    path = tmp_path / "mission.csv"
    path.write_text(text.replace("latitude,longitude", "longitude,latitude"))
    with pytest.raises(ValueError, match="say twice where a reading was taken"):
        read_survey(path, parse_site(COUNTED))
