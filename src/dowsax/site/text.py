"""A site file as text: values are asked for by name and checked; an error names file, line and key."""

import difflib
import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dowsax.site.scan import MAX_LENGTH, Lines, scan

_MAX_SHOWN = 200
"""Characters of a key or of a parser's complaint that an error repeats."""


def site_text(path: Path) -> str:
    """The text of a site file, or a ValueError in one line."""
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


def parsed(name: str, text: str, *known: str) -> "Keys":
    """The top table of a site file, or a ValueError that says on which line it is not TOML."""
    lines = scan(name, text)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(
            f"{name}: not a TOML file: {_cut(str(error))}; text goes in quotes, lists in brackets."
        ) from None
    return Keys(name, lines, (), table, known)


def complaint(file: str, text: str, key: str, words: str) -> ValueError:
    """The error about a key of a site file that is already understood."""
    *path, key = key.split(".")
    return Keys(file, scan(file, text), tuple(path), {}, None).error(key, words)


class Keys:
    """One table of a site file. A key that nobody knows is an error that names the nearest known one."""

    def __init__(
        self,
        file: str,
        lines: Lines,
        path: tuple[str, ...],
        table: dict[str, Any],
        known: Sequence[str] | None,
    ) -> None:
        self._file, self._lines, self._path, self._table = file, lines, path, table
        for key in table:
            if known is not None and key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
                raise self.error(key, f"unknown key; {hint}")

    def __contains__(self, key: str) -> bool:
        return key in self._table

    def __iter__(self):
        return iter(self._table)

    def error(self, key: str, words: str) -> ValueError:
        """The one line that names file, line and key, and says what is wrong."""
        parts = (*self._path, key)
        above = (parts[:size] for size in range(len(parts), 0, -1))
        line = next((self._lines[name] for name in above if name in self._lines), None)
        where = self._file if line is None else f"{self._file}, line {line}"
        return ValueError(f"{where}, {_cut(self._full(key))}: {words}")

    def raw(self, key: str) -> Any:
        return self._table[key]

    def require(self, *keys: str) -> None:
        for key in keys:
            if key not in self:
                raise self.error(key, "this key is missing; `dowsax site new` writes a file with every key.")

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        above: float | None = None,
        least: float | None = None,
        most: float | None = None,
    ) -> float | None:
        """A finite number in its range."""
        if key not in self:
            return default
        number = self._number(key, self._table[key])
        bounds = {"above": above, "at least": least, "at most": most}
        fine = (
            (above is None or number > above)
            and (least is None or number >= least)
            and (most is None or number <= most)
        )
        if not fine:
            words = " and ".join(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)
            raise self.error(key, f"must be {words}; got {number:g}.")
        return number

    def whole(
        self, key: str, default: int | None = None, *, least: int = 0, most: int | None = None
    ) -> int | None:
        """A whole number."""
        if key not in self:
            return default
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.error(key, f"must be a whole number, at least {least}; got {shown(value)}.")
        if most is not None and value > most:
            raise self.error(key, f"must be at most {most:,}; got {value:,}.")
        return value

    def word(self, key: str, default: str, choices: Sequence[str]) -> str:
        """One of a few words."""
        value = self._table.get(key, default)
        if value not in choices:
            near = difflib.get_close_matches(str(value), choices, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise self.error(key, f"must be one of {', '.join(choices)}; got {shown(value)}.{hint}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"must be true or false; got {shown(value)}.")
        return value

    def text(self, key: str, default: str) -> str:
        value = self._table.get(key, default)
        if not isinstance(value, str):
            raise self.error(key, f"must be text in quotes; got {shown(value)}.")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, f"must be a list of texts in quotes; got {shown(value)}.")
        return tuple(value)

    def pair(self, key: str) -> tuple[float, float] | None:
        """Two numbers."""
        if key not in self:
            return None
        value = self._table[key]
        if not isinstance(value, list) or len(value) != 2:
            raise self.error(key, f"must be two numbers in brackets; got {shown(value)}.")
        first, second = (self._number(key, item) for item in value)
        return first, second

    def points(self, key: str) -> np.ndarray | None:
        """Pairs of numbers (k, 2)."""
        if key not in self:
            return None
        value = self._table[key]
        if not isinstance(value, list) or not all(
            isinstance(item, list) and len(item) == 2 for item in value
        ):
            raise self.error(key, f"must be a list of pairs, [[1, 2], [3, 4]]; got {shown(value)}.")
        return np.array([[self._number(key, item) for item in pair] for pair in value]).reshape(-1, 2)

    def table(self, key: str, *known: str, free: bool = False) -> "Keys":
        """The table of this name, empty where there is none; `free` where its keys are checked elsewhere."""
        value = self._table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table, [{self._full(key)}]; got {shown(value)}.")
        return Keys(self._file, self._lines, (*self._path, key), value, None if free else known)

    def tables(self, key: str, *known: str) -> list["Keys"]:
        """The tables of this name, each written as `[[name]]`."""
        value = self._table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, f"must be written as [[{key}]], once for each; got {shown(value)}.")
        return [
            Keys(self._file, self._lines, (*self._path, key, str(number)), item, known)
            for number, item in enumerate(value, start=1)
        ]

    def _full(self, key: str) -> str:
        return ".".join((*self._path, key))

    def _number(self, key: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.error(key, f"must be a finite number; got {shown(value)}.")
        return float(value)


def shown(value: Any) -> str:
    """A value as errors repeat it: not more than the beginning of a long one."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
