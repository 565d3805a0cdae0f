"""A survey that is uploaded: its rows as readings, one after another through the mission's queue."""

import hashlib
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dowsax.console.hosted import Hosted
    from dowsax.console.service import Console
    from dowsax.mission.reading import Reading

MOST_ROWS = 5000
_NAME = "survey.csv"


class Row(NamedTuple):
    """One row that is a reading."""

    line: int
    reading: "Reading"


def rows_of(data: bytes, site_text: str) -> list[Row]:
    """The readings of a CSV file for this site, or a ValueError in one line that names line and column.

    Each has an id made of the file's content and its line, so that a file sent twice counts once.
    """
    from dowsax.mission.reading import Reading
    from dowsax.mission.site import parse_site
    from dowsax.mission.survey import read_survey

    site = parse_site(site_text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _NAME
        path.write_bytes(data)
        try:
            survey = read_survey(path, site)
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), _NAME)) from None
    if len(survey.values) > MOST_ROWS:
        raise ValueError(
            f"{_NAME}: {len(survey.values)} readings, {MOST_ROWS} at once is the most: divide it."
        )
    start = None if survey.start is None else survey.start.timestamp()
    digest = hashlib.sha256(data).hexdigest()[:12]
    ground = site.sensor.ground

    def cell(column, index: int) -> float | None:
        return None if column is None else float(column[index])

    rows = []
    for index, line in enumerate(survey.lines):
        time, altitude = cell(survey.time, index), cell(survey.altitude, index)
        wind = None if survey.wind is None else (float(survey.wind[index, 0]), float(survey.wind[index, 1]))
        reading = Reading(
            position=(float(survey.positions[index, 0]), float(survey.positions[index, 1])),
            value=float(survey.values[index]),
            wind=wind,
            time=None if time is None else time + (start or 0.0),
            sensor=None if survey.sensor is None else survey.sensor_names[int(survey.sensor[index])],
            # Above ground already; the advisor takes the ground off once more.
            altitude=None if altitude is None else altitude + ground,
            dwell=cell(survey.dwell, index),
            id=f"{digest}-{line}",
        )
        rows.append(Row(int(line), reading))
    return rows


async def take_survey(console: "Console", hosted: "Hosted", rows: list[Row]) -> dict[str, Any]:
    """Take in the readings of a survey, and say which were refused and why."""
    from dowsax.mission.reading import Refused

    taken, refused = 0, []
    for row in rows:
        try:
            await console.do(
                hosted,
                lambda generation, row=row: hosted.do_take(generation, row.reading, f"line {row.line}"),
                limited=False,
            )
            taken += 1
        except Refused as refusal:
            refused.append({"line": row.line, "reason": str(refusal)})
    return {"taken": taken, "refused": refused}
