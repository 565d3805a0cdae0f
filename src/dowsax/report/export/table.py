"""CSV tables: the weighted draws of a posterior, and the readings of a mission as a survey."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dowsax.geo.local import LocalCoordinates
from dowsax.mission.decision import time_order
from dowsax.mission.history import History
from dowsax.mission.log import Step
from dowsax.report.export.typed import Typed, altitude_column, time_column, typed_forms, wind_columns
from dowsax.report.findings import Findings
from dowsax.site.measured import QUANTITIES
from dowsax.site.site import Site
from dowsax.survey.csv_file import escape_cell
from dowsax.survey.reading import Reading

_MAY_BE_EMPTY = ("id", "x2", "y2")
"""Columns of which a survey may lack some cells: a reading without a far end is at a point."""


def posterior_table(findings: Findings) -> str:
    """Return one draw a line: its weight, every parameter, and latitude and longitude where known."""
    posterior = findings.posterior
    columns = {"weight": posterior.weights}
    columns |= dict(zip(posterior.names, posterior.samples.T, strict=True))
    each = np.moveaxis(posterior.source_positions(posterior.samples), 1, 0)
    for number, positions in enumerate(each, start=1):
        ending = "" if len(each) == 1 else str(number)
        degrees = _degrees(findings.coordinates, positions)
        columns |= {f"{name}{ending}": column for name, column in degrees.items()}
    return _csv({name: [f"{number:.12g}" for number in column] for name, column in columns.items()})


def log_table(steps: Iterable[Step], site: Site) -> str:
    """Return the readings of a log that count, in the form in which they came.

    The table also has the columns by which the site chooses rows of a survey.
    """
    steps = list(steps)
    history = History.of(steps)
    readings = history.readings()
    given = {step.number: step.given for step in steps}
    texts = [(given[number], given[standing.step]) for number, standing in history.active()]
    forms = typed_forms(readings, texts, site.columns)
    return readings_table(readings, site.coordinates, site.sensor.ground, forms=forms, chosen=site.rows)


def readings_table(
    readings: Sequence[Reading],
    coordinates: LocalCoordinates,
    ground: float = 0.0,
    *,
    forms: Sequence[Typed] = (),
    chosen: Mapping[str, str] | None = None,
) -> str:
    """Return one reading a line, in the order of time: a survey that `read_survey` reads to the last bit.

    A text that a spreadsheet would take for a formula has an apostrophe before it, which `read_survey`
    removes. A quantity that only some readings have is in a column `given_...`, which a survey does not use.

    Parameters
    ----------
    readings
        The readings.
    coordinates
        Local coordinates of the site.
    ground
        What the site subtracts from every altitude [m].
    forms
        The form in which each reading came. Default: numbers.
    chosen
        Texts of every row, by column.
    """
    order = time_order(readings)
    forms = [forms[index] if forms else Typed() for index in order]
    readings = [readings[index] for index in order]
    places = np.array([reading.position for reading in readings])
    far_ends = [reading.far_end or (None, None) for reading in readings]
    columns = {
        "id": [reading.id for reading in readings],
        "x": places[:, 0],
        "y": places[:, 1],
        "x2": [east for east, _ in far_ends],
        "y2": [north for _, north in far_ends],
        "value": [reading.value for reading in readings],
        "time": time_column(readings, forms),
        "sensor": [reading.sensor for reading in readings],
        "searcher": [reading.searcher for reading in readings],
        "altitude": altitude_column(readings, forms, ground),
        "dwell": [reading.dwell for reading in readings],
        **wind_columns(readings, forms),
        **{name: [reading.quantities.get(name) for reading in readings] for name in QUANTITIES},
    }
    table = {}
    for name, column in (columns | _degrees(coordinates, places)).items():
        known = [entry is not None for entry in column]
        if any(known):
            table[name if all(known) or name in _MAY_BE_EMPTY else f"given_{name}"] = [
                _cell(entry) for entry in column
            ]
    for name, text in (chosen or {}).items():
        table.setdefault(name, [escape_cell(text)] * len(readings))
    return _csv(table)


def _degrees(coordinates: LocalCoordinates, positions: np.ndarray) -> dict[str, np.ndarray]:
    if not coordinates.is_geographic:
        return {}
    degrees = coordinates.to_degrees(positions)
    return {"latitude": degrees[:, 0], "longitude": degrees[:, 1]}


def _cell(entry: str | float | None) -> str:
    return "" if entry is None else escape_cell(entry) if isinstance(entry, str) else repr(float(entry))


def _csv(columns: Mapping[str, Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape_cell, columns))
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
