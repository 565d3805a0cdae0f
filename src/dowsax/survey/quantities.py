"""Step 3 of reading a survey: each quantity as an array. Errors name line and column, and what to do."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dowsax.geo.local import LocalCoordinates, look_swapped, require_degrees
from dowsax.geo.wind import interpolate_wind, wind_from
from dowsax.site.kinds import KINDS
from dowsax.site.schema import MAX_SENSORS
from dowsax.site.site import Site
from dowsax.site.units import factor, known_unit
from dowsax.survey.columns import FAR_END_ROLES, POSITION_ROLES, WIND_ROLES, Column
from dowsax.survey.csv_file import Rows, numbers
from dowsax.survey.lint import altitude_fault, direction_fault, is_missing, lint_gone, wind_fault

_HIT_WORDS, _NO_HIT_WORDS = ("yes", "true", "hit"), ("no", "false")
"""How files write a hit, and that there was none, besides 1 and 0."""


@dataclass(frozen=True)
class Sheet:
    """The rows of a file that hold readings, and the meaning of their columns."""

    rows: Rows
    columns: dict[str, Column]
    site: Site | None
    notes: list[str]
    """What a reader of the results should know; grows while the file is read."""

    @property
    def header(self) -> str:
        """File and line of the header, as errors name them."""
        return f"{self.rows.path}, line {self.rows.header_line}"

    @property
    def unused(self) -> tuple[str, ...]:
        """The headers of columns that have no role."""
        used = {column.index for column in self.columns.values()}
        headers = enumerate(self.rows.headers)
        return tuple(header.strip() for index, header in headers if index not in used)

    def cells(self, role: str) -> list[str]:
        return self.rows.cells[self.columns[role].index]

    def numbers(self, role: str) -> np.ndarray:
        """Return the numbers (k,) of a column in the unit of its role; no cell may be empty."""
        return self.columns[role].scale * numbers(
            self.cells(role), lambda row: self.where(role, row), self.rows.separator
        )

    def missing(self, role: str) -> np.ndarray:
        """Return which cells (k,) hold a missing value: no text, NaN, and -999 where it cannot be a value.

        A rank can have any value.
        """
        is_rank = self.site is not None and role == "value" and self.site.sensor.reading == "rank"
        kind = None if self.site is None or is_rank else self.site.kind
        return np.array([is_missing(role, cell, kind) for cell in self.cells(role)], bool)

    def fill(self, number: float | None) -> np.ndarray | None:
        """Return the same number for all rows (k,)."""
        return None if number is None else np.full(len(self.rows.lines), float(number))

    def where(self, role: str, row: int) -> str:
        return self.rows.where(row, self.columns[role].header)

    def select(self, mask: np.ndarray) -> "Sheet":
        return self if mask.all() else replace(self, rows=self.rows.select(mask))


def select_values(sheet: Sheet) -> Sheet:
    """Return the sheet without the rows that have no value."""
    missing = sheet.missing("value")
    if missing.any():
        sheet.notes.append(lint_gone(sheet.rows.lines, sheet.columns["value"].header, missing))
    if missing.all():
        raise ValueError(f"{sheet.rows.path}: no reading is left. {' '.join(sheet.notes)}")
    return sheet.select(~missing)


def read_positions(sheet: Sheet) -> tuple[LocalCoordinates, np.ndarray]:
    """Return the local coordinates and the positions (k, 2) [m]: of paths, their first ends.

    Without a site, degrees become metres around the first reading.
    """
    site = sheet.site
    coordinates = LocalCoordinates() if site is None else site.coordinates
    if "x" in sheet.columns:
        return coordinates, _places(sheet, POSITION_ROLES[0], coordinates)
    if site is None:
        latitude, longitude = _degrees(sheet, POSITION_ROLES[1])
        coordinates = LocalCoordinates((float(latitude[0]), float(longitude[0])))
    return coordinates, _places(sheet, POSITION_ROLES[1], coordinates)


def read_far_ends(sheet: Sheet, coordinates: LocalCoordinates, positions: np.ndarray) -> np.ndarray | None:
    """Return the other ends (k, 2) [m] of paths; a row without one is a reading at its position."""
    roles = next((pair for pair in FAR_END_ROLES if pair[0] in sheet.columns), None)
    if roles is None:
        return None
    first, second = (sheet.missing(role) for role in roles)
    if (first != second).any():
        row = int(np.argmax(first != second))
        gone = roles[0] if first[row] else roles[1]
        raise ValueError(
            f"{sheet.where(gone, row)}: half of the far end of a path is missing; fill it in, or leave both "
            "halves empty for a reading at a point."
        )
    if first.all():
        names = " and ".join(repr(sheet.columns[role].header) for role in roles)
        sheet.notes.append(f"The columns {names} are empty: all readings are at points.")
        return None
    found = positions.copy()
    found[~first] = _places(sheet.select(~first), roles, coordinates)
    return found


def _places(sheet: Sheet, roles: tuple[str, str], coordinates: LocalCoordinates) -> np.ndarray:
    """Return the places (k, 2) [m] of two columns, in metres or degrees."""
    if roles not in (POSITION_ROLES[1], FAR_END_ROLES[1]):
        return np.stack([sheet.numbers(role) for role in roles], axis=-1)
    latitude, longitude = _degrees(sheet, roles)
    site = sheet.site
    if site is not None and look_swapped(site.coordinates, site.area, latitude, longitude):
        names = [repr(sheet.columns[role].header) for role in roles]
        raise ValueError(
            f"{sheet.header}: {' and '.join(names)} look swapped, as the readings lie in the area of the "
            "site the other way round; exchange the two names."
        )
    return coordinates.to_metres(latitude, longitude)


def _degrees(sheet: Sheet, roles: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    latitude, longitude = (sheet.numbers(role) for role in roles)
    for row, place in enumerate(zip(latitude.tolist(), longitude.tolist(), strict=True)):
        try:
            require_degrees(*place)
        except ValueError as error:
            role = roles[1] if -90 <= place[0] <= 90 else roles[0]
            raise ValueError(f"{sheet.where(role, row)}: {error}") from None
    return latitude, longitude


def read_values(sheet: Sheet, dwell: np.ndarray | None) -> np.ndarray:
    """Return the readings (k,) in the unit of the site, converted where the header has another unit."""
    column, site = sheet.columns["value"], sheet.site
    if site is not None and site.sensor.reading == "binary":
        return np.array([_read_hit(sheet, row, cell) for row, cell in enumerate(sheet.cells("value"))])
    values = sheet.numbers("value")
    if column.unit is None or site is None or not site.unit:
        return values
    where = f"{sheet.header}, column {column.header!r}"
    given, wanted = known_unit(column.unit), known_unit(site.unit) or site.unit
    scale = None if given is None else factor(given, wanted)
    per_second = None if given is None or wanted != "counts" else factor(given, "cps")
    if scale is None and per_second is not None:
        return _counts(sheet, where, values * per_second, dwell)
    if scale is None:
        raise ValueError(
            f"{where}: the unit {column.unit!r} does not become {site.unit!r} of the site by a factor; "
            "convert the column, or correct the header or `unit` in [field] of the site file."
        )
    if scale != 1.0:
        sheet.notes.append(f"Readings were converted from {given} to {wanted} (times {scale:g}).")
    return values * scale


def _read_hit(sheet: Sheet, row: int, cell: str) -> float:
    """Return 1 for a hit, 0 for none."""
    text = cell.strip().lower()
    for words, value in ((_HIT_WORDS, 1.0), (_NO_HIT_WORDS, 0.0)):
        if text in words:
            return value
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if value not in (0.0, 1.0):
        raise ValueError(
            f"{sheet.where('value', row)}: {cell.strip()!r} is neither a hit (1, yes, true) nor none (0, no, "
            'false); correct it, or set another `reading` than "binary" in [sensor] of the site file.'
        )
    return value


def _counts(sheet: Sheet, where: str, rates: np.ndarray, dwell: np.ndarray | None) -> np.ndarray:
    if dwell is None:
        raise ValueError(
            f"{where}: a count rate becomes counts by the time counted; add a column dwell [s], or `dwell` "
            "in [sensor] of the site file."
        )
    sheet.notes.append("Count rates were multiplied by the time counted and rounded to whole counts.")
    return np.round(rates * dwell)


def read_altitude(sheet: Sheet) -> np.ndarray | None:
    """Return the heights (k,) [m] above ground; the site's height where the file has none."""
    site = sheet.site
    if site is None:
        return read_optional(sheet, "altitude", None, altitude_fault)
    ground = site.sensor.ground
    default = None if site.sensor.height is None else site.sensor.height + ground
    altitude = read_optional(sheet, "altitude", sheet.fill(default), altitude_fault)
    return None if altitude is None else altitude - ground


