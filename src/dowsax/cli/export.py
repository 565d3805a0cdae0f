"""`dowsax export`: a mission log as files that other programs read."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import preparing, say
from dowsax.cli.outputs import require_writable
from dowsax.extras import require_extra
from dowsax.mission.advisor import Advisor
from dowsax.mission.history import History
from dowsax.mission.log import MissionLog
from dowsax.report import export as formats
from dowsax.report.export import log_table
from dowsax.report.findings import Findings
from dowsax.report.mission_findings import findings_of
from dowsax.site import parse_site

_FARTHEST = 10_000.0
"""[m] and [s], the most that a plan is given."""
ENDINGS = {"geojson": ".geojson", "kml": ".kml", "qgc": ".plan", "csv": ".csv", "html": ".html"}


def export(
    log: Path,
    *,
    to: str,
    out: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    altitude: float | None = None,
    hold: float | None = None,
) -> None:
    """Write what a mission has found so far, from its log. The log is not changed, and may be in use.

    Parameters
    ----------
    log
        The mission log that `dowsax advise` keeps.
    to
        geojson: track, readings, regions, estimate and the next waypoint. kml: the same for globes. qgc: a
        QGroundControl plan to the next waypoint, or to the source once it is found, with the geofence. csv:
        the readings as they were typed, a survey for `dowsax locate --site`. html: a report.
    out
        The file to write: the log's name with another ending unless given; - for stdout.
    altitude
        Of a plan [m], above the place of take-off: what [flight] of the site says unless given, else that of
        the readings where these are 5 m up or more, else 20 m.
    hold
        How long a plan stays at each place [s]: what [flight] says unless given, else as long as a reading
        counts.
    """
    if to not in ENDINGS:
        raise ValueError(f"Unknown format {to!r}; known are {', '.join(ENDINGS)}.")
    if to == "html":
        require_extra("viz", "`--to html`")
    flown = {"--altitude": altitude, "--hold": hold}
    for option, number in flown.items():
        if number is not None and to != "qgc":
            raise ValueError(f"{option} is for plans: leave it out, or export --to qgc.")
        if number is not None and not 0 <= number <= _FARTHEST:
            raise ValueError(f"{option} is from 0 to {_FARTHEST:g}; got {number:g}.")
    path = log.with_suffix(ENDINGS[to]) if out is None else out
    if str(path) != "-":
        require_writable(path)
    text = _exported(log, to, altitude, hold)
    if str(path) == "-":
        sys.stdout.write(text)
        return
    path.write_text(text, encoding="utf-8")
    say(f"The mission is in {path}{_flown(text) if to == 'qgc' else ''}")


def _exported(log: Path, to: str, altitude: float | None, hold: float | None) -> str:

    with MissionLog.open(log) as opened:
        header = opened.header
        if not History.of(opened.steps()).readings():
            raise ValueError(f"{log} holds no readings yet: there is nothing to export.")
        with preparing("Taking in the readings of the mission"):
            if to == "csv":
                return _readings(opened)
            findings = _findings(opened)
        flight = findings.flight
        flight = replace(flight, height=flight.height if altitude is None else altitude)
        flight = replace(flight, hold=flight.hold if hold is None else hold)
        return _text(replace(findings, flight=flight), to, header.site)


def _flown(plan: str) -> str:
    """How a plan flies, for whoever is about to fly it."""
    params = json.loads(plan)["mission"]["items"][-1]["params"]
    return (
        f": it takes off where the last reading was taken, flies {params[6]:g} m above that and stays "
        f"{params[0]:g} s at each place"
    )


def _readings(log: "MissionLog") -> str:
    """The readings alone: for them no belief has to be made."""
    return log_table(log.steps(), parse_site(log.header.site, str(log.path)))


def _findings(log: "MissionLog") -> "Findings":

    header = log.header
    site = parse_site(header.site, str(log.path))
    # Whichever policy it was, its advice is in the log.
    advisor = Advisor(site, "infotaxis", header.seed, log, warm_up=False)
    return findings_of(advisor, site, header.policy)


def _text(findings: "Findings", to: str, site_text: str) -> str:

    def html(findings: "Findings") -> str:

        return viz.html_report(findings, site_text=site_text)

    writers: dict[str, Callable[[Findings], str]] = {
        "geojson": formats.geojson,
        "kml": formats.kml,
        "qgc": formats.qgc_plan,
        "html": html,
    }
    return writers[to](findings)
