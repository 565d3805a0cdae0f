"""A survey file: readings with their places, and what was measured along, checked cell by cell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from dowsax.geo.formatting import outside
from dowsax.geo.local import Frame
from dowsax.geo.polygons import TOUCH
from dowsax.site.missing_values import altitude_fault
from dowsax.site.site import Site
from dowsax.survey.cells import Sheet, optional, positions, sensors, values
from dowsax.survey.clocks import Clock, read_clock
from dowsax.survey.columns import Column, listed, recognised, split_header
from dowsax.survey.csv_rows import Rows, Table, open_table
from dowsax.survey.lint import lint_survey
from dowsax.survey.wind import read_wind
from dowsax.types import Station
from dowsax.world.trails import with_trail

_EXPECTED = "x, y, value"
_PLACES = (("x", "y"), ("latitude", "longitude"))
"""The two ways to say where a reading was taken."""
_MANY = 5
"""Readings of one sensor that are all the same are worth a word from here on."""
_SAME_PLACE = 0.1
"""[m]"""
_IN_A_ROW = 20
"""And so are equal ones, other than zero, among others: fewer may be a sensor that is coarse, or slow."""


@dataclass(frozen=True, eq=False)
class Survey:
    """The readings of a file in its order. What was not measured is `None`."""

    positions: np.ndarray
    """(k, 2) [m], in `frame`."""
    values: np.ndarray
    """(k,), in the unit of the site."""
    lines: np.ndarray
    """(k,) int, the line of the file on which each reading ends."""
    frame: Frame = field(default_factory=Frame)
    altitude: np.ndarray | None = None
    """(k,) [m] above ground."""
    time: np.ndarray | None = None
    """(k,) [s], since the first reading."""
    start: datetime | None = None
    """When the first reading was taken, where the file says so."""
    clock: np.ndarray | None = None
    """(k,) [s], the times as the file has them: since 1970 where it says the date, else on its own clock."""
    wind: np.ndarray | None = None
    """(k, 2) [m/s], where the air goes."""
    dwell: np.ndarray | None = None
    """(k,) [s]"""
    sensor: np.ndarray | None = None
    """(k,) int, an index into `sensor_names`."""
    sensor_names: tuple[str, ...] = ()
    left_out: int = 0
    """How many rows were not taken as readings; `notes` say why."""
    notes: tuple[str, ...] = ()
    """What a reader of the results should know: what was left out, converted, or looks odd."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """The column of each role."""
    unused: tuple[str, ...] = ()
    """The headers of the other columns."""

    def stations(self, trail: bool = False) -> Station:
        """Where each reading was taken, and what was measured along; with `trail`, for a sensor that lags."""

        def single(part: np.ndarray | None):
            return None if part is None else jnp.asarray(part, jnp.float32)

        found = Station(
            position=jnp.asarray(self.positions, jnp.float32),
            wind=single(self.wind),
            dwell=single(self.dwell),
            time=single(self.time),
            altitude=single(self.altitude),
            sensor=None if self.sensor is None else jnp.asarray(self.sensor, jnp.int32),
        )
        return with_trail(found) if trail else found


def read_survey(
    path: Path | str,
    site: Site | None = None,
    columns: Mapping[str, str] | None = None,
    rows: Mapping[str, str] | None = None,
    *,
    max_readings: int | None = None,
) -> Survey:
    """The survey in a CSV file, or a ValueError in one line that names file, line, column and what to do.

    Columns are found by name (x, y or latitude, longitude; value; altitude, time, wind, dwell, sensor) as
    many loggers spell them; `columns` says what the names do not, as in {"value": "ch4"}, and {"time": ""}
    leaves a column out. `rows` chooses those with a text in a column, as in {"event": "3"}. Both go before
    the site's. Rows without a value are left out and counted; more than `max_readings` others are refused
    before any is looked at.
    """
    path = Path(path)
    sheet = _sheet(path, site, columns or {}, rows or {})
    total = len(sheet.rows.lines)
    sheet = _with_values(sheet)
    count = len(sheet.rows.lines)
    if max_readings is not None and count > max_readings:
        raise ValueError(f"{path}: {count:,} readings; at most {max_readings:,} are taken: divide it.")
    clock = _clock(sheet)
    frame, places = positions(sheet)
    dwell = optional(sheet, "dwell", None if site is None else site.sensor.dwell, fault=_dwell_fault)
    readings = values(sheet, dwell)
    if dwell is None and site is not None and site.kind == "radiation":
        dwell = np.ones(len(readings))
        sheet.notes.append("Neither file nor site says how long each reading counted: 1 s is taken.")
    sensor, sensor_names = sensors(sheet)
    winds, kept = read_wind(sheet, None if clock is None else clock.times)
    kept = kept & _within_area(sheet, places)
    if not kept.any():
        raise ValueError(f"{path}: no reading is left. {' '.join(sheet.notes)}")
    lines = np.array(sheet.rows.lines)[kept]
    _note_stuck_sensors(sheet, readings[kept], _kept(sensor, kept), sensor_names, lines)
    clock = None if clock is None else clock._replace(times=clock.times[kept])
    altitude = _kept(_altitude(sheet), kept)
    if site is not None:
        sheet.notes.extend(lint_survey(site, readings[kept], altitude))
    return Survey(
        positions=places[kept],
        values=readings[kept],
        lines=lines,
        frame=frame,
        altitude=altitude,
        time=None if clock is None else clock.times - clock.times[0],
        start=None if clock is None else clock.start(),
        clock=None if clock is None else clock.times,
        wind=_kept(winds, kept),
        dwell=_kept(dwell, kept),
        sensor=_kept(sensor, kept),
        sensor_names=sensor_names,
        left_out=total - int(kept.sum()),
        notes=tuple(sheet.notes),
        columns=sheet.columns,
        unused=sheet.unused,
    )


def _sheet(path: Path, site: Site | None, columns: Mapping[str, str], chosen: Mapping[str, str]) -> Sheet:
    """The rows of this survey and the meaning of their columns."""
    with open_table(path, _EXPECTED) as table:
        where = f"{path}, line {table.header_line}"
        found = recognised(where, table.headers, {**_site_columns(site, table.headers), **columns})
        _require_columns(where, table, found, site)
        used = [column.index for column in found.values()]
        rows = table.read(used, {**(site.rows if site else {}), **chosen})
    return Sheet(rows, _one_way_to_say_where(where, rows, found, site), site, [])


def _site_columns(site: Site | None, headers: list[str]) -> dict[str, str]:
    """What the site says of columns, but for those that the file has by their plain names instead.

    So a file that dowsax wrote is read at the site that it was written for, as live readings are.
    """
    plain = {split_header(header)[0] for header in headers}
    columns = {} if site is None else site.columns
    return {
        role: name
        for role, name in columns.items()
        if not name or split_header(name)[0] in plain or role not in plain
    }


def _require_columns(where: str, table: Table, found: Mapping[str, Column], site: Site | None) -> None:
    """Refuse a header that does not say where readings were taken, or what they are."""
    metres, degrees = {"x", "y"} <= set(found), {"latitude", "longitude"} <= set(found)
    half = {"latitude", "longitude"} & set(found)
    if not metres and len(half) == 1:
        (here,) = half
        gone = "latitude" if here == "longitude" else "longitude"
        raise ValueError(
            f"{where}: {found[here].header!r} is the {here}, and there is no column for {gone}; found "
            f"{listed(table.headers)}. Say which it is by {gone} = 'name' under [columns] of the site file, "
            f"or by --column {gone}=name."
        )
    if not metres and not degrees:
        missing = [role for role in ("x", "y") if role not in found]
        raise ValueError(
            f"{where}: no column {' or '.join(map(repr, missing))}; found {listed(table.headers)} (separated "
            f"by {table.separator_name}). The header must name x and y [m], or latitude and longitude, "
            "and value."
        )
    if not metres and site is not None and not site.frame.is_geographic:
        raise ValueError(
            f"{where}: places in degrees need an origin; give `origin = [latitude, longitude]` of (0, 0) in "
            "[area] of the site file."
        )
    if "value" not in found:
        raise ValueError(
            f"{where}: no column 'value'; found {listed(table.headers)} (separated by "
            f"{table.separator_name}). Name it value, or say which it is by value = 'name' under [columns] "
            "of the site file, or by --column value=name."
        )


def _one_way_to_say_where(
    where: str, rows: Rows, found: dict[str, Column], site: Site | None
) -> dict[str, Column]:
    """The columns with either x, y or latitude, longitude among them."""
    metres, degrees = {"x", "y"} <= set(found), {"latitude", "longitude"} <= set(found)
    if metres and degrees and site is not None and site.frame.is_geographic:
        said = [way for way in _PLACES if all(found[role].mapped for role in way)]
        if len(said) != 1 and _agree(rows, found, site):
            said = [("x", "y")]
        if len(said) != 1:
            headers = [found[role].header for role in ("x", "y", "latitude", "longitude")]
            raise ValueError(
                f"{where}: {listed(headers)} say twice where a reading was taken; leave two out, by x = '' "
                "and y = '' under [columns] or --column x= --column y=."
            )
        metres = said == [("x", "y")]
    other = ("latitude", "longitude") if metres else ("x", "y")
    return {role: column for role, column in found.items() if role not in other}


def _agree(rows: Rows, found: dict[str, Column], site: Site) -> bool:
    """Whether x, y and latitude, longitude name the same places, as in a file that dowsax wrote."""
    try:
        x, y, latitude, longitude = (
            found[role].scale * np.array([float(cell) for cell in rows.cells[found[role].index]])
            for role in ("x", "y", "latitude", "longitude")
        )
    except ValueError:
        return False
    apart = site.frame.to_metres(latitude, longitude) - np.stack([x, y], axis=-1)
    return bool(np.all(np.abs(apart) <= _SAME_PLACE))


def _with_values(sheet: Sheet) -> Sheet:
    """Without the rows in which the logger had no value."""
    missing = sheet.missing("value")
    if missing.any():
        lines = [line for line, gone in zip(sheet.rows.lines, missing, strict=True) if gone]
        rows = "1 row has" if len(lines) == 1 else f"{len(lines)} rows have"
        first = "" if len(lines) == 1 else "first "
        sheet.notes.append(
            f"{rows} no value in {sheet.columns['value'].header!r}, left out ({first}on line {lines[0]})."
        )
    if missing.all():
        raise ValueError(f"{sheet.rows.path}: no reading is left. {' '.join(sheet.notes)}")
    return sheet.chosen(~missing)


def _clock(sheet: Sheet) -> Clock | None:
    column = sheet.columns.get("time")
    if column is None:
        return None
    clock = read_clock(sheet.rows, column, sheet.columns.get("date"))
    if clock is None:
        example = sheet.cells("time")[0].strip()
        sheet.notes.append(f"The column {column.header!r} holds no times ({example!r}) and was not used.")
    return clock


def _altitude(sheet: Sheet) -> np.ndarray | None:
    """[m] above ground; the site's own height where the file has none."""
    site = sheet.site
    if site is None:
        return optional(sheet, "altitude", fault=altitude_fault)
    ground = site.sensor.ground
    default = None if site.sensor.height is None else site.sensor.height + ground
    found = optional(sheet, "altitude", default, fault=altitude_fault)
    return None if found is None else found - ground


