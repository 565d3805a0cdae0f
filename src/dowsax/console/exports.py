"""What a mission has found, as files."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dowsax.mission.advisor import Advisor
    from dowsax.mission.findings import Findings
    from dowsax.mission.reading import Reading

FORMATS = {
    "geojson": ("application/geo+json", "geojson"),
    "kml": ("application/vnd.google-earth.kml+xml", "kml"),
    "qgc": ("application/json", "plan"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "html": ("text/html; charset=utf-8", "html"),
}
"""Media type and ending by name."""
_DRAWING = threading.Lock()
"""Styles of pictures are the program's, not a thread's."""


class Export(NamedTuple):
    """A file to be sent."""

    text: str
    media_type: str
    name: str


class Found(NamedTuple):
    """What a mission has found so far, and the readings that it was found by."""

    findings: "Findings"
    readings: "tuple[Reading, ...]"
    ground: float
    """[m], what the site takes off every altitude."""


def found_by(advisor: "Advisor", title: str, site_text: str) -> Found:
    """What a mission has found so far, under the name that it has in the console."""
    from dowsax.mission.outcome import findings_of
    from dowsax.mission.site import parse_site

    site = parse_site(site_text)
    findings = replace(findings_of(advisor, site, advisor.guide.name), name=title)
    return Found(findings, advisor.readings, site.sensor.ground)


def exported(found: Found, to: str, mission: str, site_text: str) -> Export:
    """What was found in this format, or a ValueError in one line."""
    from dowsax.mission import export as formats

    findings = found.findings
    media_type, ending = FORMATS[to]
    if to == "csv":
        text = formats.readings_table(found.readings, findings.frame, found.ground)
    elif to == "html":
        from dowsax.viz.report import html_report

        with _DRAWING:
            text = html_report(findings, site_text=site_text)
    else:
        writers = {
            "geojson": formats.geojson,
            "kml": formats.kml,
            "qgc": formats.qgc_plan,
        }
        text = writers[to](findings)
    return Export(text, media_type, f"dowsax-{mission}.{ending}")
