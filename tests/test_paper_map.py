"""The map of the paper: every name is imported, every test looked up, and nothing is left out."""

import ast
import re
from functools import lru_cache
from importlib import import_module
from pathlib import Path

import pytest

from dowsax.experiments.suites.registry import all_suites

ROOT = Path(__file__).parents[1]
SOURCE = ROOT.parent / "shared/paper/att-pfrl.tex"
PAGE = (ROOT / "docs/results/paper-map.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "docs/results/paper.md").read_text(encoding="utf-8")
QUOTED = re.findall(r"`([^`]+)`", PAGE)
OBJECTS = sorted({name for name in QUOTED if name.startswith("dowsax.")})
TESTS = sorted({name for name in QUOTED if name.startswith("tests/") and "::" in name})


def found(name):
    """The object of a dotted name: a module as far as it goes, then attributes."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            thing = getattr(thing, attribute)
        return thing
    raise ModuleNotFoundError(name)


@lru_cache
def functions_in(path):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", OBJECTS)
def test_every_entry_points_at_a_real_object(name):
    assert found(name) is not None


@pytest.mark.parametrize("name", TESTS)
def test_every_test_exists(name):
    path, _, function = name.partition("::")
    assert function in functions_in(path)


def test_a_name_that_is_not_there_is_noticed():
    with pytest.raises(AttributeError):
        found("dowsax.inference.weights.nonsense")
    with pytest.raises((ModuleNotFoundError, AttributeError)):
        found("dowsax.nonsense.ess")


def test_every_row_has_what_its_table_promises():
    """An object in every row, and a test in every row of a table of tests."""
    heading = ""
    for line in PAGE.splitlines():
        if line.startswith(("| paper |", "| line |")):
            heading = line
        elif line.startswith("| "):
            assert "`dowsax." in line, line
            assert ("`tests/" in line) == ("| test |" in heading), line


def test_every_suite_has_a_row_and_a_place_among_the_results():
    for name in all_suites():
        assert f"(paper.md#{name})" in PAGE
        assert f"{{ #{name} }}" in RESULTS
    assert set(re.findall(r"\(paper\.md#([\w-]+)", PAGE)) == set(all_suites())


def test_nothing_of_the_paper_is_left_out():
    """Labels of tables, figures, the algorithm and the equation; propositions; lines of the algorithm."""
    if not SOURCE.exists():
        pytest.skip(f"the source of the paper is not at {SOURCE}")
    text = SOURCE.read_text(encoding="utf-8")
    for label in re.findall(r"\\label\{((?:tab|fig|alg|eq)[^}]*)\}", text):
        assert f"`{label}`" in PAGE, label
    for number in re.findall(r"Proposition (\d)", text):
        assert f"Proposition {number}" in PAGE
    body = text[text.index(r"\begin{algorithmic}") : text.index(r"\end{algorithmic}")]
    lines = len(re.findall(r"\\(?:STATE|WHILE|FOR|ENDFOR|ENDWHILE)\b", body))
    rows = re.findall(r"^\| (\d+)(?: and (\d+))?, ", PAGE, re.M)
    assert {int(number) for row in rows for number in row if number} == set(range(1, lines + 1))
