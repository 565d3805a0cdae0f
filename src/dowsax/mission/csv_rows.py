"""A CSV file as rows of text with the line each stands on, and its cells as numbers."""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from dowsax.mission.plain_cells import text_of

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}
_LARGEST = 1e30
"""Beyond it single precision overflows in the next product."""


class Rows(NamedTuple):
    """The rows of a file, each with as many cells as the header."""

    path: Path
    separator: str
    header_line: int
    headers: list[str]
    lines: list[int]
    cells: list[list[str]]

    @property
    def separator_name(self) -> str:
        return _SEPARATORS[self.separator]

    def where(self, row: int, header: str) -> str:
        """File, line and column as an error names them."""
        return f"{self.path}, line {self.lines[row]}, column {header!r}"


def read_rows(path: Path, expected: str) -> Rows:
    """The header and the rows; comma, semicolon or tab separate cells.

    `expected` names the columns that are due, for errors.
    """
    text = _text(path, expected)
    separator = _separator(text)
    rows = [row for row in _parsed(path, text, separator) if any(cell.strip() for cell in row[1])]
    if not rows:
        raise ValueError(f"{path} is empty: expected a header line with {expected}, then one reading a line.")
    header_line, headers = rows[0]
    if len(rows) == 1:
        raise ValueError(f"{path} has a header but no readings: add one line for each reading below it.")
    for line, row in rows[1:]:
        if len(row) != len(headers):
            comma = separator == "," and len(row) > len(headers)
            hint = " Where numbers have decimal commas, separate the cells by semicolons." if comma else ""
            raise ValueError(
                f"{path}, line {line}: {_cells(len(row))} where the header has {len(headers)}; "
                f"every line needs one cell for each column.{hint}"
            )
    lines, cells = [line for line, _ in rows[1:]], [row for _, row in rows[1:]]
    return Rows(path, separator, header_line, headers, lines, cells)


def chosen_rows(rows: Rows, wanted: Mapping[str, str]) -> Rows:
    """The rows that have the wanted text in each of the named columns."""
    names = [header.strip().lower() for header in rows.headers]
    kept = list(range(len(rows.lines)))
    for column, text in wanted.items():
        if column.strip().lower() not in names:
            found = ", ".join(repr(header.strip()) for header in rows.headers)
            raise ValueError(f"{rows.path}: no column {column!r} to choose rows by; found {found}.")
        index = names.index(column.strip().lower())
        kept = [row for row in kept if rows.cells[row][index].strip() == text.strip()]
        if not kept:
            raise ValueError(f"{rows.path}: no row has {text!r} in the column {column!r}; choose another.")
    return rows._replace(lines=[rows.lines[row] for row in kept], cells=[rows.cells[row] for row in kept])


def number(cell: str, where: str, separator: str) -> float:
    """The number in a cell; with a semicolon or tab between cells, a decimal comma is understood."""
    text = cell.strip()
    if not text:
        raise ValueError(f"{where}: the cell is empty; fill it in or remove the line.")
    try:
        # Python would read `1_000` as a number.
        value = float("_" if "_" in text else text if separator == "," else text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{where}: {text!r} is not a number; correct it or remove the line.") from None
    if not math.isfinite(value):
        raise ValueError(f"{where}: {text!r} is not a finite number; remove the line or measure again.")
    if abs(value) >= _LARGEST:
        raise ValueError(f"{where}: {text!r} is not a usable number; remove the line or measure again.")
    return value


def _text(path: Path, expected: str) -> str:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a CSV file with the columns {expected}.")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: give a CSV file with the columns {expected}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8: save it as CSV (UTF-8).") from None


def _separator(text: str) -> str:
    """The one that occurs most in the first line with text; a comma when there is none."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=header.count)


def _parsed(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line on which each ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            yield reader.line_num, [text_of(cell) for cell in row]
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num}: not a CSV line ({error}); check its quotes."
        ) from None


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
