"""The form of a site and its file: one becomes the other and back, and faults name the field they concern."""

import copy
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dowsax.console import site_form
from dowsax.console.site_form import LISTS, read_form, start_form, write_form
from dowsax.site.kinds import KINDS

START = start_form("temperature")
SITE = """\
# From the office.
name = "Yard"
[area]
south = 52.0
west = 5.0
north = 52.001
east = 5.002
[field]
kind = "temperature"  # of the ground
[[obstacle]]
# the shed
corners_degrees = [[52.0002, 5.0005], [52.0002, 5.0008], [52.0004, 5.0008]]
height = 3.0
"""

lengths = st.integers(1, 9_000).map(lambda number: number / 8) | st.integers(1, 500)
places = st.tuples(st.integers(-8_000, 8_000), st.integers(-8_000, 8_000)).map(
    lambda pair: [pair[0] / 8, pair[1] / 8]
)
names = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=12)
polygons = st.lists(
    st.fixed_dictionaries({"name": names, "corners": st.lists(places, min_size=3, max_size=6)}), max_size=3
)


@st.composite
def drawn(draw):
    """Values and shapes of a form; not every one is a site that can be searched."""
    values = dict.fromkeys(START["values"]) | {
        "field.kind": "temperature",
        "name": draw(names),
        "budget.readings": draw(st.none() | st.integers(1, 500)),
        "budget.distance": draw(st.none() | lengths),
        "budget.time": draw(st.none() | lengths),
        "budget.return": draw(st.none() | st.booleans()),
        "search.radius": draw(st.none() | lengths),
        "step.speed": draw(st.none() | lengths),
    }
    (west, south), width, height = draw(places), draw(lengths), draw(lengths)
    shapes = {
        "area": [[west, south], [west + width, south + height]],
        "origin": draw(st.none() | st.just([52.1, 5.25])),
        "start": draw(st.none() | places),
        "map": draw(
            st.none()
            | st.builds(lambda one, other: {"image": "plan.png", "corners": [one, other]}, places, places)
        ),
    }
    for name in LISTS:
        shapes[name] = [{"index": None, **entry} for entry in draw(polygons)]
    return values, shapes


def numbered(shapes):
    """The shapes as a file has them: each entry of a list with its number."""
    lists = {name: [entry | {"index": at} for at, entry in enumerate(shapes[name])] for name in LISTS}
    return shapes | lists


SMALL = """\
# A site.
[area]
low = [0, 0]
high = [20, 20]
[field]
kind = "temperature"
[budget]
# distance = 2000.0
# time = 60.0
readings = 100  # at most
# [start]
# position = [1, 1]
"""


@settings(max_examples=12, deadline=None)
@given(drawn(), drawn())
def test_form_to_file_to_form_is_the_identity(one, other):
    """Of a new file, and of a second form written over the first."""
    with pytest.MonkeyPatch.context() as patch:
        # What is wrong with a site does not matter here, and takes long to find.
        patch.setattr(site_form, "_faults", lambda text, table: [{}])
        text = SMALL
        for values, shapes in (one, other):
            form = write_form(text, values, shapes)
            assert form["values"] == values
            assert form["shapes"] == numbered(shapes)
            assert write_form(form["text"], form["values"], form["shapes"])["text"] == form["text"]
            text = form["text"]


@pytest.mark.parametrize("kind", ["gas-plume", "radiation", "level", "temperature"])
def test_the_form_of_a_new_site_is_that_of_its_file(kind):
    form = start_form(kind)
    assert form["faults"] == []
    assert form["site"]["kind"] == form["values"]["field.kind"] == kind
    keys = [field["key"] for field in form["fields"]]
    assert ("wind.mode" in keys) is KINDS[kind].uses_wind
    assert ("field.gas" in keys) is (KINDS[kind].gas is not None)
    assert ("sensor.dwell" in keys) is KINDS[kind].counts


