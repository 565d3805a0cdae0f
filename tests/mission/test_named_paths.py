"""Readings along a listed path, by its name: its ends and its altitude, or an error that lists the names."""

import pytest

from dowsax.mission.named_paths import with_ends
from dowsax.site.area import ListedPath
from dowsax.survey.reading import Refused

PATHS = (
    ListedPath("south", ((10.0, 10.0), (110.0, 10.0)), 4.0),
    ListedPath("high", ((10.0, 10.0), (110.0, 10.0)), 9.0),
)
ENDS = {"x": 10.0, "y": 10.0, "x2": 110.0, "y2": 10.0}


def test_the_name_gives_ends_and_altitude():
    """The altitude is above what the site takes for its ground."""
    assert with_ends({"path": "high", "value": 2}, PATHS, {}, 100.0) == {
        "value": 2,
        **ENDS,
        "altitude": 109.0,
    }
    given = {"Path": "south", "value": 2, "alt": 7.0}
    assert with_ends(given, PATHS, {}, 0.0) == {"value": 2, "alt": 7.0, **ENDS}


@pytest.mark.parametrize(
    "body", [{"value": 2}, {"path": None}, {"path": "south", "x": 1, "y": 2}, {"path": "south", "lat2": 51}]
)
def test_a_place_of_its_own_comes_first(body):
    assert with_ends(body, PATHS, {}, 0.0) == body


def test_a_column_of_that_name_keeps_its_meaning():
    assert with_ends({"path": "south"}, PATHS, {"sensor": "path"}, 0.0) == {"path": "south"}


def test_without_listed_paths_the_key_is_any_other():
    assert with_ends({"path": "south"}, (), {}, 0.0) == {"path": "south"}


@pytest.mark.parametrize("name", ["west", 3, ["south"], {"a": 1}, "w" * 500])
def test_other_names_are_refused_in_one_line(name):
    with pytest.raises(Refused, match=r"^Unknown path .{1,80}: the site file names south, high\.$"):
        with_ends({"path": name}, PATHS, {}, 0.0)


def test_many_names_are_cut():
    paths = tuple(ListedPath(f"p{number}", PATHS[0].ends) for number in range(500))
    with pytest.raises(Refused, match=r"p19, …\.$"):
        with_ends({"path": "west"}, paths, {}, 0.0)
