"""Surveys as CSV files. Reading one checks it cell by cell, with errors that name the line and what to do."""

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

COLUMNS = ("x", "y", "value")
_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab"}


class SurveyFile(NamedTuple):
    """The readings of a file in its order, and the line each stands on."""

    positions: list[tuple[float, float]]
    """[m]"""
    values: list[float]
    lines: list[int]


def read_survey(path: Path) -> SurveyFile:
    """The columns x, y and value of a file, found by name in any order and case; other columns are ignored.

    Comma, semicolon and tab separate cells; with a semicolon or tab a decimal comma is understood.
    """
    text = _text(path)
    separator = _separator(text)
    rows = [
        (number, row) for number, row in _rows(path, text, separator) if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise ValueError(
            f"{path} is empty: expected a header line with {', '.join(COLUMNS)}, then one reading a line."
        )
    columns = _columns(path, rows[0], separator)
    if len(rows) == 1:
        raise ValueError(f"{path} has a header but no readings: add one line for each reading below it.")
    width = len(rows[0][1])
    survey = SurveyFile([], [], [])
    for line, row in rows[1:]:
        if len(row) != width:
            raise ValueError(
                f"{path}, line {line}: {_cells(len(row))} where the header has {width}; "
                "every line needs one cell for each column."
            )
        x, y, value = (
            _number(path, line, name, row[column], separator)
            for name, column in zip(COLUMNS, columns, strict=True)
        )
        survey.positions.append((x, y))
        survey.values.append(value)
        survey.lines.append(line)
    return survey


def write_survey(path: Path, positions: Iterable[Sequence[float]], values: Iterable[float]) -> None:
    """One line a reading, with enough digits to give back the same float32."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (x, y), value in zip(positions, values, strict=True):
            writer.writerow(f"{number:.9g}" for number in (x, y, value))


def _text(path: Path) -> str:
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give a CSV file with the columns {', '.join(COLUMNS)}.")
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(
            f"{path} does not exist: give a CSV file with the columns {', '.join(COLUMNS)}."
        ) from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8: save it as CSV (UTF-8).") from None


def _separator(text: str) -> str:
    """The one that occurs most in the first line with text; a comma when there is none."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(_SEPARATORS, key=header.count)


def _rows(path: Path, text: str, separator: str) -> Iterable[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(), delimiter=separator)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not a CSV line ({error}).") from None


def _columns(path: Path, header: tuple[int, list[str]], separator: str) -> list[int]:
    """Where x, y and value stand in the header."""
    line, cells = header
    found = [cell.strip().lower() for cell in cells]
    for name in COLUMNS:
        if found.count(name) > 1:
            raise ValueError(f"{path}, line {line}: the column {name!r} occurs twice; leave one.")
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise ValueError(
            f"{path}, line {line}: no column {' or '.join(map(repr, missing))}; found "
            f"{', '.join(repr(cell.strip()) for cell in cells)} (separated by {_SEPARATORS[separator]}). "
            f"The header must name {', '.join(COLUMNS)}."
        )
    return [found.index(name) for name in COLUMNS]


def _number(path: Path, line: int, column: str, cell: str, separator: str) -> float:
    text = cell.strip()
    where = f"{path}, line {line}, column {column!r}"
    if not text:
        raise ValueError(f"{where}: the cell is empty; fill it in or remove the line.")
    try:
        number = float(text if separator == "," else text.replace(",", "."))
    except ValueError:
        raise ValueError(f"{where}: {text!r} is not a number.") from None
    if not math.isfinite(number):
        raise ValueError(f"{where}: {text!r} is not a finite number; remove the line or measure again.")
    return number


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"