def test_a_site_in_degrees_is_drawn_in_metres_and_keeps_its_comments():
    form = read_form(SITE)
    assert form["faults"] == []
    shapes = form["shapes"]
    assert shapes["origin"] == pytest.approx([52.0005, 5.001])
    (west, south), (east, north) = shapes["area"]
    assert (east - west, north - south) == pytest.approx((137.2, 111.3), rel=0.01)
    # The obstacle is moved by a metre: all but its place stays as it was.
    moved = [[x + 1, y] for x, y in shapes["obstacle"][0]["corners"]]
    changed = write_form(
        SITE, form["values"], shapes | {"obstacle": [shapes["obstacle"][0] | {"corners": moved}]}
    )
    table = tomllib.loads(changed["text"])
    assert table["area"] == tomllib.loads(SITE)["area"]
    assert table["obstacle"] == [{"height": 3.0, "corners": [[round(x, 3), y] for x, y in moved]}]
    for words in ("# From the office.", "# of the ground", "# the shed"):
        assert words in changed["text"]
    # A wider area is in metres about the same origin, so that nothing else moves.
    wider = write_form(SITE, form["values"], shapes | {"area": [[west - 10, south], [east, north]]})
    assert wider["shapes"]["obstacle"] == shapes["obstacle"]
    assert wider["faults"] == []


def test_a_change_of_the_kind_keeps_what_is_drawn():
    shapes = START["shapes"] | {
        "no_go": [{"index": None, "name": "pond", "corners": [[5, 5], [9, 5], [9, 9]]}]
    }
    form = write_form(START["text"], START["values"] | {"field.kind": "level", "budget.readings": 7}, shapes)
    assert form["faults"] == []
    assert (form["values"]["field.kind"], form["values"]["budget.readings"]) == ("level", 7)
    assert form["shapes"]["no_go"][0]["name"] == "pond"
    assert "correlation" in form["text"]


@pytest.mark.parametrize(
    ("attenuation", "kind", "expected"),
    [
        ('"unknown"', "level", "unknown"),
        ("0.5", "level", None),
        ('"unknown"', "gas-plume", None),
    ],
)
def test_a_change_of_the_kind_keeps_of_obstacles_what_it_has_too(attenuation, kind, expected):
    """A number of 1/m is none of dB/m."""
    text = start_form("radiation")["text"]
    text += f"""
[[obstacle]]
name = "store"
corners = [[5, 5], [9, 5], [9, 9]]
height = 6.0
attenuation = {attenuation}
"""
    form = read_form(text)
    assert form["faults"] == []
    moved = copy.deepcopy(form["shapes"])
    moved["obstacle"][0]["corners"][0] = [4.0, 5.0]
    changed = write_form(text, form["values"] | {"field.kind": kind}, moved)
    assert changed["faults"] == []
    (obstacle,) = tomllib.loads(changed["text"])["obstacle"]
    assert (obstacle["name"], obstacle["height"], obstacle.get("attenuation")) == ("store", 6.0, expected)
    assert obstacle["corners"][0] == [4.0, 5.0]
    gone = write_form(text, form["values"] | {"field.kind": kind}, moved | {"obstacle": []})
    assert gone["shapes"]["obstacle"] == []


def test_a_change_of_the_wind_leaves_out_what_does_not_go_with_it():
    start = start_form("gas-plume")
    constant = {"wind.mode": "constant", "wind.speed": 3.0, "wind.from": 270.0}
    form = write_form(start["text"], start["values"] | constant, start["shapes"])
    assert form["faults"] == []
    for mode in ("unknown", "measured"):
        form = write_form(form["text"], form["values"] | {"wind.mode": mode}, form["shapes"])
        assert (form["faults"], form["values"]["wind.speed"]) == ([], None)


def test_faults_name_the_key_they_concern():
    wrong = {"budget.readings": -3, "search.radius": 0.0, "budget.time": "soon"}
    form = write_form(START["text"], START["values"] | wrong, START["shapes"])
    assert {fault["key"] for fault in form["faults"]} == set(wrong)
    assert all(fault["line"].startswith("Site file, line ") for fault in form["faults"])
    bow = [{"index": None, "name": "", "corners": [[1, 1], [9, 9], [9, 1], [1, 9]]}]
    (fault,) = write_form(START["text"], START["values"], START["shapes"] | {"no_go": bow})["faults"]
    assert (fault["key"], "crosses itself" in fault["text"]) == ("no_go.1.corners", True)


ODD = "[area]\nlow = [0, 0]\nhigh = [20, 20]\norigin = [52, 5]\n[field]\nkind = 'gas-plume'\n"


