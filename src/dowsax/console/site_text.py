"""Changes to the text of a site file that keep its comments and everything that is not changed.

A value that the file has is replaced by tomlkit. Where a new key or table goes is decided by lines: a key
beside the # line that explains it, and the entries of a list where the first of them was.
"""

import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

import tomlkit

from dowsax.site.text import Fault, scan, toml_value

_HEADER = re.compile(r"\s*\[{1,2}\s*[A-Za-z_\"']")
"""Of a table; a line within a list of lists begins with a number."""
_IDLE = re.compile(r"\s*(#.*)?$")
_NAME = "site.toml"


def set_keys(text: str, values: Mapping[tuple[str, ...], Any]) -> str:
    """Return the text with these values of keys, each at the top or in a table; `None` leaves a key out.

    A `Fault` says where something else than a table would have the key.
    """
    document: Any = tomlkit.parse(text)
    missing = []
    for keys, value in values.items():
        *tables, key = keys
        table = document
        for name in tables:
            table = table.get(name, {})
            if not isinstance(table, MutableMapping):
                raise Fault(f"must be a table, [{name}], to be changed here: write it so in the text.", name)
        if value is None:
            if key in table:
                del table[key]
        elif key not in table:
            missing.append((keys, value))
        elif _plain(table[key]) != value or type(_plain(table[key])) is not type(value):
            table[key] = value
    text = tomlkit.dumps(document)
    for keys, value in missing:
        text = _add_key(text, keys, value)
    return text


def _plain(value: Any) -> Any:
    return value.unwrap() if hasattr(value, "unwrap") else value


def _add_key(text: str, keys: tuple[str, ...], value: Any) -> str:
    """Return the text with one more key, after the # line that has it or else the last key of its table."""
    *tables, key = keys
    lines, line = text.splitlines(), f"{key} = {toml_value(value)}"
    known = scan(_NAME, text)
    if not tables:
        return "\n".join([*_insert(lines, _example_at(lines, 0, _table_end(lines, 0), key) or 0, line), ""])
    (table,) = tables
    if (table,) not in known:
        return "\n".join([*lines, "", f"[{table}]", line, ""])
    first = known[(table,)]
    if not re.match(rf"\s*\[\s*{re.escape(table)}\s*\]", lines[first - 1]):
        # An inline table, or dotted keys.
        document: Any = tomlkit.parse(text)
        document[table][key] = value
        return tomlkit.dumps(document)
    end = _table_end(lines, first)
    at = _example_at(lines, first, end, key)
    if at is None:
        at = max((n for n in range(first, end) if not _IDLE.match(lines[n])), default=first - 1) + 1
    return "\n".join([*_insert(lines, at, line), ""])


def _insert(lines: list[str], at: int, line: str) -> list[str]:
    return [*lines[:at], line, *lines[at:]]


def _table_end(lines: list[str], first: int) -> int:
    """Return the index of the next header, or of the end."""
    return next((n for n in range(first, len(lines)) if _HEADER.match(lines[n])), len(lines))


def _example_at(lines: list[str], first: int, end: int, key: str) -> int | None:
    """Return the index after the line in which a key stands behind a #."""
    example = re.compile(rf"\s*#\s*{re.escape(key)}\s*=")
    return next((n + 1 for n in range(first, end) if example.match(lines[n])), None)


def set_list(text: str, name: str, entries: Iterable[Mapping[str, Any]]) -> str:
    """Return the text with these entries of `[[name]]`.

    An entry with `index` is the one of this index in the text, in which the other keys replace its own; a key
    of `None` is taken out.
    """
    entries = list(entries)
    lines, blocks = _blocks(text, name)
    made = []
    for entry in entries:
        changes = {key: value for key, value in entry.items() if key != "index"}
        index = entry.get("index")
        block = f"[[{name}]]\n"
        if index is not None and 0 <= index < len(blocks):
            first, end = blocks[index]
            block = "\n".join(lines[first:end])
        made.append(_change_entry(block, name, changes))
    if [block.rstrip() for block in made] == ["\n".join(lines[slice(*span)]).rstrip() for span in blocks]:
        return text
    new = [line for block in made for line in (*block.rstrip().splitlines(), "")]
    at = blocks[0][0] if blocks else len(lines)
    if not blocks and new:
        new = ["", *new]
    kept = [(n, line) for n, line in enumerate(lines) if not any(first <= n < end for first, end in blocks)]
    before = [line for n, line in kept if n < at]
    after = [line for n, line in kept if n >= at]
    return "\n".join([*before, *new, *after]).rstrip() + "\n"


def _blocks(text: str, name: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the lines, and from where to where each entry of a list goes, without comments after it."""
    lines, known, blocks = text.splitlines(), scan(_NAME, text), []
    if (name,) in known and (name, "1") not in known:
        raise Fault(f"must be written as [[{name}]], once for each, to be drawn.", name)
    while (name, str(len(blocks) + 1)) in known:
        first = known[name, str(len(blocks) + 1)] - 1
        if not re.match(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]", lines[first]):
            raise Fault(f"must be written as [[{name}]], once for each, to be drawn.", name)
        end = _table_end(lines, first + 1)
        while end > first + 1 and _IDLE.match(lines[end - 1]):
            end -= 1
        blocks.append((first, end))
    return lines, blocks


def _change_entry(block: str, name: str, changes: Mapping[str, Any]) -> str:
    """Return the lines of one entry with some of its keys changed."""
    document: Any = tomlkit.parse(block)
    table = document[name][0]
    for key, value in changes.items():
        if value is None:
            table.pop(key, None)
        elif key not in table or _plain(table[key]) != value:
            table[key] = value
    return tomlkit.dumps(document)
