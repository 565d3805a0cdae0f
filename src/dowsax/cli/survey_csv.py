"""Surveys of the benchmark's fields as CSV files: x, y and value, and nothing else."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dowsax.survey.columns import listed
from dowsax.survey.csv_rows import Table, numbers, open_table

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
    with open_table(path, ", ".join(COLUMNS)) as table:
        columns = dict(zip(COLUMNS, _columns(path, table), strict=True))
        rows = table.read(columns.values())
    x, y, values = (
        numbers(rows.cells[index], lambda row, name=name: rows.where(row, name), rows.separator).tolist()
        for name, index in columns.items()
    )
    return SurveyFile(list(zip(x, y, strict=True)), values, rows.lines)


def write_survey(path: Path, positions: Iterable[Sequence[float]], values: Iterable[float]) -> None:
    """One line a reading, with enough digits to give back the same float32."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for (x, y), value in zip(positions, values, strict=True):
            writer.writerow(f"{number:.9g}" for number in (x, y, value))


def _columns(path: Path, table: "Table") -> list[int]:
    """Where x, y and value stand in the header."""
    line, cells = table.header_line, table.headers
    found = [cell.strip().lower() for cell in cells]
    for name in COLUMNS:
        if found.count(name) > 1:
            raise ValueError(f"{path}, line {line}: the column {name!r} occurs twice; leave one.")
    missing = [name for name in COLUMNS if name not in found]
    if missing:
        raise ValueError(
            f"{path}, line {line}: no column {' or '.join(map(repr, missing))}; found {listed(cells)} "
            f"(separated by {table.separator_name}). The header must name {', '.join(COLUMNS)}."
        )
    return [found.index(name) for name in COLUMNS]
