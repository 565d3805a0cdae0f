"""Obstacles of a site file: corners, GeoJSON and maps; what is refused; and a text that stands alone."""

import json
import math

import numpy as np
import pytest
import shapely
from made_sites import AREA, DEGREES, require_refused, site
from test_occupancy_map import OCCUPIED, write_map

from dowsax.geo.local import LocalCoordinates
from dowsax.site import parse_site, read_site
from dowsax.site.describe import describe_site
from dowsax.site.read_obstacles import read_obstacles, rings

TANK = "[[obstacle]]\ncorners = [[90, 60], [110, 60], [110, 80], [90, 80]]\n"
FIELD = '[field]\nkind = "radiation"\n'
ORIGIN = (52.101, 5.1015)


def in_degrees(corners):
    return LocalCoordinates(ORIGIN).to_degrees(np.array(corners, float))[:, ::-1].tolist()


def square(x, y, side=10.0):
    return [[x, y], [x + side, y], [x + side, y + side], [x, y + side], [x, y]]


def feature(*rings, kind="Polygon", **properties):
    coordinates = [in_degrees(ring) for ring in rings]
    coordinates = coordinates if kind == "Polygon" else [[ring] for ring in coordinates]
    shape = {"type": kind, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": shape}


def collection(*features):
    return json.dumps({"type": "FeatureCollection", "features": features})


def swap(feature):
    """Latitude before longitude."""
    rings = [[corner[::-1] for corner in ring] for ring in feature["geometry"]["coordinates"]]
    return feature | {"geometry": feature["geometry"] | {"coordinates": rings}}


def site_in(folder, table, **files):
    """A site file in a folder with other files."""
    for name, text in files.items():
        (folder / f"{name}.geojson").write_text(text)
    (folder / "site.toml").write_text(f"{DEGREES}{FIELD}{table}")
    return folder / "site.toml"


def test_an_obstacle_has_what_the_file_says():
    one, other = site(
        f'{TANK}name = "tank"\nheight = 6\nattenuation = [0.1, 0.3]\n{TANK.replace("60", "20")}',
        kind="radiation",
    ).obstacles
    assert (one.name, one.height, one.attenuation.low, one.attenuation.high) == ("tank", 6.0, 0.1, 0.3)
    assert (other.name, other.height, other.attenuation) == ("", None, "opaque")
    np.testing.assert_array_equal(one.corners, [[90, 60], [110, 60], [110, 80], [90, 80]])


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('"opaque"', "opaque"),
        ('"unknown"', "unknown"),
        ("0.2", 0.2),
        ("{median = 0.1, factor = 2}", {"median": 0.1, "factor": 2.0}),
    ],
)
def test_attenuations(text, meant):
    (one,) = site(f"{TANK}attenuation = {text}\n", kind="radiation").obstacles
    found = one.attenuation
    assert (found if isinstance(found, str | float) else found.model_dump()) == meant


def test_an_obstacle_lower_than_the_sensor_does_not_stop_it():
    text = f"{TANK}height = 6\n"
    stopped = {
        height: len(site(f"[sensor]\nheight = {height}\n{text}").bounds.obstacles) for height in (2, 6, 7)
    }
    assert stopped == {2: 1, 6: 1, 7: 0}
    assert len(site(text).bounds.obstacles) == 1


