"""The times of a survey: ISO 8601, epoch seconds, or seconds on any clock."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from dowsax.survey.columns import Column
from dowsax.survey.csv_rows import Rows, number

# Numbers this large are seconds, or milliseconds, since 1970: the first is March 1973.
EPOCH, EPOCH_MILLISECONDS = 1e8, 1e11
_LONGEST = 3e8
"""[s], about ten years: a clock that was not set starts in 1970 or 1980."""


class Clock(NamedTuple):
    """When the readings were taken."""

    times: np.ndarray
    """(k,) [s], since 1970 where the file says the date, otherwise on the file's own clock."""
    dated: bool
    """A time without a zone is taken as UTC."""

    def start(self) -> datetime | None:
        return datetime.fromtimestamp(float(self.times[0]), UTC) if self.dated else None


def read_clock(rows: Rows, column: Column, date: Column | None) -> Clock | None:
    """The times of all rows, never running backwards; `None` where a column by that name holds no times.

    What most cells are is taken as what all should be, so that one bad cell is the one complained of.
    """
    cells = [cell.strip() for cell in rows.cells[column.index]]
    if rows.separator != ",":
        cells = [cell.replace(",", ".") for cell in cells]
    if date is not None:
        cells = [
            _with_date(day.strip(), cell) for day, cell in zip(rows.cells[date.index], cells, strict=True)
        ]
    read = max((_seconds, _dated, time_of_day), key=lambda read: sum(_is(read, cell) for cell in cells))
    if not column.mapped and not any(_is(read, cell) for cell in cells):
        return None
    times = np.array([_read(rows, index, column, cell, read) for index, cell in enumerate(cells)])
    dated = read is _dated
    if read is _seconds:
        times = times * column.scale
        if column.scale == 1.0 and np.median(times) >= EPOCH_MILLISECONDS:
            times = times / 1000
        dated = column.scale == 1.0 and bool(np.median(times) >= EPOCH)
    _require_forward(rows, column, times)
    return Clock(times, dated)


def _seconds(text: str) -> float:
    return number(text, "", ",")


def _dated(text: str) -> float:
    """Seconds since 1970 of a date with time."""
    if len(text) < len("2024-01-01T00") and not text.isdigit():
        raise ValueError
    if text.replace(".", "").isdigit():
        raise ValueError
    moment = datetime.fromisoformat(text.replace("/", "-"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_of_day(text: str) -> float:
    """Seconds since midnight."""
    hours, minutes, *seconds = text.split(":")
    if not (hours.isdigit() and minutes.isdigit() and len(seconds) <= 1):
        raise ValueError
    last = float(seconds[0]) if seconds else 0.0
    if not (int(hours) < 24 and int(minutes) < 60 and 0 <= last < 61):
        raise ValueError
    return 3600.0 * int(hours) + 60.0 * int(minutes) + last


def _with_date(date: str, time: str) -> str:
    """One text of both, where it makes a date with time."""
    joined = f"{date} {time}"
    return joined if _is(_dated, joined) else time


def _is(read: Callable[[str], float], cell: str) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return True


def _read(rows: Rows, row: int, column: Column, cell: str, read: Callable[[str], float]) -> float:
    try:
        return read(cell)
    except ValueError:
        raise ValueError(
            f"{rows.where(row, column.header)}: {cell!r} is not a time like the others; write ISO 8601 "
            "(2024-05-01T12:30:00Z) or seconds throughout, or leave the column out by time = '' "
            "under [columns]."
        ) from None


def _require_forward(rows: Rows, column: Column, times: np.ndarray) -> None:
    steps = np.diff(times)
    bad = np.flatnonzero((steps < 0) | (steps > _LONGEST))
    if not bad.size:
        return
    row = int(bad[0]) + 1
    where, step, before = rows.where(row, column.header), times[row] - times[row - 1], rows.lines[row - 1]
    if step > 0:
        raise ValueError(
            f"{where}: {step:g} s after line {before}; correct the one that is wrong: was the clock set?"
        )
    raise ValueError(
        f"{where}: time runs backwards, {-step:g} s before line {before}; sort the readings by time, or "
        "choose one survey with [rows] of the site file if the file holds several."
    )