def read_dwell(sheet: Sheet) -> np.ndarray | None:
    """Return how long each reading counted (k,) [s]; the site's time where the file has none."""

    def dwell_fault(dwell: float) -> str | None:
        return None if dwell > 0 else f"must be above 0; got {dwell:g}."

    return read_optional(
        sheet, "dwell", sheet.fill(None if sheet.site is None else sheet.site.sensor.dwell), dwell_fault
    )


def read_optional(
    sheet: Sheet,
    role: str,
    defaults: np.ndarray | None,
    fault: Callable[[float], str | None],
    scale: float = 1.0,
    *,
    leaves_out: bool = False,
) -> np.ndarray | None:
    """Return a column that a file may lack; an empty cell takes its default, and is an error without one.

    With `leaves_out` it is NaN without one, for rows that the caller leaves out.

    `defaults` (k,) are NaN where there is none. `fault` says what is wrong with a number, or `None`, after
    the number was multiplied with `scale`.
    """
    if role not in sheet.columns:
        return defaults
    missing = sheet.missing(role)
    if missing.all():
        header = sheet.columns[role].header
        sheet.notes.append(f"The column {header!r} is empty and was not used.")
        return defaults
    found = np.full(len(missing), np.nan) if defaults is None else defaults.copy()
    gone = missing & np.isnan(found)
    if gone.any() and not leaves_out:
        row = int(np.flatnonzero(missing)[np.isnan(found[missing])][0])
        raise ValueError(
            f"{sheet.where(role, row)}: the cell says nothing ({sheet.cells(role)[row].strip()!r}); fill it "
            f"in, or leave the column out by {role} = '' under [columns]."
        )
    given = sheet.select(~missing)
    found[~missing] = scale * given.numbers(role)
    _require_no_fault(given, role, found[~missing], fault)
    if gone.any():
        sheet.notes.append(lint_gone(sheet.rows.lines, sheet.columns[role].header, gone))
    missing &= ~gone
    if missing.any():
        header, line = sheet.columns[role].header, sheet.rows.lines[int(np.argmax(missing))]
        count, taken = int(missing.sum()), np.unique(found[missing])
        cells = f"1 cell of {header!r} says" if count == 1 else f"{count} cells of {header!r} say"
        default = f"{taken[0]:g} is" if len(taken) == 1 else "what the site says of the sensor is"
        sheet.notes.append(f"{cells} nothing, {default} taken (first on line {line}).")
    return found


