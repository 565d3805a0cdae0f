"""The house rules on size and shape, as a test."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dowsax"
FILES = sorted(SOURCE.rglob("*.py"))
BLOCKS = (ast.For, ast.While, ast.If, ast.With, ast.Try, ast.Match)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def nesting(node: ast.AST) -> int:
    """The depth of blocks in a node. An `elif` is no deeper than its `if`; a nested `def` adds nothing."""
    if isinstance(node, ast.If) and len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        inner = max(map(nesting, node.body))
        return max(1 + inner, nesting(node.orelse[0]))
    inner = max(map(nesting, ast.iter_child_nodes(node)), default=0)
    return inner + isinstance(node, BLOCKS)


def test_nesting_counts_blocks():
    text = "def f():\n for a in b:\n  if a:\n   pass\n  elif b:\n   pass\n  elif c:\n   def g():\n    pass"
    assert nesting(ast.parse(text)) == 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_file_keeps_the_house_rules(path):
    """At most 400 lines a file, fewer than 80 a function, blocks at most three deep."""
    text = path.read_text()
    assert len(text.splitlines()) <= 400
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            assert node.end_lineno - node.lineno + 1 < 80, f"{node.name} is too long"
            assert nesting(node) <= 3, f"{node.name} is nested too deep"
