"""`dowsax export`: a mission log as files that other programs read."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import Counted, preparing, print_status, say, waiting
from dowsax.cli.outputs import require_writable
from dowsax.extras import require_extra
from dowsax.mission.advisor import Advisor
from dowsax.mission.history import History
from dowsax.mission.log import MissionLog
from dowsax.mission.site_policy import SITE_POLICY
from dowsax.report.export import WRITERS, log_table, take_off_warning
from dowsax.report.findings import Findings
from dowsax.report.mcap_recording import export_recording
from dowsax.report.mission_findings import findings_of
from dowsax.site import parse_site
from dowsax.site.plain_names import plain_name

_MAX_FLIGHT_NUMBER = 10_000.0
"""[m] and [s], of the altitude and the hold of a plan."""
ENDINGS = {"geojson": ".geojson", "kml": ".kml", "qgc": ".plan", "csv": ".csv", "html": ".html"}


def export(
    log: Path,
    *,
    to: str | None = None,
    mcap: Path | None = None,
    out: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
    altitude: float | None = None,
    hold: float | None = None,
) -> None:
    """Export what a mission has found so far from its log, which may be in use.

    Parameters
    ----------
    log
        Mission log of `dowsax advise`.
    to
        Format: geojson, kml, qgc (a QGroundControl plan to the next waypoint, or to the source once found; of
        several searchers one each, such as mission-anna.plan),
        csv (the readings, as a survey for `dowsax locate --site`) or html (a report).
    mcap
        File to write as MCAP, for Foxglove: readings, advice, beliefs and poses at their times.
    out
        File to write, - for stdout. Default: the name of the log with the ending of the format.
    altitude
        Altitude of a plan above take-off [m]. Default: [flight] of the site, else that of the readings where
        they are 5 m up or more, else 20.
    hold
        How long a plan stays at each place [s]. Default: [flight] of the site, else the dwell of a reading.
    """
    if mcap is not None:
        require_extra("mcap", "`--mcap`")
        require_writable(mcap)
    elif to is None:
        raise ValueError(f"Say what to write: --to {', '.join(ENDINGS)}, or --mcap FILE.")
    if to is not None:
        _export_as(to, log, out, altitude, hold)
    elif (out, altitude, hold) != (None, None, None):
        raise ValueError("--out, --altitude and --hold go with --to: --mcap has its own file.")
    if mcap is not None:
        with waiting("Writing the recording"):
            export_recording(_with_readings(log), mcap)
        say(f"The recording is in {mcap}")


def _export_as(to: str, log: Path, out: Path | None, altitude: float | None, hold: float | None) -> None:
    """Write the files of one format."""
    if to not in ENDINGS:
        raise ValueError(f"Unknown format {to!r}; known are {', '.join(ENDINGS)}.")
    if to == "html":
        require_extra("viz", "`--to html`")
    flight_options = {"--altitude": altitude, "--hold": hold}
    for option, number in flight_options.items():
        if number is not None and to != "qgc":
            raise ValueError(f"{option} is for plans: leave it out, or export --to qgc.")
        if number is not None and not 0 <= number <= _MAX_FLIGHT_NUMBER:
            raise ValueError(f"{option} must be from 0 to {_MAX_FLIGHT_NUMBER:g}; got {number:g}.")
    path = log.with_suffix(ENDINGS[to]) if out is None else out
    if str(path) != "-":
        require_writable(path)
    texts = _export_texts(log, to, altitude, hold)
    if str(path) == "-":
        if len(texts) > 1:
            raise ValueError("`--out -` cannot hold several plans: give a file name.")
        sys.stdout.writelines(texts.values())
        return
    for name, text in texts.items():
        own = path.with_stem(f"{path.stem}-{plain_name(name)}") if name else path
        own.write_text(text, encoding="utf-8")
        what = f"The plan of {name}" if name else "The mission"
        say(f"{what} is in {own}{_flight_words(text) if to == 'qgc' else ''}")


def _export_texts(log: Path, to: str, altitude: float | None, hold: float | None) -> dict[str, str]:
    """Return the text of each file, by the name of the searcher; one without a name where it is of all."""
    with _with_readings(log) as opened:
        header = opened.header
        with preparing("Replaying the readings of the mission") as count:
            if to == "csv":
                return {"": _readings(opened)}
            findings = _findings(opened, count)
        findings = with_flight(findings, altitude, hold)
        if to == "qgc" and findings.team:
            return _plans(findings)
        if to == "qgc":
            _say_take_off(findings)
        with waiting(f"Writing the mission as {to}"):
            text = viz.html_report(findings, site_text=header.site) if to == "html" else WRITERS[to](findings)
        return {"": text}


def _with_readings(log: Path) -> MissionLog:
    """Open a log for reading, which must have readings that count."""
    opened = MissionLog.open(log)
    if not History.of(opened.steps()).readings():
        raise ValueError(f"{log} holds no readings yet: there is nothing to export.")
    return opened


def _plans(findings: Findings) -> dict[str, str]:
    """Return a plan for each searcher that has somewhere to fly; an error of the last where none has."""
    plans, fault = {}, None
    for track in findings.team:
        try:
            own = findings.for_searcher(track)
            plans[track.name] = WRITERS["qgc"](own)
            _say_take_off(own, f"{track.name}: ")
        except ValueError as error:
            fault = error
    if not plans and fault is not None:
        raise fault
    return plans


def _say_take_off(findings: Findings, whose: str = "") -> None:
    """Warn of a plan that would take off where no drone can be."""
    warning = take_off_warning(findings)
    if warning is not None:
        print_status(f"{whose}{warning}")


def with_flight(findings: Findings, altitude: float | None, hold: float | None) -> Findings:
    """Return the findings with another altitude [m] and hold [s] of plans, where they are given."""
    given = {"height": altitude, "hold": hold}
    changes = {name: number for name, number in given.items() if number is not None}
    return replace(findings, flight=findings.flight.model_copy(update=changes))


def _flight_words(plan: str) -> str:
    """Return how a plan flies, for the pilot."""
    params = json.loads(plan)["mission"]["items"][-1]["params"]
    return (
        f": it takes off where the last reading was taken, flies {params[6]:g} m above that and stays "
        f"{params[0]:g} s at each place"
    )


def _readings(log: MissionLog) -> str:
    """Return the readings as CSV, which needs no belief."""
    return log_table(log.steps(), parse_site(log.header.site, str(log.path)))


def _findings(log: MissionLog, count: Counted) -> Findings:
    header = log.header
    site = parse_site(header.site, str(log.path))
    # The advice of any policy is in the log already.
    advisor = Advisor(site, SITE_POLICY, header.seed, log, warm_up=False, on_progress=count)
    return findings_of(advisor, site, header.policy)