def _dwell_fault(dwell: float) -> str | None:
    return None if dwell > 0 else f"must be above 0; got {dwell:g}."


def _within_area(sheet: Sheet, places: np.ndarray) -> np.ndarray:
    """Which readings count for a site that may refuse, or leave out, those outside its area."""
    everywhere = np.ones(len(places), bool)
    site = sheet.site
    if site is None or site.outside == "allow":
        return everywhere
    inside = np.all((places >= np.subtract(site.low, TOUCH)) & (places <= np.add(site.high, TOUCH)), axis=1)
    if inside.all():
        return everywhere
    row = int(np.argmin(inside))
    if site.outside == "refuse":
        eastward = not site.low[0] <= places[row, 0] <= site.high[0]
        role = ("x" if eastward else "y") if "x" in sheet.columns else "longitude" if eastward else "latitude"
        raise ValueError(
            f"{sheet.where(role, row)}: {outside(site.frame, site.area, places[row])}; correct it, widen the "
            "area, or set `outside` in [area] of the site file."
        )
    count = int((~inside).sum())
    words = "1 reading is" if count == 1 else f"{count} readings are"
    sheet.notes.append(f"{words} outside the area, left out (first on line {sheet.rows.lines[row]}).")
    return inside


def _note_stuck_sensors(
    sheet: Sheet,
    readings: np.ndarray,
    sensor: np.ndarray | None,
    names: tuple[str, ...],
    lines: np.ndarray,
) -> None:
    """A sensor that says the same in many readings may be stuck."""
    numbers = np.zeros(len(readings), int) if sensor is None else sensor
    for number in np.unique(numbers):
        mine = readings[numbers == number]
        who = "The sensor" if sensor is None else f"The sensor {names[number]!r}"
        if len(mine) >= _MANY and (mine == mine[0]).all():
            sheet.notes.append(
                f"{who} reads {mine[0]:g} in all its {len(mine)} readings: is it stuck, or silent "
                "below its limit?"
            )
            continue
        value, length, first = _longest_run(mine)
        if length >= _IN_A_ROW and value != 0:
            line = lines[numbers == number][first]
            sheet.notes.append(
                f"{who} reads {value:g} {length} times in a row (from line {line} on): is it stuck?"
            )


def _longest_run(values: np.ndarray) -> tuple[float, int, int]:
    """The value of the longest run of equal values, how long it is, and where it starts."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    lengths = np.diff(np.append(starts, len(values)))
    longest = int(np.argmax(lengths))
    return float(values[starts[longest]]), int(lengths[longest]), int(starts[longest])


def _kept(part: np.ndarray | None, kept: np.ndarray) -> np.ndarray | None:
    return None if part is None else part[kept]
