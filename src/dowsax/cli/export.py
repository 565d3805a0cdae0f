"""`dowsax export`: a mission log as files that other programs read."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dowsax.cli.console import say, waiting
from dowsax.cli.outputs import require_writable

if TYPE_CHECKING:
    from dowsax.mission.findings import Findings
    from dowsax.mission.log import MissionLog

ENDINGS = {"geojson": ".geojson", "kml": ".kml", "qgc": ".plan", "csv": ".csv", "html": ".html"}


def export(
    log: Path, *, to: str, out: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None
) -> None:
    """Write what a mission has found so far, from its log. The log is not changed, and may be in use.

    Parameters
    ----------
    log
        The mission log that `dowsax advise` keeps.
    to
        geojson: track, readings, regions, estimate and the next waypoint. kml: the same for globes. qgc: a
        QGroundControl plan with the next waypoint and the geofence. csv: the readings with all that is known
        of them, a survey for `dowsax locate --site`. html: a report.
    out
        The file to write: the log's name with another ending unless given; - for stdout.
    """
    if to not in ENDINGS:
        raise ValueError(f"Unknown format {to!r}; known are {', '.join(ENDINGS)}.")
    path = log.with_suffix(ENDINGS[to]) if out is None else out
    if str(path) != "-":
        require_writable(path)
    text = _exported(log, to)
    if str(path) == "-":
        sys.stdout.write(text)
        return
    path.write_text(text, encoding="utf-8")
    say(f"The mission is in {path}")


def _exported(log: Path, to: str) -> str:
    from dowsax.mission.log import MissionLog

    with MissionLog.open(log) as opened:
        header = opened.header
        if len(opened) == 0:
            raise ValueError(f"{log} holds no readings yet: there is nothing to export.")
        with waiting("Taking in the readings of the mission"):
            return _readings(opened) if to == "csv" else _text(_findings(opened), to, header.site)


def _readings(log: "MissionLog") -> str:
    """The readings alone: for them no belief has to be made."""
    from dowsax.mission.export import readings_table
    from dowsax.mission.reading import Reading
    from dowsax.mission.site import parse_site

    site = parse_site(log.header.site, str(log.path))
    readings = [Reading.from_json(entry.reading) for entry in log.entries()]
    return readings_table(readings, site.frame, site.sensor.ground)


def _findings(log: "MissionLog") -> "Findings":
    from dowsax.mission.advisor import Advisor
    from dowsax.mission.outcome import findings_of
    from dowsax.mission.site import parse_site

    header = log.header
    site = parse_site(header.site, str(log.path))
    # Whichever policy it was, its advice is in the log.
    advisor = Advisor(site, "infotaxis", header.seed, log, warm_up=False)
    return findings_of(advisor, site, header.policy)


def _text(findings: "Findings", to: str, site_text: str) -> str:
    from dowsax.mission import export as formats

    def html(findings: "Findings") -> str:
        from dowsax.viz.report import html_report

        return html_report(findings, site_text=site_text)

    writers: dict[str, Callable[[Findings], str]] = {
        "geojson": formats.geojson,
        "kml": formats.kml,
        "qgc": formats.qgc_plan,
        "html": html,
    }
    return writers[to](findings)
