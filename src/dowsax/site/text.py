"""The text of a site file: read and parsed within limits, and errors with the line of the key.

A TOML parser takes time and memory with the square of the length of a dotted key, and fails in its own words
on nested brackets and long numbers. So one pass over the tokens comes first: it checks the shape of the text,
and finds the line of each key.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

MAX_LENGTH = 1_000_000
"""Characters of a site file."""
MAX_KEY_PARTS = 8
"""Of a dotted key or header."""
MAX_DEPTH = 16
"""Of brackets in brackets."""
MAX_WORD_LENGTH = 200
"""Characters of a key or number."""
MAX_VALUES = 10_000
"""Keys, headers, and entries of lists, in all."""
_DOTTED_ERROR = f"a key has more than {MAX_KEY_PARTS} parts; no site has such a key: take it out."
_NESTED_ERROR = f"brackets are nested more than {MAX_DEPTH} deep; close them, or take some out."
_LONG_WORD_ERROR = (
    f"a key or number has more than {MAX_WORD_LENGTH} characters; shorten it, or put a text in quotes."
)
_MANY_ERROR = f"more than {MAX_VALUES:,} keys and entries of lists up to here; leave some out."

_TOKEN = re.compile(
    r'''
      (?P<text>
          """ (?: [^"\\]++ | \\[\s\S]? | "(?!"") )*+ (?: "{3,5} | \Z )
        | \'\'\' (?: [^']++ | '(?!\'\') )*+ (?: '{3,5} | \Z )
        | " (?: [^"\\\n]++ | \\[^\n]? )*+ "?
        | ' [^'\n]*+ '?
      )
    | (?P<comment> \#[^\n]*+ )
    | (?P<newline> \n )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<equals> = )
    | (?P<comma> , )
    | (?P<dot> \. )
    | (?P<word> [^\s"'\#\[\]{}=,.]++ )
    ''',
    re.VERBOSE,
)

Lines = dict[tuple[str, ...], int]
"""The line on which each key or table stands, by its parts; the tables of a list are numbered from 1."""


def scan(name: str, text: str) -> Lines:
    """Return the line of each key and table, or raise a ValueError for a text beyond the limits.

    Time and memory are in proportion to the text. `name` is what errors call the file.
    """
    lines: Lines = {}
    counts: dict[tuple[str, ...], int] = {}
    table, parts = (), []
    line, num_values, depth, num_dots, num_brackets, in_value = 1, 0, 0, 0, 0, False
    for token in _TOKEN.finditer(text):
        kind, word, named = token.lastgroup, token[0], ()
        line += word.count("\n")
        num_dots = num_dots + (kind == "dot") if kind in ("dot", "word", "text") else 0
        if kind == "newline" and depth == 0:
            parts, num_brackets, in_value = [], 0, False
        elif kind == "open":
            depth += 1
            num_brackets += not in_value
        elif kind == "close":
            depth = max(depth - 1, 0)
            if depth == 0 and not in_value:
                table = named = _number_table(tuple(parts), counts) if num_brackets > 1 else tuple(parts)
        elif kind == "equals" and not in_value:
            named = (*table, *parts)
        elif kind == "word" or (kind == "text" and not in_value):
            word = word[1:-1] if kind == "text" else word
            parts += [word] if not in_value and len(parts) < MAX_KEY_PARTS else []
            if len(word) > MAX_WORD_LENGTH:
                raise ValueError(f"{name}, line {line}: {_LONG_WORD_ERROR}")
        in_value = in_value or bool(named)
        num_values += kind in ("equals", "comma") or bool(named)
        for size in range(1, len(named) + 1):
            lines.setdefault(named[:size], line)
        if num_dots >= MAX_KEY_PARTS or depth > MAX_DEPTH or num_values > MAX_VALUES:
            error = _NESTED_ERROR if depth > MAX_DEPTH else _MANY_ERROR
            error = _DOTTED_ERROR if num_dots >= MAX_KEY_PARTS else error
            raise ValueError(f"{name}, line {line}: {error}")
    return lines


def _number_table(parts: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> tuple[str, ...]:
    """Return the name of the next table of a list, `[[parts]]`."""
    counts[parts] = counts.get(parts, 0) + 1
    return (*parts, str(counts[parts]))


MISSING_KEY_ERROR = "this key is missing; `dowsax site new` writes a file with every key."
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
    """What is wrong with one key; `add_line` adds file and line."""

    def __init__(self, words: str, *keys: str) -> None:
        super().__init__(words)
        self.keys = keys


class SiteError(ValueError):
    """What is wrong with a site file, in one line."""

    def __init__(self, words: str, fault: Fault) -> None:
        super().__init__(words)
        self.fault = fault
        """The key, and the words without file and line."""


def add_line(fault: Fault, file: str, text: str) -> SiteError:
    """Return the error in one line: the file, the line of the key or of its table, the key and the words."""
    lines = scan(file, text)
    tables = (fault.keys[:size] for size in range(len(fault.keys), 0, -1))
    line = next((lines[keys] for keys in tables if keys in lines), None)
    where = file if line is None else f"{file}, line {line}"
    key = cut(".".join(fault.keys), _MAX_KEY_LENGTH)
    return SiteError(f"{where}, {key}: {fault}", fault)


def first_fault(error: ValidationError, table: dict[str, Any]) -> Fault:
    """Return the first of what pydantic says is wrong with the table of a site file, in plain words."""
    return next(faults_of(error, table))


def faults_of(error: ValidationError, table: dict[str, Any]) -> Iterator[Fault]:
    """Yield all that pydantic says is wrong with the table of a site file, in plain words."""
    for one in error.errors(include_url=False):
        yield _fault_of(one, table)


def _fault_of(first: Any, table: dict[str, Any]) -> Fault:
    keys, context = _keys(first["loc"], table), first.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, Fault):
        return Fault(str(cause), *keys, *cause.keys)
    if cause is not None:
        return Fault(str(cause), *keys)
    if first["type"] == "missing":
        return Fault(MISSING_KEY_ERROR, *keys, str(first["loc"][-1]))
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
    if (
        keys[0] in ("geofence", "no_go", "obstacle")
        and kind in ("list_type", "model_type")
        and len(keys) == 1
    ):
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
    return f"must be one of {', '.join(choices)}; got {show(value)}.{meant_words(str(value), choices)}"


def meant_words(given: str, known: Iterable[str]) -> str:
    """Return a question for the known word that is nearest, whatever its case; empty where none is near."""
    folded = {word.casefold(): word for word in known}
    near = difflib.get_close_matches(given.casefold(), folded, n=1)
    return f" Did you mean {folded[near[0]]!r}?" if near else ""


def show(value: Any) -> str:
    """Return a value as errors repeat it: not more than the beginning of a long one."""
    return cut(repr(value), _MAX_VALUE_LENGTH)


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 3]}..."


def plain(number: int | float) -> str:
    """Return a number as errors and pages write it: 1,000,000 and 0.5."""
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it: texts, numbers, flags and lists as JSON does."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {toml_value(entry)}' for name, entry in value.items())}}}"
    return json.dumps(value, ensure_ascii=False)


_MAX_COMPLAINT_LENGTH = 200
"""Characters of the parser's complaint that an error repeats."""


def read_text(path: Path) -> str:
    """Return the text of a site file, or raise a ValueError in one line."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a site file, such as `dowsax site new` writes.")
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(MAX_LENGTH + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: write one with `dowsax site new {path}`.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8: save it as UTF-8.") from None
    if len(text) > MAX_LENGTH:
        raise ValueError(
            f"{path} has more than {MAX_LENGTH:,} characters: a site file is a short text, such as "
            "`dowsax site new` writes."
        )
    return text


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Return the table of a TOML text, or raise a ValueError with the line on which it is none."""
    scan(file, text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        complaint = cut(str(error), _MAX_COMPLAINT_LENGTH)
        raise ValueError(
            f"{file}: not a TOML file: {complaint}; text goes in quotes, lists in brackets."
        ) from None