ROUND = [[100 + 30 * math.cos(a / 64), 70 + 30 * math.sin(a / 64)] for a in range(401)]
REFUSED = {
    "crossing": (
        "[[obstacle]]\ncorners = [[0, 0], [9, 9], [9, 0], [0, 9]]\n",
        "obstacle.1.corners: the border crosses",
    ),
    "two corners": (
        "[[obstacle]]\ncorners = [[0, 0], [9, 9]]\n",
        "obstacle.1.corners: must have at least 3 different",
    ),
    "no shape": (
        '[[obstacle]]\nname = "tank"\n',
        "line 6, obstacle.1: needs its `corners` (or `corners_degrees`), a `file` or a `map`.",
    ),
    "two shapes": (f'{TANK}file = "a.geojson"\n', "obstacle.1.file: cannot be given with corners"),
    "a file without a folder": (
        '[[obstacle]]\nfile = "a.geojson"\n',
        "obstacle.1.file: is read beside a site file",
    ),
    "over the start": (
        f'{TANK}name = "tank"\n[start]\nposition = [100, 70]\n',
        "start.position: (100, 70) m is in the obstacle 'tank'; start elsewhere",
    ),
    "outside": (TANK.replace("90", "290").replace("110", "310"), "obstacle.1.corners: lies outside the area"),
    "the whole area": (
        "[[obstacle]]\ncorners = [[-1, -1], [201, -1], [201, 151], [-1, 151]]\n",
        "obstacle.1.corners: covers the whole area",
    ),
    "all of the fence": (
        f"{TANK}[[geofence]]\ncorners = [[95, 65], [105, 65], [105, 75]]\n",
        "obstacle: there is no place in the area where the sensor may be",
    ),
    "thinner than nothing": (
        "[[obstacle]]\ncorners = [[90, 60], [110, 60], [110, 60.001], [90, 60.001]]\n",
        "obstacle.1.corners: is thinner than 2 mm",
    ),
    "a height below ground": (f"{TANK}height = -1\n", "obstacle.1.height: must be > 0"),
    "a soft wall": (f'{TANK}attenuation = "soft"\n', 'obstacle.1.attenuation: must be "opaque", a number'),
    "a wall that adds": (f"{TANK}attenuation = -0.1\n", "obstacle.1.attenuation: must be >= 0"),
    "not a list of tables": ("[obstacle]\ncorners = []\n", "obstacle: must be written as [[obstacle]]"),
    "a place in an obstacle": (
        f"[step]\npoints = [[100, 70]]\n{TANK}",
        "step.points: (100, 70) m is outside",
    ),
    "too many corners": (
        f"[[obstacle]]\ncorners = {ROUND}\n",
        "obstacle.1.corners: all obstacles must have at most 400 corners; got 401: give fewer",
    ),
    "walled in": (
        "".join(
            f"[[obstacle]]\ncorners = {[[w, s], [e, s], [e, n], [w, n]]}\n"
            for w, s, e, n in ((0, 0, 20, 1), (0, 19, 20, 20), (0, 1, 1, 19), (19, 1, 20, 19))
        )
        + "[start]\nposition = [10, 10]\n",
        "start: it is walled in: 1 % of the allowed places can be reached",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused_in_one_line(what):
    text, reason = REFUSED[what]
    require_refused(text, reason)


def test_polygons_of_a_file_are_in_the_metres_of_the_site(tmp_path):
    """With their properties, or those of the table; what lies outside the area is left out."""
    file = collection(
        feature(square(0, 0), name="shed", height=3, attenuation=0.5),
        feature(square(-40, 0), square(-40, 30), kind="MultiPolygon", name=None),
        feature(square(5000, 0)),
        {"type": "Feature", "properties": None, "geometry": {"type": "Point", "coordinates": [5.1, 52.1]}},
    )
    table = '[[obstacle]]\nfile = "plant.geojson"\nheight = 9\nattenuation = "unknown"\n'
    found = read_site(site_in(tmp_path, table, plant=file)).obstacles
    assert [(one.name, one.height, one.attenuation) for one in found] == [
        ("shed", 3.0, 0.5), ("", 9.0, "unknown"), ("", 9.0, "unknown")]  # fmt: skip
    assert shapely.Polygon(found[0].corners).symmetric_difference(shapely.box(0, 0, 10, 10)).area < 1e-4
    assert shapely.union_all([shapely.Polygon(one.corners) for one in found[1:]]).bounds == pytest.approx(
        (-40, 0, -30, 40), abs=1e-4
    )


def test_what_is_not_used_of_a_file_is_said(tmp_path):
    line = {"type": "LineString", "coordinates": in_degrees([[0, 0], [9, 9]])}
    line = {"type": "Feature", "properties": {}, "geometry": line}
    file = collection(feature(square(0, 0)), feature(square(5000, 0)), line)
    table = '[[obstacle]]\nfile = "plant.geojson"\n'
    found = read_site(site_in(tmp_path, table, plant=file))
    words = "1 of the 3 features of plant.geojson used: 1 outside the area, 1 no polygon."
    assert found.notes == (words,)
    assert ("to check", words) in describe_site(found)
    assert read_site(site_in(tmp_path, table, plant=collection(feature(square(0, 0))))).notes == ()


def test_names_differ(tmp_path):
    """Those that are given; of the pieces of one file all but the first have a number."""
    two = f'{TANK}name = "tank"\n{TANK.replace("60", "20")}name = "{{}}"\n'
    require_refused(
        two.format("Tank"),
        "line 11, obstacle.2.name: must be a name that no other obstacle has; got 'Tank' twice",
    )
    site(two.format("other"))
    file = collection(*(feature(square(20 * number, 0)) for number in range(3)))
    table = '[[obstacle]]\nname = "hut"\nfile = "plant.geojson"\n'
    found = read_site(site_in(tmp_path, table, plant=file))
    assert [one.name for one in found.obstacles] == ["hut", "hut 2", "hut 3"]
    assert [one.name for one in parse_site(found.text).obstacles] == ["hut", "hut 2", "hut 3"]


def test_a_text_with_files_written_out_stands_alone(tmp_path):
    """As logs keep it: the same obstacles from the text alone, whatever else the file says."""
    write_map(tmp_path, np.pad(np.full((4, 20), OCCUPIED), 4, constant_values=254))
    table = (
        f"{TANK.replace('90', '40').replace('110', '50')}attenuation = [0.1, 0.2]\n"
        '[[obstacle]]\nname = "plant"\nfile = "plant.geojson"\n\n[budget]\nreadings = 9\n'
        '[[obstacle]]\nmap = "map.yaml"\nheight = 2\n'
    )
    first = read_site(site_in(tmp_path, table, plant=collection(feature(square(-30, -40)))))
    again = parse_site(first.text)
    assert again.budget.readings == 9
    assert len(first.obstacles) == len(again.obstacles) == 3
    for one, other in zip(first.obstacles, again.obstacles, strict=True):
        np.testing.assert_array_equal(one.corners, other.corners)
        assert (one.name, one.height, one.attenuation) == (other.name, other.height, other.attenuation)
    assert parse_site(again.text).text == again.text


BAD_FILES = {
    "none": (None, "does not exist"),
    "not JSON": ("{", "plant.geojson is no GeoJSON file"),
    "no polygons": (collection(), "plant.geojson has no polygons"),
    "a number": ("7", "plant.geojson has no polygons"),
    "crossing": (
        collection(feature([[0, 0], [9, 9], [9, 0], [0, 9], [0, 0]])),
        "feature 1: the border crosses",
    ),
    "a wrong height": (
        collection(feature(square(0, 0), height="high")),
        "feature 1, height: must be a finite number",
    ),
    "no numbers": (
        json.dumps({"type": "Polygon", "coordinates": [["a", "b"]]}),
        "feature 1: the coordinates are not those of a polygon",
    ),
    "far away": (
        collection(feature(square(5000, 0))),
        "the polygon of plant.geojson does not lie in the area; check both",
    ),
    "both far away": (
        collection(feature(square(5000, 0)), feature(square(-5000, 0))),
        "none of the 2 polygons of plant.geojson lies in the area; check both",
    ),
    "latitude first": (
        collection(swap(feature(square(0, 0))), swap(feature(square(5000, 0)))),
        "latitude and longitude of plant.geojson look swapped, as its polygons lie in the area the other way "
        "round: GeoJSON has longitude first",
    ),
    "no latitude": (
        json.dumps({"type": "Polygon", "coordinates": [[[5.1, 100], [5.2, 100], [5.2, 101]]]}),
        "feature 1: a latitude must be between -90 and 90 degrees; got 101",
    ),
    "a circle": (
        collection(feature([[30 * np.cos(a), 30 * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 450)])),
        "all obstacles must have at most 400 corners; got 449: give a larger `simplify`",
    ),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_bad_files_are_refused_in_one_line(what, tmp_path):
    content, reason = BAD_FILES[what]
    files = {} if content is None else {"plant": content}
    with pytest.raises(ValueError, match=r"^[^\n]+$") as caught:
        read_site(site_in(tmp_path, '[[obstacle]]\nfile = "plant.geojson"\n', **files))
    assert reason in str(caught.value)
    assert "line 9, obstacle.1.file" in str(caught.value)


def test_simplify_leaves_corners_out(tmp_path):
    circle = [[30 * np.cos(a), 30 * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 450)]
    table = '[[obstacle]]\nfile = "plant.geojson"\nsimplify = 0.5\n'
    (one,) = read_site(site_in(tmp_path, table, plant=collection(feature(circle)))).obstacles
    assert 8 < len(one.corners) < 40
    assert shapely.Polygon(one.corners).hausdorff_distance(shapely.Polygon(circle)) < 0.51


def test_files_need_degrees(tmp_path):
    (tmp_path / "plant.geojson").write_text(collection(feature(square(0, 0))))
    with pytest.raises(ValueError, match="needs `origin"):
        read_obstacles(tmp_path / "plant.geojson", LocalCoordinates())


@pytest.mark.parametrize("seed", range(3))
def test_areas_with_holes_become_polygons_without(seed):
    """They cover the same, and no way leads through where they were cut."""
    random = np.random.default_rng(seed)
    area = shapely.box(0, 0, 20, 20)
    for x, y in random.uniform(3, 17, (4, 2)):
        area = area.difference(shapely.Point(x, y).buffer(random.uniform(0.5, 2.5), quad_segs=3))
    pieces = rings(area)
    joined = shapely.union_all([shapely.Polygon(piece) for piece in pieces])
    assert joined.symmetric_difference(area).area < 1e-9
    from_text = site(
        "".join(f"[[obstacle]]\ncorners = {piece.tolist()}\n" for piece in pieces)
        + "[start]\nposition = [100, 75]\n",
        area=AREA,
    )
    courtyard = np.array([[hole.centroid.x, hole.centroid.y] for hole in area.interiors])
    assert np.isinf(from_text.bounds.way_lengths((100.0, 75.0), courtyard)).all()
