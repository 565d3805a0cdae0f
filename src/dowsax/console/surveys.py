"""A survey that is uploaded: its rows as readings, one after another through the mission's queue."""

import asyncio
import hashlib
import json
import re
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from dowsax.console.hosted import Hosted
from dowsax.console.service import Console
from dowsax.mission.log import MAX_GIVEN
from dowsax.site import parse_site
from dowsax.survey.csv_file import open_table
from dowsax.survey.reading import Reading, Refused
from dowsax.survey.survey import Survey, read_survey

MOST_ROWS = 5000
_LONGEST_NAME = 80
_NAMED = 5
"""Of the rows that were refused, so many are named in the log of events."""
_OPTIONS = re.compile(r",? or (by )?--column [^.;]*(?=[.;])")
"""What is for the command line only."""


class Row(NamedTuple):
    """One row that is a reading."""

    line: int
    reading: "Reading"
    given: str
    """Its cells as they stand in the file, as JSON by the names of their columns."""


class Upload(NamedTuple):
    """What a file holds."""

    rows: list[Row]
    left_out: int
    """Rows that are no readings; the notes say why."""
    notes: tuple[str, ...]


def shown_name(name: str) -> str:
    """What a file is called in words: its name where that can be shown, and the file where it has none."""
    plain = "".join(mark for mark in Path(name).name if mark.isprintable()).strip()
    return plain[:_LONGEST_NAME] or "The file"


def upload_of(data: bytes, called: str, site_text: str) -> Upload:
    """The readings of a CSV file for this site, or a ValueError in one line that names line and column.

    Each has an id made of the file's content and its line, so that a file sent twice counts once.
    """
    site = parse_site(site_text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "survey.csv"
        path.write_bytes(data)
        try:
            survey = read_survey(path, site, max_readings=MOST_ROWS)
            cells = _given(path, survey)
        except ValueError as error:
            raise ValueError(_OPTIONS.sub("", str(error).replace(str(path), called))) from None
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
            value=float(survey.values[index]),
            wind=wind,
            time=cell(survey.clock, index),
            sensor=None if survey.sensor is None else survey.sensor_names[int(survey.sensor[index])],
            # Above ground already; the advisor takes the ground off once more.
            altitude=None if altitude is None else altitude + ground,
            dwell=cell(survey.dwell, index),
            id=f"{digest}-{line}",
        )
        rows.append(Row(int(line), reading, cells[int(line)]))
    return Upload(rows, survey.left_out, survey.notes)


def _given(path: Path, survey: "Survey") -> dict[int, str]:
    """The cells that have a meaning, by line; where cells may have decimal commas, with points."""
    used = [(column.header, column.index) for column in survey.columns.values()]
    with open_table(path, "") as table:
        rows = table.read(index for _, index in used)
    plain = (lambda cell: cell) if rows.separator == "," else (lambda cell: cell.replace(",", "."))
    row_of, found = {line: row for row, line in enumerate(rows.lines)}, {}
    for line in survey.lines.tolist():
        given = {header: plain(rows.cells[index][row_of[line]]) for header, index in used}
        found[line] = json.dumps(given)[:MAX_GIVEN]
    return found


async def take_survey(
    console: "Console", hosted: "Hosted", data: bytes, name: str, confirmed: bool = False
) -> dict[str, Any]:
    """Take in the readings of a CSV file, and say what became of its rows; the log of events says it, too."""
    called = shown_name(name)
    try:
        upload = await asyncio.to_thread(upload_of, data, called, hosted.record.site)
    except ValueError as error:
        hosted.note("refused", f"Survey: none is taken in. {error}")
        raise
    taken, known, refused = 0, 0, []
    for row in upload.rows:
        try:
            is_new = await console.do(hosted, partial(_taken, hosted, row, confirmed), limited=False)
            taken, known = taken + is_new, known + (not is_new)
        except Refused as refusal:
            refused.append({"line": row.line, "reason": str(refusal)})
    told = {"taken": taken, "known": known, "refused": refused}
    told |= {"left_out": upload.left_out, "notes": list(upload.notes)}
    hosted.note("survey", f"{called}: {survey_words(told)}")
    return told


def _taken(hosted: "Hosted", row: Row, confirmed: bool, generation: int) -> bool:
    """Whether a row is new: a reading that was taken in before gets its old answer, and counts once."""
    before = hosted.do_prepare(generation).history.count
    # What is refused is told of all rows at once.
    advice, _ = hosted.do_take(generation, row.reading, row.given, is_noted=False, confirmed=confirmed)
    return advice.number > before


def survey_words(told: dict[str, Any]) -> str:
    """What became of a survey, in one line."""
    refused, left_out = told["refused"], told["left_out"]
    parts = [f"{told['taken']} new", f"{told['known']} known", f"{len(refused)} refused"]
    parts += [f"{left_out} left out"] if left_out else []
    reasons = [f"Line {one['line']}: {one['reason']}" for one in refused[:_NAMED]]
    if len(refused) > _NAMED:
        reasons.append(f"And {len(refused) - _NAMED} more lines.")
    return " ".join([f"{', '.join(parts)}.", *reasons, *told["notes"]])
