"""Changes to the text of a site file: they say what was meant, and keep comments and all else."""

import tomllib

import pytest

from dowsax.console.site_text import set_keys, set_list
from dowsax.site import NEW_SITE
from dowsax.site.text import Fault

TEXT = """\
# My own words.
[area]
low = [0, 0]  # the gate
high = [
  [40, 20][0],
]

[budget]
# distance = 2000.0
readings = 10 # at most
[field]
kind = "gas"
"""
TEXT = TEXT.replace("[\n  [40, 20][0],\n]", "[\n  40,\n  20,\n]")
FENCES = """\
[area]
low = [0, 0]
# First fence.
[[geofence]]
# inside the first
corners = [
  [0, 0],
  [9, 0], [9, 9]]
# Second fence.
[[geofence]]
name = "b"  # the second
corners = [[1, 1], [2, 1], [2, 2]]
# About the field.
[field]
kind = "gas"
"""


def test_a_value_is_replaced_and_its_comment_stays():
    text = set_keys(TEXT, {("budget", "readings"): 12, ("area", "high"): [50, 30]})
    assert "readings = 12 # at most" in text
    assert tomllib.loads(text)["area"] == {"low": [0, 0], "high": [50, 30]}
    assert "# My own words." in text
    assert "low = [0, 0]  # the gate" in text


def test_a_new_key_stands_below_the_line_that_explains_it():
    lines = set_keys(TEXT, {("budget", "distance"): 5.0}).splitlines()
    assert lines[lines.index("# distance = 2000.0") + 1] == "distance = 5.0"


def test_a_new_key_of_a_table_without_that_line_goes_to_its_end():
    text = set_keys(TEXT, {("budget", "time"): 60.0, ("start", "position"): [1, 2], ("name",): "Yard"})
    table = tomllib.loads(text)
    assert (table["budget"]["time"], table["start"], table["name"]) == (60.0, {"position": [1, 2]}, "Yard")
    assert text.index("time = 60.0") < text.index("[field]")


@pytest.mark.parametrize("text", ["budget = {readings = 3}\n", "budget.readings = 3\n[area]\nlow = [0, 0]\n"])
def test_inline_tables_and_dotted_keys_take_new_keys(text):
    table = tomllib.loads(set_keys(text, {("budget", "time"): 60.0, ("budget", "readings"): None}))
    assert table["budget"] == {"time": 60.0}


@pytest.mark.parametrize("text", ["budget = 5\n", "budget = [5]\n", "[[budget]]\nreadings = 3\n"])
def test_what_is_no_table_takes_no_keys(text):
    with pytest.raises(Fault, match=r"must be a table, \[budget\]") as refused:
        set_keys(text, {("budget", "time"): 60.0})
    assert refused.value.keys == ("budget",)


def test_what_does_not_change_is_the_same_text():
    table = tomllib.loads(NEW_SITE)
    same = {("budget", key): value for key, value in table["budget"].items()}
    assert set_keys(NEW_SITE, same) == NEW_SITE
    corners = [fence["corners"] for fence in tomllib.loads(FENCES)["geofence"]]
    entries = [{"index": index, "corners": corners[index]} for index in range(2)]
    assert set_list(FENCES, "geofence", entries) == FENCES


def test_entries_keep_their_own_comments():
    """The second comes first, a new one after it, and the first goes; what stood between them stays."""
    triangle = [[5, 5], [6, 5], [6, 6]]
    text = set_list(FENCES, "geofence", [{"index": 1, "name": "c"}, {"index": None, "corners": triangle}])
    fences = tomllib.loads(text)["geofence"]
    assert [fence.get("name") for fence in fences] == ["c", None]
    assert fences[1]["corners"] == triangle
    for words in ("# the second", "# First fence.", "# Second fence.", "# About the field."):
        assert words in text
    assert "# inside the first" not in text
    assert tomllib.loads(set_list(text, "geofence", [])).keys() == {"area", "field"}


def test_a_list_in_one_line_cannot_be_drawn():
    with pytest.raises(Fault, match=r"\[\[geofence\]\]"):
        set_list("geofence = [{corners = [[0, 0], [1, 0], [1, 1]]}]\n", "geofence", [])
