"""Exports of a mission as files."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dowsax import viz
from dowsax.mission.advisor import Advisor
from dowsax.mission.log import MissionLog
from dowsax.report.export import WRITERS, log_table
from dowsax.report.findings import Findings
from dowsax.report.mission_findings import findings_of
from dowsax.site import parse_site

FORMATS = {
    "geojson": ("application/geo+json", "geojson"),
    "kml": ("application/vnd.google-earth.kml+xml", "kml"),
    "qgc": ("application/json", "plan"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "html": ("text/html; charset=utf-8", "html"),
}
"""Media type and file extension by name."""
_PLOT_LOCK = threading.Lock()
"""Matplotlib's styles belong to the process, not to a thread."""


class Export(NamedTuple):
    """A file to send."""

    text: str
    media_type: str
    name: str


def export_readings(log: Path, mission: str, site_text: str) -> Export:
    """Export the readings of a mission as a table, which needs no advisor."""
    with MissionLog.open(log) as opened:
        return _export(log_table(opened.steps(), parse_site(site_text)), "csv", mission)


def mission_findings(advisor: Advisor, title: str, site_text: str) -> Findings:
    """Return the findings of a mission so far, under its name in the console."""
    site = parse_site(site_text)
    return replace(findings_of(advisor, site, advisor.policy.name), name=title)


def export_findings(
    findings: Findings, to: str, mission: str, site_text: str, searcher: str | None = None
) -> Export:
    """Export findings in this format, or a ValueError in one line; a plan of several is of one searcher."""
    if to == "qgc" and findings.team:
        findings = _for_searcher(findings, searcher)
    if to == "html":
        with _PLOT_LOCK:
            text = viz.html_report(findings, site_text=site_text)
    else:
        text = WRITERS[to](findings)
    return _export(text, to, mission)


def _for_searcher(findings: Findings, searcher: str | None) -> Findings:
    tracks = {track.name: track for track in findings.team}
    if searcher not in tracks:
        raise ValueError(f"A plan is of one searcher: give `searcher`, one of {', '.join(tracks)}.")
    return findings.for_searcher(tracks[searcher])


def _export(text: str, to: str, mission: str) -> Export:
    media_type, ending = FORMATS[to]
    return Export(text, media_type, f"dowsax-{mission}.{ending}")
