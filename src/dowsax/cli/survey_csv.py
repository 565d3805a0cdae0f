"""Surveys of the benchmark's fields as CSV files: x, y and value, and nothing else."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dowsax.mission.csv_rows import Rows

COLUMNS = ("x", "y", "value")


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
    # Late, so that help comes at once.
    from dowsax.mission.csv_rows import number, read_rows

    rows = read_rows(path, ", ".join(COLUMNS))
    columns = list(zip(COLUMNS, _columns(path, rows), strict=True))
    survey = SurveyFile([], [], rows.lines)
    for row, cells in enumerate(rows.cells):
        x, y, value = (number(cells[index], rows.where(row, name), rows.separator) for name, index in columns)
        survey.positions.append((x, y))
        survey.values.append(value)
    return survey


def write_survey(path: Path, positions: Iterable[Sequence[float]], values: Iterable[float]) -> None:
    """One line a reading, with enough digits to give back the same float32."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (x, y), value in zip(positions, values, strict=True):
            writer.writerow(f"{number:.9g}" for number in (x, y, value))


def _columns(path: Path, rows: "Rows") -> list[int]:
    """Where x, y and value stand in the header."""
    line, cells = rows.header_line, rows.headers
    found = [cell.strip().lower() for cell in cells]
    for name in COLUMNS:
        if found.count(name) > 1:
            raise ValueError(f"{path}, line {line}: the column {name!r} occurs twice; leave one.")
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise ValueError(
            f"{path}, line {line}: no column {' or '.join(map(repr, missing))}; found "
            f"{', '.join(repr(cell.strip()) for cell in cells)} (separated by {rows.separator_name}). "
            f"The header must name {', '.join(COLUMNS)}."
        )
    return [found.index(name) for name in COLUMNS]
