"""The learning curve of a run: how its searches ended, after every update."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dowsax.files import replace_file
from dowsax.learn.checkpoint import Row

MEASURES = ("stop_rate", "success", "false_stops", "path_length", "entropy")


def measures(rows: Sequence[Row], window: int = 8) -> dict[str, np.ndarray]:
    """Return the measures after each update, over the searches that ended in the last `window` updates.

    `stop_rate` (OCE) and `success` are shares of those that ended; `false_stops` is a share of, and
    `path_length` [m] a mean over, those that stopped. NaN where there were none.
    """
    ended, stopped, wrong, walked = (
        _windowed(rows, name, window) for name in ("ended", "stopped", "false_stops", "path_length")
    )
    moves = np.diff([0, *(row["steps"] for row in rows)])
    entropy = np.array([row["entropy"] for row in rows])
    return {
        "stop_rate": _share(stopped, ended),
        "success": _share(stopped - wrong, ended),
        "false_stops": _share(wrong, stopped),
        "path_length": _share(walked, stopped),
        "entropy": _share(_sums(moves * entropy, window), _sums(moves, window)),
    }


def write_csv(path: Path, rows: Sequence[Row], fields: Sequence[str] = ()) -> None:
    """Write one line per update: counts, losses and measures. Sums by field get the name of the field."""
    found = measures(rows)
    with replace_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        extra = [f"recent_{name}" for name in MEASURES]
        writer = csv.writer(file)
        writer.writerow([*(_heading(name, fields) for name in rows[0]), *extra] if rows else extra)
        for at, row in enumerate(rows):
            writer.writerow([*row.values(), *(f"{found[name][at]:.6g}" for name in MEASURES)])


def thin_rows(rows: Sequence[Row], num_points: int = 50) -> dict[str, list[float]]:
    """Return the curve in few points, for a card; 0 for NaN.

    Its columns are steps, seconds, searches that have ended, and the measures.
    """
    at = np.unique(np.linspace(0, len(rows) - 1, num_points).astype(int)) if rows else np.array([], int)
    columns = {name: np.array([row[name] for row in rows], float) for name in ("steps", "seconds")}
    columns["searches"] = np.cumsum([row["ended"] for row in rows], dtype=float)
    columns |= measures(rows)
    return {
        name: [float(f"{number:.5g}") for number in np.nan_to_num(column[at])]
        for name, column in columns.items()
    }


def _heading(name: str, fields: Sequence[str]) -> str:
    """`field_stopped_0` is `gas_stopped` where gas is the first field."""
    for number, field in enumerate(fields):
        if name.startswith("field_") and name.endswith(f"_{number}"):
            return f"{field}_{name.removeprefix('field_').removesuffix(f'_{number}')}"
    return name


def _windowed(rows: Sequence[Row], name: str, window: int) -> np.ndarray:
    return _sums(np.array([row[name] for row in rows], float), window)


def _sums(numbers: np.ndarray, window: int) -> np.ndarray:
    """Return the sum of the last `window` numbers up to each."""
    total = np.concatenate([[0.0], np.cumsum(numbers)])
    at = np.arange(1, len(total))
    return total[at] - total[np.maximum(at - window, 0)]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
