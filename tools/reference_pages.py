"""Write the parts of the reference that come from the code: `python -m tools.reference_pages`.

The command line comes from the cyclopts app, the HTTP API from FastAPI's OpenAPI description, and the keys of
a site file from the package. The pages of docs/reference include what is written here.
"""

import argparse
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dowsax.cli import app
from dowsax.console.access_control import AccessSettings
from dowsax.console.app import build
from dowsax.console.service import Console
from dowsax.evaluate.tables import markdown
from dowsax.site.reference import reference_page

OUT = Path("build/docs")
METHODS = ("get", "post", "patch", "put", "delete")


def command_line() -> str:
    """Every command with its options, as cyclopts describes them, without its title and contents."""
    text = app.generate_docs()
    # Run with `python -m`, cyclopts takes that for a part of the usage.
    text = re.sub(r"^(dowsax [a-z ]+) -m [\w.]+", r"\1", text, flags=re.MULTILINE)
    return text[text.index("\n## dowsax ") + 1 :]


def http_api() -> str:
    """Every address of the console with what it takes and gives."""
    with tempfile.TemporaryDirectory() as folder:
        described = build(Console(Path(folder)), AccessSettings()).openapi()
    schemas = described["components"]["schemas"]
    parts = [
        _operation(method, path, operations[method])
        for path, operations in described["paths"].items()
        for method in METHODS
        if method in operations
    ]
    named = {name: schema for name, schema in schemas.items() if "properties" in schema}
    kinds = [_kind(name, schema) for name, schema in sorted(named.items()) if not name.endswith("Error")]
    return "\n\n".join([*parts, "## Objects", *kinds]) + "\n"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    lines = [f"## `{method.upper()} {path}`", operation.get("description", "")]
    parameters = [
        (
            f"`{one['name']}`",
            one["in"],
            _type(one["schema"]),
            "required" if one.get("required") else _default(one["schema"]),
        )
        for one in operation.get("parameters", ())
    ]
    if parameters:
        lines.append("\n".join(markdown(("parameter", "in", "type", "default"), parameters)))
    for name, about in operation.get("requestBody", {}).get("content", {}).items():
        lines.append(f"Body: `{name}`{_named(about.get('schema', {}))}.")
    for status, about in operation["responses"].items():
        for name, content in about.get("content", {}).items():
            if status.startswith("2"):
                lines.append(f"Answer {status}: `{name}`{_named(content.get('schema', {}))}.")
    return "\n\n".join(line for line in lines if line)


def _kind(name: str, schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (f"`{key}`", _type(about), "required" if key in required else _default(about), _said(about))
        for key, about in schema["properties"].items()
    ]
    head = [f"### {name}", schema.get("description", "")]
    columns = ("key", "type", "default", "meaning")[: 4 if any(row[3] for row in rows) else 3]
    table = "\n".join(markdown(columns, [row[: len(columns)] for row in rows]))
    return "\n\n".join([*(line for line in head if line), table])


def _named(schema: Mapping[str, Any]) -> str:
    kind = _type(schema)
    return "" if kind in ("", "any") else f", {kind}"


def _type(schema: Mapping[str, Any]) -> str:
    """A type in words; a link where it is an object of this page."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return schema.get("type", "any")


def _default(schema: Mapping[str, Any]) -> str:
    return f"`{schema['default']}`" if schema.get("default") not in (None, "") else "–"


def _said(schema: Mapping[str, Any]) -> str:
    return re.sub(r"\s+", " ", schema.get("description", "")).replace("|", "\\|")


PAGES = {"cli": command_line, "site-keys": reference_page, "http-api": http_api}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=OUT, help=f"the folder to write to; default: {OUT}")
    folder = parser.parse_args(words).out
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / f"{name}.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
