"""What the numbers of a filter depend on: its choices, trained weights, and a hash of the code.

The hash does not depend on commits, comments, docstrings or the version of Python, so that results stay
valid after a change that cannot have changed them.
"""

import ast
import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from dowsax.inference import Preset
from dowsax.inference.projection import projection_path
from dowsax.version import VERSION

PACKAGE = Path(__file__).parents[1]
PARTS = ("world", "inference", "envs/problem.py")
"""The code that computes a belief."""


def filter_settings(preset: Preset) -> dict[str, str | None]:
    """The choices of a filter, and the digest of its trained projection."""
    projection = None if preset.projection is None else _weights(preset.projection)
    return {"filter": repr(preset), "projection": projection}


def code_version() -> dict[str, str]:
    """The version of dowsax, and the hash of the code."""
    return {"dowsax": VERSION, "code": code_hash()}


@lru_cache(maxsize=1)
def code_hash() -> str:
    """The hash of the installed code."""
    return hash_sources(path.read_text(encoding="utf-8") for path in _files())


def hash_sources(sources: Iterable[str]) -> str:
    """The hash of Python sources, in this order."""
    text = json.dumps([plain(ast.parse(source)) for source in sources])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain(node: Any) -> Any:
    """A syntax tree as lists, without positions and without docstrings."""
    if isinstance(node, list):
        return [plain(one) for one in node if not _is_docstring(one)]
    if not isinstance(node, ast.AST):
        return repr(node)
    # Versions of Python differ in which empty fields there are.
    held = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return [type(node).__name__, *([name, plain(value)] for name, value in held if name != "kind")]


def _is_docstring(node: Any) -> bool:
    """Whether it is a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _files() -> list[Path]:
    places = [PACKAGE / part for part in PARTS]
    return [path for place in places for path in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]


def _weights(name: str) -> str:
    return hashlib.sha256(projection_path(name).read_bytes()).hexdigest()[:16]