@pytest.mark.parametrize(
    ("lines", "key"),
    [
        ("[search]\nradius = nan", "search.radius"),
        ("[wind]\nmode = 'constant'\nspeed = inf\nfrom = 3", "wind.speed"),
        ("[start]\nposition = [nan, 3]", "start.position"),
        ("[start]\nposition = [1e300, 3]", "start.position"),
        ("[[obstacle]]\ncorners = [[nan, 1], [2, 2], [3, 1]]", "obstacle.1.corners"),
        ("[[obstacle]]\ncorners_degrees = [[52, inf], [52, 5], [53, 5]]", "obstacle.1.corners_degrees"),
        ("[map]\nimage = 'plan.png'\ncorners = [[0, -inf], [3, 3]]", "map.corners"),
        ("[map]\nimage = 2020-01-01", "map.image"),
    ],
)
def test_what_is_no_finite_number_is_a_fault_at_its_key(client, lines, key):
    """The form shows nothing there, and leaves it in the text when something else changes."""
    form = client.post("/api/site/form", json={"text": f"{ODD}{lines}\n"})
    assert form.status_code == 200, form.text
    body = form.json()
    sent = {"text": body["text"], "values": body["values"] | {"name": "Yard"}, "shapes": body["shapes"]}
    changed = client.post("/api/site/form", json=sent)
    assert changed.status_code == 200, changed.text
    assert lines in changed.json()["text"]
    for answer, line in ((body, 6), (changed.json(), 7)):
        assert key in {fault["key"] for fault in answer["faults"]}
        assert all(int(fault["line"].split()[3].strip(",")) > line for fault in answer["faults"])


@pytest.mark.parametrize(
    ("text", "values", "shapes", "where"),
    [
        (f"wind = 5\n{ODD}", {"wind.speed": 3.0}, {}, "line 1, wind"),
        (f"{ODD}[[wind]]\nmode = 'constant'\n", {"wind.speed": 3.0}, {}, "line 7, wind"),
        (f"map = 3\n{ODD}", {}, {"map": {"image": "plan.png"}}, "line 1, map"),
        (f"{ODD}[[map]]\nimage = 'a'\n", {}, {"map": {"image": "plan.png"}}, "line 7, map"),
        (f"start = 5\n{ODD}", {"name": "Yard"}, {"start": [1, 1]}, "line 1, start"),
        (
            f"obstacle = 5\n{ODD}",
            {},
            {"obstacle": [{"corners": [[1, 1], [2, 2], [3, 1]]}]},
            "line 1, obstacle",
        ),
    ],
)
def test_a_change_of_what_is_no_table_is_refused_at_its_line(client, text, values, shapes, where):
    form = client.post("/api/site/form", json={"text": text}).json()
    sent = {"text": text, "values": form["values"] | values, "shapes": form["shapes"] | shapes}
    answer = client.post("/api/site/form", json=sent)
    assert answer.status_code == 422, answer.text
    assert answer.json()["error"].startswith(f"Site file, {where}: must be ")


def test_a_text_that_is_no_site_has_a_fault():
    form = read_form("[area\n")
    assert (form["values"], form["shapes"]) == (None, None)
    assert "not a TOML file" in form["faults"][0]["text"]
    assert read_form("")["shapes"] is None
    assert read_form("area = 3\n[[geofence]]\ncorners = 'x'\n")["faults"]


def test_the_route_writes_reads_and_refuses(client):
    form = client.post("/api/site/form", json={"kind": "temperature"}).json()
    assert form["text"] == START["text"]
    body = {name: form[name] for name in ("text", "values", "shapes")}
    assert client.post("/api/site/form", json=body).json()["text"] == form["text"]
    assert client.post("/api/site/form", json={"text": form["text"]}).json()["values"] == form["values"]
    for wrong in (
        body | {"values": {"search.preset": "paper"}},
        body | {"values": {"name": [1]}},
        body | {"shapes": {"area": [[0, 0]]}},
        body | {"shapes": form["shapes"] | {"start": [1e300, 0]}},
        {"kind": "other"},
        {"text": "x" * 60_001},
    ):
        answer = client.post("/api/site/form", json=wrong)
        assert answer.status_code == 422, wrong
        assert "error" in answer.json()
