"""Step 1 of reading a survey: the CSV file, its header, and the cells of the columns in use.

The file is read row by row within limits. Memory grows with the rows and the columns in use, not with the
length of a line, unused columns or blank lines; so a file of any size is read, or refused, in little memory.
"""

import csv
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from dowsax.site.text import cut

MAX_LINES = 2_000_000
"""Blank lines included."""
MAX_COLUMNS = 2000
MAX_LINE_LENGTH = 1_000_000
"""Characters of a line."""
MAX_CELL_LENGTH = 1000
"""Characters of a cell in use; the csv module accepts 131,072 for any other."""
MAX_NUMBER = 1e30
"""Beyond it single precision overflows in the next product."""
_MAX_SHOWN_LENGTH = 60
"""Characters of a cell or column name that an error repeats."""
_MAX_SHOWN_NAMES = 20
"""Column names that an error repeats."""
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}

# A spreadsheet computes a cell that begins with one of these, also after characters that separate cells in
# other countries. An apostrophe makes it text. Wide characters count in spreadsheets of East Asia.
_FORMULA_START = r"[=+@\t\r＝＋－＠-]"
_CELL_START = r"(^|[,;\t\r\n])"
_FORMULA = re.compile(f"{_CELL_START}(?='*{_FORMULA_START})")
_ESCAPED_FORMULA = re.compile(f"{_CELL_START}'(?='*{_FORMULA_START})")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def escape_cell(text: str) -> str:
    """Return the text as a CSV cell, with an apostrophe wherever a formula would begin; numbers stay."""
    return text if _NUMBER.fullmatch(text) else _FORMULA.sub(r"\1'", text)


def unescape_cell(cell: str) -> str:
    """Return the text of a CSV cell: the inverse of `escape_cell`."""
    return _ESCAPED_FORMULA.sub(r"\1", cell)


class Rows(NamedTuple):
    """The chosen rows of a file, in the columns in use."""

    path: Path
    separator: str
    header_line: int
    headers: list[str]
    lines: list[int]
    """The line on which each row ends."""
    cells: dict[int, list[str]]
    """The cells of all rows by the index of their column."""

    def where(self, row: int, header: str) -> str:
        """Return file, line and column as an error names them."""
        return f"{self.path}, line {self.lines[row]}, column {header!r}"

    def select(self, mask: np.ndarray) -> "Rows":
        """Return the rows for which the mask (k,) is true."""
        rows = np.flatnonzero(mask).tolist()
        cells = {index: [column[row] for row in rows] for index, column in self.cells.items()}
        return self._replace(lines=[self.lines[row] for row in rows], cells=cells)