def _require_no_fault(
    sheet: Sheet, role: str, numbers: np.ndarray, fault: Callable[[float], str | None], subject: str = ""
) -> None:
    for row, number in enumerate(numbers.tolist()):
        if (words := fault(number)) is not None:
            raise ValueError(f"{sheet.where(role, row)}: {subject}{words}")


def read_sensors(sheet: Sheet) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return the index (k,) of the sensor of each reading, and the names: in the site's order, or sorted."""
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


def read_wind(sheet: Sheet, times: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray]:
    """Return the winds (k, 2) [m/s], where the air goes, or `None`; and which readings (k,) count.

    A reading without wind is left out, refused, or has it interpolated in time, as the site says. A constant
    wind of the site is the wind of every reading.
    """
    site, all_rows = sheet.site, np.ones(len(sheet.rows.lines), bool)
    is_needed = site is not None and KINDS[site.kind].uses_wind and site.wind.mode == "measured"
    roles = _wind_roles(sheet)
    if site is not None and not is_needed:
        velocity = site.wind.velocity
        return None if velocity is None else np.tile(np.array(velocity), (len(all_rows), 1)), all_rows
    if roles is None and is_needed:
        raise ValueError(
            f"{sheet.header}: {_missing_wind_columns(sheet)} under [columns], or set `mode` in [wind] of the "
            "site file."
        )
    if roles is None:
        return None, all_rows
    missing = sheet.missing(roles[0]) | sheet.missing(roles[1])
    if not missing.any():
        return _measured_winds(sheet, roles), all_rows
    if is_needed and missing.all():
        raise ValueError(
            f"{sheet.rows.path}: no row has a wind; set `mode` in [wind] of the site file to constant or "
            "unknown."
        )
    if not is_needed:
        sheet.notes.append(f"{_count_readings(missing)} without wind, so that the wind was not used.")
        return None, all_rows
    return _fill_winds(sheet, roles, missing, times)


