"""Estimates in CSV files, as `search_csv` and `labelled_csv` write them, read back."""

import csv
from collections.abc import Sequence
from pathlib import Path

from dowsax.evaluate.metrics import NOTHING, Estimate

Line = dict[str, str]


def read_lines(path: Path) -> list[Line]:
    """The lines of a file; none where there is no file."""
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
    """All of a line's."""
    return {name: estimate(line, name) for name in line if f"{name}_low" in line}


def where(lines: Sequence[Line], **labels: str) -> list[Line]:
    """The lines with these labels."""
    return [line for line in lines if all(line[name] == value for name, value in labels.items())]
