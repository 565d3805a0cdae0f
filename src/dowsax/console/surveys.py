"""Uploaded surveys: the rows become readings, one by one through the queue of the mission."""

import asyncio
import hashlib
import json
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dowsax.console.mission_host import MissionHost
from dowsax.console.service import Console
from dowsax.mission.log import MAX_GIVEN
from dowsax.site import parse_site
from dowsax.survey.csv_file import open_table
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.survey import Survey, read_survey

MAX_ROWS = 5000
_MAX_NAME_LENGTH = 80
_MAX_LISTED = 5
"""Refused rows that an event lists."""
_CLI_HINT = re.compile(r",? or (by )?--column [^.;]*(?=[.;])")
"""The part of an error that is for the command line only."""


class Row(NamedTuple):
    """A row that is a reading."""

    line: int
    reading: Reading
    given: str
    """Its cells as they are in the file, as JSON by the names of their columns."""


class Upload(NamedTuple):
    """The content of a survey file."""

    rows: list[Row]
    skipped: int
    """Rows that are no readings; the notes say why."""
    notes: tuple[str, ...]


def display_name(name: str) -> str:
    """Return the printable part of a file name, or "The file" where it has none."""
    plain = "".join(mark for mark in Path(name).name if mark.isprintable()).strip()
    return plain[:_MAX_NAME_LENGTH] or "The file"


def read_upload(data: bytes, name: str, site_text: str) -> Upload:
    """Read a CSV file for this site, or a ValueError in one line that names line and column.

    Each reading has an id made of the file's content and its line, so that a file sent twice counts once.
    """
    site = parse_site(site_text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        path.write_bytes(data)
        try:
            quantities = site.required_quantities
            survey = read_survey(path, site, quantities=quantities, max_readings=MAX_ROWS)
            cells = _read_cells(path, survey)
        except ValueError as error:
            raise ValueError(_CLI_HINT.sub("", str(error).replace(str(path), name))) from None
    digest = hashlib.sha256(data).hexdigest()[:12]
    ground = site.sensor.ground

    def cell(column, index: int) -> float | None:
        return None if column is None else float(column[index])

    rows = []
    for index, line in enumerate(survey.lines):
        altitude = cell(survey.altitude, index)
        wind = None if survey.wind is None else (float(survey.wind[index, 0]), float(survey.wind[index, 1]))
        reading = Reading(
            position=(float(survey.positions[index, 0]), float(survey.positions[index, 1])),
            far_end=_far_end(survey, index),
            value=float(survey.values[index]),
            wind=wind,
            time=cell(survey.clock, index),
            sensor=None if survey.sensor is None else survey.sensor_names[int(survey.sensor[index])],
            # Above ground already; the advisor subtracts the ground again.
            altitude=None if altitude is None else altitude + ground,
            dwell=cell(survey.dwell, index),
            id=f"{digest}-{line}",
            quantities={name: float(numbers[index]) for name, numbers in survey.quantities.items()},
        )
        rows.append(Row(int(line), reading, cells[int(line)]))
    return Upload(rows, survey.left_out, survey.notes)


def _far_end(survey: Survey, index: int) -> tuple[float, float] | None:
    """Return the other end of a reading's path [m]; `None` for a reading at a point."""
    if survey.far_ends is None or (survey.far_ends[index] == survey.positions[index]).all():
        return None
    return float(survey.far_ends[index, 0]), float(survey.far_ends[index, 1])


def _read_cells(path: Path, survey: Survey) -> dict[int, str]:
    """Return the used cells by line, as JSON; decimal commas become points."""
    used = [(column.header, column.index) for column in survey.columns.values()]
    with open_table(path, "") as table:
        rows = table.read(index for _, index in used)
    plain = (lambda cell: cell) if rows.separator == "," else (lambda cell: cell.replace(",", "."))
    row_of, found = {line: row for row, line in enumerate(rows.lines)}, {}
    for line in survey.lines.tolist():
        given = {header: plain(rows.cells[index][row_of[line]]) for header, index in used}
        found[line] = json.dumps(given)[:MAX_GIVEN]
    return found


async def add_survey(
    console: Console, host: MissionHost, data: bytes, name: str, confirmed: bool = False
) -> dict[str, Any]:
    """Add the readings of a CSV file, and return what became of its rows; an event says the same."""
    name = display_name(name)
    try:
        upload = await asyncio.to_thread(read_upload, data, name, host.record.site)
    except ValueError as error:
        host.note("refused", f"Survey: no reading was added. {error}")
        raise
    new, known, refused = 0, 0, []
    for row in upload.rows:
        try:
            is_new = await console.do(host, partial(_add_row, host, row, confirmed), limited=False)
            new, known = new + is_new, known + (not is_new)
        except Refused as refusal:
            refused.append({"line": row.line, "reason": str(refusal)})
    result = {"new": new, "known": known, "refused": refused}
    result |= {"skipped": upload.skipped, "notes": list(upload.notes)}
    host.note("survey", f"{name}: {describe_result(result)}")
    return result


def _add_row(host: MissionHost, row: Row, confirmed: bool, generation: int) -> bool:
    """Add a row; return whether it is new. A known reading counts once."""
    before = host.do_prepare(generation).history.count
    # Refusals are reported for all rows together.
    advice, _ = host.do_add(generation, row.reading, row.given, is_noted=False, confirmed=confirmed)
    return advice.number > before


def describe_result(result: dict[str, Any]) -> str:
    """Say what became of a survey, in one line."""
    refused, skipped = result["refused"], result["skipped"]
    parts = [f"{result['new']} new", f"{result['known']} known", f"{len(refused)} refused"]
    parts += [f"{skipped} skipped"] if skipped else []
    reasons = [f"Line {one['line']}: {one['reason']}" for one in refused[:_MAX_LISTED]]
    if len(refused) > _MAX_LISTED:
        reasons.append(f"And {len(refused) - _MAX_LISTED} more lines.")
    return " ".join([f"{', '.join(parts)}.", *reasons, *result["notes"]])
