"""A survey file: file → columns → readings, one step after the other in `read_survey`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from dowsax.geo.formatting import format_outside
from dowsax.geo.local import LocalCoordinates
from dowsax.geo.polygons import TOUCH
from dowsax.site.site import Site
from dowsax.survey.columns import Column, choose_position_columns, find_columns
from dowsax.survey.csv_file import open_table
from dowsax.survey.lint import SensorQuestion, lint_sensors, lint_survey
from dowsax.survey.measured import lint_background, note_unused, read_quantities, unused_quantities
from dowsax.survey.quantities import (
    Sheet,
    read_altitude,
    read_dwell,
    read_far_ends,
    read_positions,
    read_sensors,
    read_values,
    read_wind,
    select_values,
)
from dowsax.survey.searchers import find_searchers, note_searchers, read_searchers
from dowsax.survey.times import read_clock
from dowsax.types import Station
from dowsax.world.trails import with_trail


@dataclass(frozen=True, eq=False)
class Survey:
    """The readings of a file in its order. What was not measured is `None`."""

    positions: np.ndarray
    """(k, 2) [m], in `coordinates`; of paths, their first ends."""
    values: np.ndarray
    """(k,), in the unit of the site."""
    lines: np.ndarray
    """(k,) int, the line of the file on which each reading ends."""
    coordinates: LocalCoordinates = field(default_factory=LocalCoordinates)
    far_ends: np.ndarray | None = None
    """(k, 2) [m], the other ends of paths, and the positions of readings at points; `None` without paths."""
    altitude: np.ndarray | None = None
    """(k,) [m] above ground."""
    time: np.ndarray | None = None
    """(k,) [s], since the first reading."""
    start: datetime | None = None
    """When the first reading was taken, where the file has the date."""
    clock: np.ndarray | None = None
    """(k,) [s], the times in the file: since 1970 where it has the date, else on its own clock."""
    wind: np.ndarray | None = None
    """(k, 2) [m/s], where the air goes."""
    dwell: np.ndarray | None = None
    """(k,) [s]"""
    sensor: np.ndarray | None = None
    """(k,) int, an index into `sensor_names`."""
    sensor_names: tuple[str, ...] = ()
    searcher: np.ndarray | None = None
    """(k,) int, an index into the searchers of the site; `None` where it has none."""
    quantities: Mapping[str, np.ndarray] = field(default_factory=dict)
    """(k,), what else was measured, by the names of `QUANTITIES`."""
    left_out: int = 0
    """How many rows were left out; `notes` say why."""
    notes: tuple[str, ...] = ()
    """What a reader of the results should know: what was left out, converted, or looks odd."""
    stuck: tuple[str, ...] = ()
    """Of the notes those that ask whether a sensor is stuck: its readings may say nothing."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """The column of each role."""
    unused: tuple[str, ...] = ()
    """The headers of the other columns."""

    def stations(self, trail: bool = False) -> Station:
        """Return the station of each reading; with `trail`, also those before it, for a lagging sensor."""

        def single(part: np.ndarray | None):
            return None if part is None else jnp.asarray(part, jnp.float32)

        others: dict[str, Any] = {name: single(numbers) for name, numbers in self.quantities.items()}
        found = Station(
            position=jnp.asarray(self.positions, jnp.float32),
            wind=single(self.wind),
            dwell=single(self.dwell),
            time=single(self.time),
            altitude=single(self.altitude),
            sensor=None if self.sensor is None else jnp.asarray(self.sensor, jnp.int32),
            searcher=None if self.searcher is None else jnp.asarray(self.searcher, jnp.int32),
            far_end=single(self.far_ends),
            **others,
        )
        return with_trail(found) if trail else found


def read_survey(
    path: Path | str,
    site: Site | None = None,
    columns: Mapping[str, str] | None = None,
    rows: Mapping[str, str] | None = None,
    *,
    quantities: Collection[str] | None = None,
    max_readings: int | None = None,
) -> Survey:
    """Return the survey in a CSV file, or raise a ValueError in one line: file, line, column and what to do.

    Columns are found by the names that loggers use: x, y or latitude, longitude; value; altitude, time, wind,
    dwell, sensor, and those of `QUANTITIES` that the site uses; x1, y1, x2, y2 for the mean along a path, a
    point where a row has no far end; searcher where the site has several. Rows without a value are left out.

    Parameters
    ----------
    path
        The CSV file.
    site
        Where it was taken: unit, area, wind and sensor. Default: none, for positions and values alone.
    columns
        Columns whose names do not say what they hold, as in {"value": "ch4"}; {"time": ""} leaves a column
        out. They win over those of the site.
    rows
        The rows to read, by the text in a column, as in {"event": "3"}. They win over those of the site.
    quantities
        Those of `QUANTITIES` to read at most. Default: all that the site has a use for.
    max_readings
        More readings are refused before any number is read. Default: no limit.
    """
    sheet = _read_sheet(Path(path), site, columns or {}, rows or {}, quantities)
    num_rows = len(sheet.rows.lines)
    sheet = select_values(sheet)
    if max_readings is not None and len(sheet.rows.lines) > max_readings:
        many = f"{path}: {len(sheet.rows.lines):,} readings"
        raise ValueError(f"{many}; at most {max_readings:,} are taken: divide it.")
    clock = read_clock(sheet)
    coordinates, positions = read_positions(sheet)
    far_ends = read_far_ends(sheet, coordinates, positions)
    dwell = read_dwell(sheet)
    values = read_values(sheet, dwell)
    dwell = _default_dwell(sheet) if dwell is None else dwell
    sensor, sensor_names = read_sensors(sheet)
    measured = read_quantities(sheet, sensor, sensor_names)
    altitude = read_altitude(sheet)
    wind, has_wind = read_wind(sheet, None if clock is None else clock.times)
    is_measured = ~np.any([np.isnan(part) for part in (values, *measured.values())], axis=0)
    is_seen = _is_allowed(sheet, positions, far_ends) & _sees(sheet, positions, far_ends, altitude)
    counts = has_wind & is_measured & is_seen
    if not counts.any():
        raise ValueError(f"{path}: no reading is left. {' '.join(sheet.notes)}")
    values, sensor, lines = values[counts], _select(sensor, counts), np.array(sheet.rows.lines)[counts]
    altitude, clock = _select(altitude, counts), None if clock is None else clock.select(counts)
    dwell, measured = _select(dwell, counts), {name: part[counts] for name, part in measured.items()}
    questions = _ask_about_sensors(site, values, sensor, sensor_names, lines)
    asked = [question.words for question in questions]
    return Survey(
        positions=positions[counts],
        values=values,
        lines=lines,
        coordinates=coordinates,
        far_ends=_select(far_ends, counts),
        altitude=altitude,
        time=None if clock is None else clock.times - clock.times[0],
        start=None if clock is None else clock.start(),
        clock=None if clock is None else clock.times,
        wind=_select(wind, counts),
        dwell=dwell,
        sensor=sensor,
        sensor_names=sensor_names,
        searcher=_select(read_searchers(sheet), counts),
        quantities=measured,
        left_out=num_rows - int(counts.sum()),
        notes=(*sheet.notes, *asked, *_lint(site, values, altitude, dwell, measured)),
        stuck=tuple(question.words for question in questions if question.is_stuck),
        columns=sheet.columns,
        unused=sheet.unused,
    )


def _ask_about_sensors(site: Site | None, values: np.ndarray, *of_sensors: Any) -> list[SensorQuestion]:
    """Return questions about sensors that may be stuck; hits in a row are what a plume gives."""
    is_binary = site is not None and site.sensor.reading == "binary"
    return [] if is_binary else lint_sensors(values, *of_sensors)


def _lint(
    site: Site | None,
    values: np.ndarray,
    altitude: np.ndarray | None,
    dwell: np.ndarray | None,
    measured: Mapping[str, np.ndarray],
) -> list[str]:
    """Return what is odd about the readings of a site."""
    if site is None:
        return []
    notes = lint_survey(site, values, altitude)
    return [*notes, *lint_background(site, values, dwell, measured.get("background"))]


def _default_dwell(sheet: Sheet) -> np.ndarray | None:
    """Return 1 s for each reading (k,) where it matters how long it counted, with a note."""
    site = sheet.site
    if site is None or not (site.kind == "radiation" or site.sensor.reading == "binary"):
        return None
    sheet.notes.append("Neither file nor site says how long each reading counted: 1 s is taken.")
    return np.ones(len(sheet.rows.lines))


def _read_sheet(
    path: Path,
    site: Site | None,
    columns: Mapping[str, str],
    chosen: Mapping[str, str],
    quantities: Collection[str] | None,
) -> Sheet:
    """Return the chosen rows of the file, and the meaning of their columns."""
    unused = unused_quantities(site, [role for role, name in columns.items() if name], quantities)
    with open_table(path, "x, y, value") as table:
        found = find_columns(table, site, columns, unused)
        found |= find_searchers(table, site, found)
        used = [column.index for column in found.values()]
        rows = table.read(used, {**(site.rows if site else {}), **chosen})
    sheet = Sheet(rows, choose_position_columns(rows, found, site), site, [])
    note_unused(sheet, unused)
    note_searchers(sheet)
    return sheet


def _is_allowed(sheet: Sheet, positions: np.ndarray, far_ends: np.ndarray | None) -> np.ndarray:
    """Return which readings (k,) count at a site that may refuse, or leave out, those outside its area.

    Both ends of a path must lie inside.
    """
    site, is_inside = sheet.site, np.ones(len(positions), bool)
    if site is None or site.outside == "allow":
        return is_inside
    low, high = np.subtract(site.low, TOUCH), np.add(site.high, TOUCH)
    for suffix, ends in (("", positions), ("2", far_ends)):
        if ends is None:
            continue
        holds = np.all((ends >= low) & (ends <= high), axis=1)
        if site.outside == "refuse" and not holds.all():
            row = int(np.argmin(holds))
            eastward = not site.low[0] <= ends[row, 0] <= site.high[0]
            in_metres, in_degrees = ("x", "longitude") if eastward else ("y", "latitude")
            role = (in_metres if "x" in sheet.columns else in_degrees) + suffix
            raise ValueError(
                f"{sheet.where(role, row)}: {format_outside(site.coordinates, site.area, ends[row])}; "
                "correct it, widen the area, or set `outside` in [area] of the site file."
            )
        is_inside &= holds
    if is_inside.all():
        return is_inside
    row = int(np.argmin(is_inside))
    count = int((~is_inside).sum())
    words = "1 reading is" if count == 1 else f"{count} readings are"
    sheet.notes.append(f"{words} outside the area, left out (first on line {sheet.rows.lines[row]}).")
    return is_inside


def _sees(
    sheet: Sheet, positions: np.ndarray, far_ends: np.ndarray | None, altitude: np.ndarray | None
) -> np.ndarray:
    """Return which readings (k,) count at a site with opaque obstacles: those inside of one see no source."""
    sees = np.ones(len(positions), bool)
    if sheet.site is None or far_ends is not None:
        return sees
    heights = [sheet.site.sensor.height] * len(positions) if altitude is None else altitude.tolist()
    for number, obstacle in enumerate(sheet.site.obstacles):
        inside = obstacle.blinds(positions, heights)
        if inside.any():
            count, line = int(inside.sum()), sheet.rows.lines[int(np.argmax(inside))]
            words = "1 reading is" if count == 1 else f"{count} readings are"
            sheet.notes.append(
                f"{words} in the opaque obstacle {obstacle.title(number)}, left out (first on line {line}): "
                "check the positions and the obstacle."
            )
        sees &= ~inside
    return sees


def _select(quantity: np.ndarray | None, mask: np.ndarray) -> np.ndarray | None:
    return None if quantity is None else quantity[mask]