def _wind_roles(sheet: Sheet) -> tuple[str, str] | None:
    pairs = [pair for pair in WIND_ROLES if set(pair) <= set(sheet.columns)]
    if len(pairs) > 1:
        names = ", ".join(repr(sheet.columns[role].header) for pair in pairs for role in pair)
        raise ValueError(
            f"{sheet.header}: {names} give the wind twice; leave one out, by wind_speed = '' under [columns] "
            "or --column wind_speed=."
        )
    if not pairs and ("wind_u" in sheet.columns) != ("wind_v" in sheet.columns):
        role, other = ("wind_u", "wind_v") if "wind_u" in sheet.columns else ("wind_v", "wind_u")
        raise ValueError(
            f"{sheet.header}: a column for {role} but none for {other}; name it under [columns]."
        )
    if not pairs and ("wind_speed" in sheet.columns or "wind_from" in sheet.columns):
        sheet.notes.append("Of the wind, only speed or direction is in the file; it was not used.")
    return pairs[0] if pairs else None


def _missing_wind_columns(sheet: Sheet) -> str:
    """Return which columns of the wind are missing, as the beginning of an error."""
    for here, missing in (WIND_ROLES[1], WIND_ROLES[1][::-1]):
        if here in sheet.columns:
            return f"a column for {here} but none for {missing}; name it"
    return "no wind columns (wind_u and wind_v, or wind_speed and wind_from); name them"


def _measured_winds(sheet: Sheet, roles: tuple[str, str]) -> np.ndarray:
    first, second = sheet.numbers(roles[0]), sheet.numbers(roles[1])
    if roles == WIND_ROLES[0]:
        _require_no_fault(sheet, roles[0], np.hypot(first, second), wind_fault, f"the speed with {roles[1]} ")
        return np.stack([first, second], axis=-1)
    _require_no_fault(sheet, roles[0], first, wind_fault)
    _require_no_fault(sheet, roles[1], second, direction_fault)
    return wind_from(first, second)


def _fill_winds(
    sheet: Sheet, roles: tuple[str, str], missing: np.ndarray, times: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the winds with gaps filled, or left out, as the site says; and which readings count."""
    assert sheet.site is not None
    rule, row = sheet.site.wind.missing, int(np.argmax(missing))
    where = sheet.where(roles[0] if sheet.missing(roles[0])[row] else roles[1], row)
    if rule == "refuse":
        raise ValueError(
            f"{where}: the wind is missing; fill it in, or set `missing` in [wind] of the site file to "
            "leave-out or interpolate."
        )
    winds = np.zeros((len(missing), 2))
    winds[~missing] = _measured_winds(sheet.select(~missing), roles)
    if rule == "leave-out":
        sheet.notes.append(
            f"{_count_readings(missing)} without wind, left out (first on line {sheet.rows.lines[row]})."
        )
        return winds, ~missing
    if times is None:
        raise ValueError(
            f"{where}: the wind is missing and cannot be interpolated without a time column; set "
            "`missing` in [wind] of the site file to leave-out."
        )
    sheet.notes.append(
        f"{_count_readings(missing)} without wind, interpolated in time (first on line "
        f"{sheet.rows.lines[row]})."
    )
    return interpolate_wind(winds, ~missing, times), np.ones(len(missing), bool)


def _count_readings(missing: np.ndarray) -> str:
    count = int(missing.sum())
    return "1 reading is" if count == 1 else f"{count} readings are"
