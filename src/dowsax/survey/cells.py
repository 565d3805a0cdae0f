"""The columns of a survey file as arrays, each cell checked; errors name line, column and what to do."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dowsax.geo.local import Frame, look_swapped, require_degrees
from dowsax.site.missing_values import is_missing
from dowsax.site.site import Site
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import Column
from dowsax.survey.csv_rows import Rows, numbers

MAX_SENSORS = 1000


@dataclass(frozen=True)
class Sheet:
    """The rows of a file that hold readings, and the meaning of their columns."""

    rows: Rows
    columns: dict[str, Column]
    site: Site | None
    notes: list[str]
    """What a reader of the results should know; grows while the file is read."""

    @property
    def unused(self) -> tuple[str, ...]:
        """The headers of columns that have no role."""
        used = {column.index for column in self.columns.values()}
        headers = enumerate(self.rows.headers)
        return tuple(header.strip() for index, header in headers if index not in used)

    def cells(self, role: str) -> list[str]:
        return self.rows.cells[self.columns[role].index]

    def numbers(self, role: str) -> np.ndarray:
        """The numbers of a column in the unit of its role; no cell may be empty."""
        return self.columns[role].scale * numbers(
            self.cells(role), lambda row: self.where(role, row), self.rows.separator
        )

    def missing(self, role: str) -> np.ndarray:
        """Which cells of a column say nothing; of gas, counts, heights and wind, -999 says so, too."""
        kind = None if self.site is None else self.site.kind
        return np.array([is_missing(role, cell, kind) for cell in self.cells(role)], bool)

    def where(self, role: str, row: int) -> str:
        return self.rows.where(row, self.columns[role].header)

    def chosen(self, kept: np.ndarray) -> "Sheet":
        return self if kept.all() else replace(self, rows=self.rows.chosen(kept))


def positions(sheet: Sheet) -> tuple[Frame, np.ndarray]:
    """The frame and the positions (k, 2) [m]; without a site, degrees are taken around the first reading."""
    site = sheet.site
    if "x" in sheet.columns:
        frame = Frame() if site is None else site.frame
        return frame, np.stack([sheet.numbers("x"), sheet.numbers("y")], axis=-1)
    latitude, longitude = sheet.numbers("latitude"), sheet.numbers("longitude")
    for row, place in enumerate(zip(latitude.tolist(), longitude.tolist(), strict=True)):
        try:
            require_degrees(*place)
        except ValueError as error:
            role = "longitude" if -90 <= place[0] <= 90 else "latitude"
            raise ValueError(f"{sheet.where(role, row)}: {error}") from None
    frame = Frame((float(latitude[0]), float(longitude[0]))) if site is None else site.frame
    _require_not_swapped(sheet, latitude, longitude)
    return frame, frame.to_metres(latitude, longitude)


def _require_not_swapped(sheet: Sheet, latitude: np.ndarray, longitude: np.ndarray) -> None:
    """A ValueError where it is so that latitude and longitude are exchanged."""
    site = sheet.site
    if site is not None and look_swapped(site.frame, site.area, latitude, longitude):
        names = [repr(sheet.columns[role].header) for role in ("latitude", "longitude")]
        raise ValueError(
            f"{sheet.rows.path}, line {sheet.rows.header_line}: {' and '.join(names)} look swapped, as the "
            "readings lie in the area of the site the other way round; exchange the two names."
        )


def values(sheet: Sheet, dwell: np.ndarray | None) -> np.ndarray:
    """The readings in the unit of the site, converted where the header says another that is a factor away."""
    found = sheet.numbers("value")
    column, site = sheet.columns["value"], sheet.site
    if column.unit is None or site is None or not site.unit:
        return found
    where = f"{sheet.rows.path}, line {sheet.rows.header_line}, column {column.header!r}"
    given, wanted = known_unit(column.unit), known_unit(site.unit) or site.unit
    scale = None if given is None else factor(given, wanted)
    if scale is None and given is not None and wanted == "counts" and factor(given, "cps") is not None:
        return _counts(sheet, where, found * (factor(given, "cps") or 1.0), dwell)
    if scale is None:
        raise ValueError(
            f"{where}: the unit {column.unit!r} does not become {site.unit!r} of the site by a factor; "
            "convert the column, or correct the header or `unit` in [field] of the site file."
        )
    if scale != 1.0:
        sheet.notes.append(f"Readings were converted from {given} to {wanted} (times {scale:g}).")
    return found * scale


def _counts(sheet: Sheet, where: str, rates: np.ndarray, dwell: np.ndarray | None) -> np.ndarray:
    if dwell is None:
        raise ValueError(
            f"{where}: a count rate becomes counts by the time counted; add a column dwell [s], or `dwell` "
            "in [sensor] of the site file."
        )
    sheet.notes.append("Count rates were multiplied by the time counted and rounded to whole counts.")
    return np.round(rates * dwell)


def optional(
    sheet: Sheet,
    role: str,
    default: float | None = None,
    *,
    fault: Callable[[float], str | None] = lambda _: None,
) -> np.ndarray | None:
    """A column that need not be there; an empty cell takes the default, and is an error without one.

    `fault` says what is wrong with a number, if anything.
    """
    if role not in sheet.columns:
        return None if default is None else np.full(len(sheet.rows.lines), default)
    missing = sheet.missing(role)
    if missing.all():
        header = sheet.columns[role].header
        sheet.notes.append(f"The column {header!r} is empty and was not used.")
        return None if default is None else np.full(len(missing), default)
    if missing.any() and default is None:
        row = int(np.argmax(missing))
        raise ValueError(
            f"{sheet.where(role, row)}: the cell says nothing ({sheet.cells(role)[row].strip()!r}); fill it "
            f"in, or leave the column out by {role} = '' under [columns]."
        )
    given = sheet.chosen(~missing)
    found = np.full(len(missing), 0.0 if default is None else default)
    found[~missing] = given.numbers(role)
    for row, value in enumerate(found[~missing].tolist()):
        if (wrong := fault(value)) is not None:
            raise ValueError(f"{given.where(role, row)}: {wrong}")
    if missing.any():
        header, line = sheet.columns[role].header, sheet.rows.lines[int(np.argmax(missing))]
        count = int(missing.sum())
        cells = f"1 cell of {header!r} says" if count == 1 else f"{count} cells of {header!r} say"
        sheet.notes.append(f"{cells} nothing, {default:g} is taken (first on line {line}).")
    return found


def sensors(sheet: Sheet) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The number of the sensor of each reading, and the names: the site's in its order, else sorted."""
    known = () if sheet.site is None else sheet.site.sensor.names
    if "sensor" not in sheet.columns:
        return None, known
    cells, allowed = [cell.strip() for cell in sheet.cells("sensor")], set(known)
    for row, cell in enumerate(cells):
        if not cell:
            raise ValueError(f"{sheet.where('sensor', row)}: the cell is empty; name the sensor.")
        if known and cell not in allowed:
            raise ValueError(
                f"{sheet.where('sensor', row)}: {cell!r} is none of the site's sensors, {', '.join(known)}; "
                "correct it, or add it to `names` in [sensor] of the site file."
            )
    names = known or tuple(sorted(set(cells)))
    if len(names) > MAX_SENSORS:
        raise ValueError(
            f"{sheet.rows.path}, column {sheet.columns['sensor'].header!r}: {len(names):,} names of sensors; "
            f"at most {MAX_SENSORS:,} may be given: leave the column out by sensor = '' under [columns]."
        )
    index = {name: number for number, name in enumerate(names)}
    return np.array([index[cell] for cell in cells], np.int32), names
