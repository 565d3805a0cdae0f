"""The tables of learned policies have the numbers of results, and say where every method stands."""

import pytest

from benchmarks import learning_tables, pairs
from benchmarks.table_files import TABLES
from dowsax.experiments.suites.searches import FIELDS, METHODS


def made(stops, path, policy="infotaxis", filter_="default"):
    """A difference with an interval of 0.02 and 1 m to either side, on the first field."""
    line = {"field": FIELDS[0], "policy": policy, "filter": filter_, "against": "pfrl"}
    for name, value, half in (("stop_rate", stops, 0.02), ("path_length_both", path, 1.0)):
        line |= {name: str(value), f"{name}_low": str(value - half), f"{name}_high": str(value + half)}
        line[f"{name}_n"] = "300"
    return line


@pytest.mark.parametrize(
    ("stops", "path", "place"), [(0.03, 9, 0), (-0.03, -9, 1), (0.01, -2, 2), (0.01, 2, 3), (0.01, 0.5, 4)]
)
def test_stops_come_first_and_paths_where_they_are_level(stops, path, place):
    first = learning_tables.best([made(stops, path)]).splitlines()[2]
    words = [word.strip() for word in first.strip("|").split("|")]
    assert words[0] == FIELDS[0]
    assert words[1 + place] == "infotaxis"
    assert words[1:].count("none") == 4


def test_attention_in_the_filter_is_named():
    assert "att-pfrl with attention" in learning_tables.best([made(0.0, 0.0, *pairs.WITH)])


def test_every_method_but_the_oracle_is_compared_with_ours():
    compared = {policy for (policy, _), other in pairs.PAIRS if other == pairs.OURS}
    assert compared == set(METHODS) - {"pfrl", "straight"}


def test_the_files_are_those_of_the_numbers():
    found = learning_tables.tables(learning_tables.DATA)
    assert {"headline", "levels", "best", "attention", "limits", "training", "speed"} == set(found)
    for name, text in found.items():
        path = TABLES / "learning" / f"{name}.md"
        assert path.read_text(encoding="utf-8").strip() == text.strip(), name
