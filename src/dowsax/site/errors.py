"""Errors in a site file: one line that names file, line and key, and says what must hold."""

import difflib
import re
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from dowsax.site.scan import scan

MISSING = "this key is missing; `dowsax site new` writes a file with every key."
_MAX_KEY_LENGTH = 200
_MAX_VALUE_LENGTH = 60
_MUST_BE = {
    "float_type": "must be a finite number",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "string_type": "must be text in quotes",
    "list_type": "must be a list in brackets",
}
_BOUNDS = {"greater_than": ("gt", ">"), "greater_than_equal": ("ge", ">="), "less_than_equal": ("le", "<=")}


class Fault(ValueError):
    """What is wrong with one key, before it is known in which file and on which line the key is."""

    def __init__(self, words: str, *keys: str) -> None:
        super().__init__(words)
        self.keys = keys


def locate(fault: Fault, file: str, text: str) -> ValueError:
    """Return the error in one line: the file, the line of the key or of its table, the key and the words."""
    lines = scan(file, text)
    tables = (fault.keys[:size] for size in range(len(fault.keys), 0, -1))
    line = next((lines[keys] for keys in tables if keys in lines), None)
    where = file if line is None else f"{file}, line {line}"
    key = cut(".".join(fault.keys), _MAX_KEY_LENGTH)
    return ValueError(f"{where}, {key}: {fault}")


def first_fault(error: ValidationError, table: dict[str, Any]) -> Fault:
    """Return the first of what pydantic says is wrong with the table of a site file, in plain words."""
    first = error.errors(include_url=False)[0]
    keys, context = _keys(first["loc"], table), first.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, Fault):
        return Fault(str(cause), *keys, *cause.keys)
    if cause is not None:
        return Fault(str(cause), *keys)
    if first["type"] == "missing":
        return Fault(MISSING, *keys, str(first["loc"][-1]))
    return Fault(_words(first["type"], first["msg"], context, first["input"], keys), *keys)


def _keys(location: tuple[int | str, ...], table: Any) -> tuple[str, ...]:
    """Return the part of pydantic's location that is in the file; tables of a list are numbered from 1.

    Pydantic adds the names of the alternatives of a union, and the index of a number in a list.
    """
    keys = []
    for part in location:
        if isinstance(table, dict) and part in table:
            keys.append(str(part))
            table = table[part]
        elif isinstance(table, list) and isinstance(part, int) and isinstance(table[part], dict):
            keys.append(str(part + 1))
            table = table[part]
    return tuple(keys)


def _words(kind: str, message: str, context: dict[str, Any], value: Any, keys: tuple[str, ...]) -> str:
    if kind in _BOUNDS:
        name, sign = _BOUNDS[kind]
        return f"must be {sign} {plain(context[name])}; got {plain(value)}."
    if kind == "too_long":
        return f"must have at most {context['max_length']:,} entries; got {context['actual_length']:,}."
    if kind == "too_short":
        return f"must have at least {context['min_length']} entries; got {context['actual_length']}."
    if kind == "literal_error":
        return choice_words(value, re.findall(r"'([^']*)'", context["expected"]))
    if keys[0] in ("geofence", "no_go") and kind in ("list_type", "model_type") and len(keys) == 1:
        return f"must be written as [[{keys[0]}]], once for each; got {show(value)}."
    if kind in ("model_type", "dict_type"):
        return f"must be a table, [{'.'.join(keys)}]; got {show(value)}."
    return f"{_MUST_BE.get(kind, message)}; got {show(value)}."


def unknown_key_words(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1)
    return (
        f"unknown key; did you mean {near[0]!r}?" if near else f"unknown key; known are {', '.join(known)}."
    )


def choice_words(value: Any, choices: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(value), choices, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"must be one of {', '.join(choices)}; got {show(value)}.{hint}"


def show(value: Any) -> str:
    """Return a value as errors repeat it: not more than the beginning of a long one."""
    return cut(repr(value), _MAX_VALUE_LENGTH)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def plain(number: int | float) -> str:
    """Return a number as errors and pages write it: 1,000,000 and 0.5."""
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"
