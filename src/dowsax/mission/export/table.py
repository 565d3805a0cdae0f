"""Findings as CSV: the weighted draws of the posterior, and the readings with where they were taken."""

import csv
import io

import numpy as np

from dowsax.mission.findings import Findings


def posterior_table(findings: Findings) -> str:
    """One draw a line: its weight, every parameter, and latitude and longitude where the site has them."""
    posterior = findings.posterior
    columns = {"weight": posterior.weights}
    columns |= dict(zip(posterior.names, posterior.samples.T, strict=True))
    return _csv(columns | _degrees(findings, posterior.samples[:, :2]))


def readings_table(findings: Findings) -> str:
    """One reading a line, in the order of their times, with what was measured along: a survey to be read."""
    columns = {"x": findings.positions[:, 0], "y": findings.positions[:, 1], "value": findings.values}
    measured = {"time": findings.time, "altitude": findings.altitude, "dwell": findings.dwell}
    measured |= {"line": findings.lines}
    columns |= {name: column for name, column in measured.items() if column is not None}
    if findings.wind is not None:
        columns |= {"wind_u": findings.wind[:, 0], "wind_v": findings.wind[:, 1]}
    columns |= _degrees(findings, findings.positions)
    if findings.time is not None:
        # A mission takes in late readings, too.
        order = np.argsort(findings.time, kind="stable")
        columns = {name: column[order] for name, column in columns.items()}
    return _csv(columns)


def _degrees(findings: Findings, positions: np.ndarray) -> dict[str, np.ndarray]:
    degrees = findings.degrees(positions)
    return {} if degrees is None else {"latitude": degrees[:, 0], "longitude": degrees[:, 1]}


def _csv(columns: dict[str, np.ndarray]) -> str:
    """With enough digits for millimetres in degrees, and to give back the same float32."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(
        zip(*([f"{number:.12g}" for number in column] for column in columns.values()), strict=True)
    )
    return text.getvalue()
