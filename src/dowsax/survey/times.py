"""Step 3 of reading a survey, the times: ISO 8601, epoch seconds, or seconds on any clock."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np

from dowsax.survey.columns import Column
from dowsax.survey.csv_file import Rows, number
from dowsax.survey.quantities import Sheet

MIN_EPOCH_S, MIN_EPOCH_MS = 1e8, 1e11
"""Numbers this large are seconds, or milliseconds, since 1970: March 1973 and later."""
_MAX_GAP_S = 3e8
"""About ten years: a clock that was not set starts in 1970 or 1980."""


class Clock(NamedTuple):
    """When the readings were taken."""

    times: np.ndarray
    """(k,) [s], since 1970 where the file has the date, otherwise on the file's own clock."""
    has_date: bool
    """A time without a zone counts as UTC."""

    def start(self) -> datetime | None:
        """Return when the first reading was taken, where the file says so."""
        return datetime.fromtimestamp(float(self.times[0]), UTC) if self.has_date else None

    def select(self, mask: np.ndarray) -> "Clock":
        return self._replace(times=self.times[mask])


def read_clock(sheet: Sheet) -> Clock | None:
    """Return the times of all rows, never running backwards; `None` where no column holds times."""
    column = sheet.columns.get("time")
    if column is None:
        return None
    clock = _read_times(sheet.rows, column, sheet.columns.get("date"))
    if clock is None:
        example = sheet.cells("time")[0].strip()
        sheet.notes.append(f"The column {column.header!r} holds no times ({example!r}) and was not used.")
    return clock


def _read_times(rows: Rows, column: Column, date: Column | None) -> Clock | None:
    """Return the times of a column; `None` where it holds none.

    The form of most cells is the form of all, so that an error names the one bad cell.
    """
    cells = [cell.strip() for cell in rows.cells[column.index]]
    if rows.separator != ",":
        cells = [cell.replace(",", ".") for cell in cells]
    if date is not None:
        cells = [
            _with_date(day.strip(), cell) for day, cell in zip(rows.cells[date.index], cells, strict=True)
        ]
    read = max(
        (_read_seconds, _read_date_cell, time_of_day),
        key=lambda read: sum(_can_read(read, cell) for cell in cells),
    )
    if not column.mapped and not any(_can_read(read, cell) for cell in cells):
        return None
    times = np.array([_read_cell(rows, index, column, cell, read) for index, cell in enumerate(cells)])
    has_date = read is _read_date_cell
    if read is _read_seconds:
        times = times * column.scale
        if column.scale == 1.0 and np.median(times) >= MIN_EPOCH_MS:
            times = times / 1000
        has_date = column.scale == 1.0 and bool(np.median(times) >= MIN_EPOCH_S)
    _require_forward(rows, column, times)
    return Clock(times, has_date)


def _read_seconds(text: str) -> float:
    return number(text, "", ",")


def _read_date_cell(text: str) -> float:
    """Return what `read_date` does, and refuse what is a number or a date alone."""
    if len(text) < len("2024-01-01T00") and not text.isdigit():
        raise ValueError
    if text.replace(".", "").isdigit():
        raise ValueError
    return read_date(text)


def read_date(text: str) -> float:
    """Return seconds since 1970 of a date with time, in UTC where it has no zone."""
    moment = datetime.fromisoformat(text.strip().replace("/", "-"))
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def time_of_day(text: str) -> float:
    """Return seconds since midnight."""
    hours, minutes, *seconds = text.split(":")
    if not (hours.isdigit() and minutes.isdigit() and len(seconds) <= 1):
        raise ValueError
    last = float(seconds[0]) if seconds else 0.0
    if not (int(hours) < 24 and int(minutes) < 60 and 0 <= last < 61):
        raise ValueError
    return 3600.0 * int(hours) + 60.0 * int(minutes) + last


def _with_date(date: str, time: str) -> str:
    """Return date and time as one text where that is a date with time, else the time."""
    joined = f"{date} {time}"
    return joined if _can_read(_read_date_cell, joined) else time


def _can_read(read: Callable[[str], float], cell: str) -> bool:
    try:
        read(cell)
    except ValueError:
        return False
    return True


def _read_cell(rows: Rows, row: int, column: Column, cell: str, read: Callable[[str], float]) -> float:
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
    bad = np.flatnonzero((steps < 0) | (steps > _MAX_GAP_S))
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
