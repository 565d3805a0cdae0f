"""`dowsax locate --site`: a survey of a real place in, findings on the screen and in a folder out."""

import json as json_format
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from dowsax import viz
from dowsax.cli.console import preparing, say, waiting
from dowsax.cli.outputs import require_folder, require_picture
from dowsax.cli.result_folder import write_results
from dowsax.report.findings import Findings
from dowsax.report.summary import summary_numbers, summary_text
from dowsax.report.survey_findings import located
from dowsax.site import read_site
from dowsax.survey.survey import Survey, read_survey

_READING = re.compile(r"\b(reading|position) (\d+) \(counted from 0\)", re.IGNORECASE)


def locate_site(
    readings: Path,
    site_path: Path,
    out: Path | None,
    columns: Sequence[str] | None,
    rows: Sequence[str] | None,
    preset: str | None,
    particles: int | None,
    seed: int,
    json: bool,
    plot: Path | None,
) -> None:
    """Read, locate, write and say; everything that can be checked is checked before the work."""
    given = named("--column", columns), named("--row", rows)
    with waiting("Reading the survey"):
        site = read_site(site_path)
        survey = read_survey(readings, site, *given)
    if plot is not None:
        require_picture(plot)
    if out is not None:
        require_folder(out)
    with preparing(f"Locating the source from {len(survey.values)} readings"):
        try:
            findings = located(survey, site, preset=preset, particles=particles, seed=seed)
        except ValueError as error:
            raise ValueError(of_the_file(str(error), readings, survey)) from None
    said = [] if out is None else _written(findings, out, site.text)
    if plot is not None:
        viz.save(viz.survey_figure(findings), plot)
        said.append(f"The picture is in {plot}")
    _tell(findings, said, json)


def named(option: str, pairs: Sequence[str] | None) -> Mapping[str, str]:
    """Words like value=ch4 as a mapping."""
    found = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{option} takes name=text, as in {option} value=ch4; got {pair!r}.")
        found[name.strip()] = text.strip()
    return found


def _written(findings: "Findings", out: Path, site_text: str) -> list[str]:
    with waiting("Writing the results"):
        notes = write_results(findings, out, site_text)
    return [*notes, f"The results are in {out}"]


def _tell(findings: "Findings", said: Sequence[str], json: bool) -> None:

    if json:
        print(json_format.dumps(summary_numbers(findings), allow_nan=False))
        return
    print(summary_text(findings), end="")
    for sentence in said:
        say(sentence)


def of_the_file(error: str, path: Path, survey: "Survey") -> str:
    """The error with the file, and with the line of the reading in place of its number."""
    found = _READING.search(error)
    if found is None or int(found[2]) >= len(survey.lines):
        return error if error.startswith(str(path)) else f"{path}: {error}"
    error = _READING.sub(lambda found: f"this {found[1].lower()}", error, count=1)
    return f"{path}, line {survey.lines[int(found[2])]}: {error[0].upper()}{error[1:]}"
