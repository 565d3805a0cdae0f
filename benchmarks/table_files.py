"""The files of results: numbers as CSV, read back, and tables in `results/tables`, which the docs include."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.machine import ROOT
from dowsax.evaluate.metrics import NOTHING, Estimate
from dowsax.evaluate.tables import number

TABLES = ROOT / "results/tables"
Line = dict[str, str]
"""A row of a file that `search_csv` or `labelled_csv` wrote."""


def write_tables(folder: Path, tables: Mapping[str, str]) -> list[Path]:
    """Write each table to `folder/NAME.md` and return the paths. Other files there stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.md" for name in tables]
    for path, text in zip(paths, tables.values(), strict=True):
        path.write_text(text.strip() + "\n", encoding="utf-8")
    return paths


def judged(found: Estimate, level: float, digits: int = 3, *, least: bool) -> str:
    """A number with the level from which up (`least`), or to which, it is good, and whether it got there."""
    if found.value is None:
        return "not measured"
    return f"{number(found, digits)}, {'≥' if least else '≤'} {level:g} {_mark(found, level, least)}"


def _mark(found: Estimate, level: float, least: bool) -> str:
    if found.value >= level if least else found.value <= level:
        return "reached"
    return "missed, within the interval" if found.low <= level <= found.high else "missed"


def read_lines(path: Path) -> list[Line]:
    """The lines of a file; none if it does not exist."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def estimate(line: Line, name: str) -> Estimate:
    """A number with its interval; nothing where none was counted."""
    if not line.get(name):
        return NOTHING
    return Estimate(*(float(line[f"{name}{end}"]) for end in ("", "_low", "_high")), int(line[f"{name}_n"]))


def estimates(line: Line) -> dict[str, Estimate]:
    """All numbers of a line."""
    return {name: estimate(line, name) for name in line if f"{name}_low" in line}


def where(lines: Sequence[Line], **labels: str) -> list[Line]:
    """The lines with these labels."""
    return [line for line in lines if all(line[name] == value for name, value in labels.items())]
