"""Imports: at the top of a module, unless they delay a heavy third-party one; and no cycles."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
HEAVY = {
    "PIL",
    "aiomqtt",
    "arviz",
    "contourpy",
    "fastapi",
    "jax",
    "matplotlib",
    "mcap",
    "numpy",
    "pyarrow",
    "pymavlink",
    "ray",
    "rich",
    "scipy",
    "serial",
    "stable_baselines3",
}
"""Third-party packages that a function may import itself: extras, and what takes long to import."""
LAZY = {"dowsax", "dowsax.__main__", "dowsax.registration", "dowsax.viz"}
"""Modules whose job is to delay the others."""


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(path): ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))}


def imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Every import below a node, by the dotted name of what it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from ((node, name if name in MODULES else node.module) for name in whole)


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("module", [name for name in MODULES if name not in LAZY])
def test_functions_import_heavy_packages_alone(module):
    late = {name.split(".")[0] for function in functions(MODULES[module]) for _, name in imported(function)}
    assert late <= HEAVY


def test_there_is_no_cycle():
    """Type-checking imports count: they are cycles in the reader's head."""
    graph = {
        module: {name for _, name in imported(tree) if name in MODULES and name != module} - LAZY
        for module, tree in MODULES.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