class Table:
    """An open CSV file with its header; cells are separated by comma, semicolon or tab."""

    def __init__(self, path: Path, file: TextIO, expected: str) -> None:
        self.path = path
        self._lines = _read_lines(path, file)
        blank, first = 0, ""
        for first in self._lines:
            if first.strip():
                break
            blank += 1
        self._blank = blank
        self.separator = max(_SEPARATORS, key=first.count)
        self._rows = self._parse_rows(first)
        self.header_line, self.headers = next(self._rows, (0, []))
        if not self.headers:
            raise ValueError(
                f"{path} is empty: expected a header line with {expected}, then one reading a line."
            )
        if len(self.headers) > MAX_COLUMNS:
            raise ValueError(
                f"{path}, line {self.header_line}: {len(self.headers):,} columns; at most {MAX_COLUMNS:,} "
                "are read: leave out those that are not needed."
            )
        longest = max(map(len, self.headers))
        if longest > MAX_CELL_LENGTH:
            raise ValueError(
                f"{path}, line {self.header_line}: the name of a column has {longest:,} characters; close "
                "its quotes, or shorten it."
            )
        self.headers = [unescape_cell(header) for header in self.headers]

    @property
    def separator_name(self) -> str:
        return _SEPARATORS[self.separator]

    def read(self, columns: Iterable[int], wanted: Mapping[str, str] | None = None) -> Rows:
        """Return these columns of the rows that have the wanted text in each column of `wanted`."""
        cells_of = {index: [] for index in sorted(set(columns))}
        picks = [(self._index(name), text.strip()) for name, text in (wanted or {}).items()]
        counts, num_rows, lines = [0] * len(picks), 0, []
        for line, row in self._rows:
            num_rows += 1
            if len(row) != len(self.headers):
                raise ValueError(self._uneven_row(line, len(row)))
            matches = 0
            while matches < len(picks) and unescape_cell(row[picks[matches][0]]).strip() == picks[matches][1]:
                counts[matches] += 1
                matches += 1
            if matches < len(picks):
                continue
            lines.append(line)
            for index, cells in cells_of.items():
                cell = row[index]
                if len(cell) > MAX_CELL_LENGTH:
                    raise ValueError(self._long_cell(line, index, len(cell)))
                cells.append(unescape_cell(cell) if "'" in cell else cell)
        if num_rows == 0:
            raise ValueError(
                f"{self.path} has a header but no readings: add one line for each reading below it."
            )
        for (name, text), count in zip((wanted or {}).items(), counts, strict=True):
            if count == 0:
                raise ValueError(f"{self.path}: no row has {text!r} in the column {name!r}; choose another.")
        return Rows(self.path, self.separator, self.header_line, self.headers, lines, cells_of)

    def _parse_rows(self, first: str) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not blank, each with the line on which it ends."""
        reader = csv.reader(itertools.chain([first], self._lines), delimiter=self.separator)
        ended = 0
        try:
            for row in reader:
                ended = reader.line_num
                if any(map(str.strip, row)):
                    yield self._blank + ended, row
        except csv.Error as error:
            raise ValueError(
                f"{self.path}, line {self._blank + ended + 1}: not a CSV line ({error}); check its quotes."
            ) from None

    def _index(self, column: str) -> int:
        names = [header.strip().lower() for header in self.headers]
        if column.strip().lower() not in names:
            raise ValueError(
                f"{self.path}: no column {column!r} to choose rows by; found {list_names(self.headers)}."
            )
        return names.index(column.strip().lower())

    def _uneven_row(self, line: int, count: int) -> str:
        comma = self.separator == "," and count > len(self.headers)
        hint = " Where numbers have decimal commas, separate the cells by semicolons." if comma else ""
        cells = "1 cell" if count == 1 else f"{count:,} cells"
        return (
            f"{self.path}, line {line}: {cells} where the header has {len(self.headers)}; every line needs "
            f"one cell for each column.{hint}"
        )

    def _long_cell(self, line: int, index: int, length: int) -> str:
        return (
            f"{self.path}, line {line}, column {self.headers[index]!r}: a cell of {length:,} characters; "
            "close its quotes, or shorten it."
        )


@contextmanager
def open_table(path: Path, expected: str) -> Iterator[Table]:
    """Open a CSV file and read its header; errors name the `expected` columns."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a CSV file with the columns {expected}.")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield Table(path, file, expected)
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist: give a CSV file with the columns {expected}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8: save it as CSV (UTF-8).") from None


def numbers(cells: Sequence[str], where: Callable[[int], str], separator: str) -> np.ndarray:
    """Return the numbers in cells (k,); `where` gives the name of a cell in errors from its index."""
    texts = cells if separator == "," else [cell.replace(",", ".") for cell in cells]
    try:
        found = np.array([float(text) for text in texts])
    except ValueError:
        found = np.array([np.nan])
    if np.all(np.abs(found) < MAX_NUMBER) and not any("_" in text for text in texts):
        return found
    return np.array([number(cell, where(index), separator) for index, cell in enumerate(cells)])


def number(cell: str, where: str, separator: str) -> float:
    """Return the number in a cell; where semicolons or tabs separate cells, it may have a decimal comma."""
    text = cell.strip()
    if not text:
        raise ValueError(f"{where}: the cell is empty; fill it in or remove the line.")
    shown = repr(cut(text, _MAX_SHOWN_LENGTH))
    try:
        # Python would read `1_000` as a number.
        value = float("_" if "_" in text else text if separator == "," else text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{where}: {shown} is not a number; correct it or remove the line.") from None
    if not math.isfinite(value):
        raise ValueError(f"{where}: {shown} is not a finite number; remove the line or measure again.")
    if abs(value) >= MAX_NUMBER:
        raise ValueError(f"{where}: {shown} is not a usable number; remove the line or measure again.")
    return value


def _read_lines(path: Path, file: TextIO) -> Iterator[str]:
    """Yield the lines of a file; refuse too many, or one that is too long."""
    for count in itertools.count(1):
        line = file.readline(MAX_LINE_LENGTH + 1)
        if not line:
            return
        if len(line) > MAX_LINE_LENGTH:
            raise ValueError(
                f"{path}, line {count}: more than {MAX_LINE_LENGTH:,} characters; give one reading a line."
            )
        if "\0" in line:
            raise ValueError(f"{path}, line {count}: zero bytes, as no text has; save it as CSV (UTF-8).")
        if count > MAX_LINES:
            raise ValueError(f"{path}: more than {MAX_LINES:,} lines; divide it, or take fewer readings.")
        yield line


def list_names(headers: Sequence[str]) -> str:
    """Return column names for an error, not too many and not too long."""
    names = (cut(header.strip(), _MAX_SHOWN_LENGTH) for header in headers[:_MAX_SHOWN_NAMES])
    more = f" and {len(headers) - _MAX_SHOWN_NAMES:,} more" if len(headers) > _MAX_SHOWN_NAMES else ""
    return ", ".join(map(repr, names)) + more
