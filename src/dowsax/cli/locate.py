"""`dowsax locate`: file → columns → readings → problem → posterior → report."""

import json as json_format
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import FIELD_S, SITE_S, preparing, print_posterior, say, waiting
from dowsax.cli.durations import site_kind
from dowsax.cli.outputs import require_folder, require_picture
from dowsax.extras import MissingExtra, describe_missing, has_extra
from dowsax.files import finite, replace_file, replace_text
from dowsax.inference import Posterior
from dowsax.report.export import geojson, kml, posterior_table
from dowsax.report.findings import Findings
from dowsax.report.locate_survey import SurveyProblem, build_findings, build_problem, solve
from dowsax.report.numbers import QUANTILES, several_numbers, summary_numbers
from dowsax.report.summary import summary_text
from dowsax.site import Site, read_site
from dowsax.survey import Survey, read_survey
from dowsax.survey.columns import NAMES
from dowsax.version import VERSION
from dowsax.world import MODALITIES
from dowsax.world.motion import AREA_SIDE_M
from dowsax.world.several_columns import numbers_of_sources

_BENCHMARK_COLUMNS = {role: "" for role in NAMES if role not in ("x", "y", "x2", "y2", "value")}
"""A benchmark field has positions and values alone: all other columns are left out, but those of paths,
which are refused."""
_RADII = (0.5, 0.9, 0.95)
_MAX_SEED = 2**32 - 1
_READING_NUMBER = re.compile(r"\b(reading|position) (\d+) \(counted from 0\)", re.IGNORECASE)


def locate(
    readings: Path,
    *,
    field: str | None = None,
    site: Path | None = None,
    out: Path | None = None,
    column: Annotated[list[str] | None, Parameter(negative="")] = None,
    row: Annotated[list[str] | None, Parameter(negative="")] = None,
    preset: str | None = None,
    particles: int | None = None,
    sources: str | None = None,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
    plot: Path | None = None,
) -> None:
    """Locate the source from readings in a CSV file: where it is, how strong, and how sure that is.

    Give either --site or --field. With a field, the source lies between 5 and 20 m on both axes.

    Parameters
    ----------
    readings
        CSV file with a header and one reading a line, in the order of time: x and y [m] (with a site also
        latitude and longitude; of gas along a path x1, y1, x2 and y2), and value.
    field
        Benchmark field: temperature, concentration, magnetic, electric, gas, energy or noise.
    site
        Site file; `dowsax site new` writes one.
    out
        Folder for summary, map, report, GeoJSON, KML and the posterior. Default: none.
    column
        Column of the file for a quantity, as in value=ch4; may be repeated, with --site.
    row
        Read only rows with this text in a column, as in event=3; may be repeated, with --site.
    preset
        Filter: default, several (sources), survey (many unknowns) or paper. Default: that of the site.
    particles
        Number of particles, at least 16. Default: that of the site, or of the preset.
    sources
        Number of sources, or a range of numbers like 1-3. Default: that of the site, or 1.
    seed
        Random seed.
    json
        Print one JSON object instead of text.
    plot
        Picture of the belief and the readings: .png, .pdf or .svg. Default: none.
    """
    require_seed(seed)
    numbers_of_sources(1 if sources is None else sources)
    if (field is None) == (site is None):
        raise ValueError("Give either --field, what was measured, or --site, a site file that says it.")
    if field is not None and (column or row):
        raise ValueError("--column and --row go with --site; without one the columns are x, y and value.")
    columns, rows = parse_pairs("--column", column), parse_pairs("--row", row)
    with waiting("Reading the survey"):
        if site is None:
            place, name = str(field), f"Source of the {field} readings in {readings.name}"
            survey = _read_plain(readings)
        else:
            place = read_site(site)
            name, survey = place.name, read_survey(readings, place, columns, rows)
    _require_outputs(plot, out)
    with _locating(survey, place, preset, particles, sources):
        try:
            settings: dict[str, Any] = {"preset": preset, "particles": particles, "seed": seed}
            problem = build_problem(survey, place, name=name, sources=sources, **settings)
            survey = problem.survey
            posterior = solve(problem)
            # Without a site they are for the folder alone, and take another filter.
            findings = build_findings(problem, posterior) if site is not None or out is not None else None
        except ValueError as error:
            raise ValueError(name_line(str(error), readings, survey)) from None
    sentences = _write_files(problem, posterior, findings, plot, out)
    if json:
        print(json_format.dumps(_answer(problem, posterior, findings, plot), allow_nan=False))
    else:
        _print_answer(problem, posterior, findings, sentences)


def _locating(survey: Survey, place: Site | str, *settings: object) -> AbstractContextManager:
    """Show a bar while a source is located; each power of two of readings is compiled by itself."""
    size = (max(len(survey.values), 32) - 1).bit_length()
    text, usual = (place, FIELD_S) if isinstance(place, str) else (place.text, SITE_S)
    kind = site_kind("locate", text, *settings, size)
    return preparing(f"Locating the source from {len(survey.values)} readings", kind=kind, usual=usual)


def _require_outputs(plot: Path | None, out: Path | None) -> None:
    if plot is not None:
        require_picture(plot)
    if out is not None:
        require_folder(out)


def _read_plain(readings: Path) -> Survey:
    """Return the survey of a benchmark field, with a note on readings outside of its square."""
    survey = read_survey(readings, columns=_BENCHMARK_COLUMNS)
    if survey.far_ends is not None:
        raise ValueError(
            f"{readings} has open paths, along which only a gas-plume is read: give its site by --site, or "
            "the readings at points."
        )
    outside = int(np.any((survey.positions < 0) | (survey.positions > AREA_SIDE_M), axis=1).sum())
    if outside == 0:
        return survey
    note = (
        f"{outside} of {len(survey.positions)} readings lie outside of the benchmark's square of "
        f"{AREA_SIDE_M:g} m, in which a field has its source: for another place give a site file with --site."
    )
    return replace(survey, notes=(*survey.notes, note))


def _print_answer(
    problem: SurveyProblem, posterior: Posterior, findings: Findings | None, sentences: Sequence[str]
) -> None:
    """Print the answer as text, and a sentence about each file that was written."""
    if problem.site is not None and findings is not None:
        print(summary_text(findings), end="")
    else:
        print_posterior(posterior)
        sentences = [*problem.survey.notes, *sentences]
    for sentence in sentences:
        say(sentence)


def require_seed(seed: int) -> None:
    if not 0 <= seed <= _MAX_SEED:
        raise ValueError(f"A seed is a whole number from 0 to {_MAX_SEED}; got {seed}.")


def parse_pairs(option: str, pairs: Sequence[str] | None) -> Mapping[str, str]:
    """Return texts like value=ch4 as a mapping."""
    found = {}
    for pair in pairs or ():
        name, equals, text = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"{option} takes name=text, as in {option} value=ch4; got {pair!r}.")
        found[name.strip()] = text.strip()
    return found


def name_line(error: str, path: Path, survey: Survey) -> str:
    """Return the error with the file, and with the line of a reading instead of its number."""
    found = _READING_NUMBER.search(error)
    if found is None or int(found[2]) >= len(survey.lines):
        return error if error.startswith(str(path)) else f"{path}: {error}"
    error = _READING_NUMBER.sub(lambda found: f"this {found[1].lower()}", error, count=1)
    return f"{path}, line {survey.lines[int(found[2])]}: {error[0].upper()}{error[1:]}"


def _write_files(
    problem: SurveyProblem,
    posterior: Posterior,
    findings: Findings | None,
    plot: Path | None,
    out: Path | None,
) -> list[str]:
    """Write the picture and the folder of results, and return a sentence about each."""
    sentences = []
    if plot is not None:
        with waiting("Drawing the picture"):
            if problem.site is not None and findings is not None:
                picture = viz.survey_figure(findings)
            else:
                unit = MODALITIES[problem.kind].unit
                picture = viz.belief_figure(posterior, title=problem.name, unit=unit)
            viz.save(picture, plot)
        sentences.append(f"The picture is in {plot}")
    if out is not None and findings is not None:
        with waiting("Writing the results"):
            notes = write_results(findings, out, "" if problem.site is None else problem.site.text)
        sentences += [*notes, f"The results are in {out}"]
    return sentences


def write_results(findings: Findings, folder: Path, site_text: str = "") -> list[str]:
    """Write all results into an existing folder, and return a sentence for each file left out.

    No file is ever left half written.
    """
    numbers = (
        json_format.dumps(summary_numbers(findings), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    )
    replace_text(folder / "summary.txt", summary_text(findings))
    replace_text(folder / "summary.json", numbers)
    replace_text(folder / "result.geojson", geojson(findings))
    replace_text(folder / "posterior.csv", posterior_table(findings))
    notes = _write_pictures(findings, folder, site_text)
    if findings.coordinates.is_geographic:
        replace_text(folder / "result.kml", kml(findings))
    else:
        notes.append(
            "No result.kml: KML needs latitude and longitude, and the site has no origin in degrees."
        )
    return [*notes, *_write_netcdf(findings, folder / "posterior.nc")]


def _write_pictures(findings: Findings, folder: Path, site_text: str) -> list[str]:
    """Write the map and the report with its pictures, where matplotlib is installed."""
    if not has_extra("viz"):
        return [f"No map.png and report.html: {describe_missing('viz', 'a picture')}"]
    replace_text(folder / "report.html", viz.html_report(findings, site_text=site_text))
    with replace_file(folder / "map.png") as partial:
        viz.save(viz.survey_figure(findings), partial, "png")
    return []


def _write_netcdf(findings: Findings, path: Path) -> list[str]:
    """Write the posterior for ArviZ, where it is installed."""
    try:
        data = findings.posterior.to_arviz(findings.seed)
    except MissingExtra as error:
        return [f"No posterior.nc: {error}"]
    with replace_file(path) as partial:
        data.to_netcdf(str(partial))
    return []


def _answer(
    problem: SurveyProblem, posterior: Posterior, findings: Findings | None, plot: Path | None
) -> dict[str, Any]:
    """Return the answer as JSON can hold it; of a benchmark field, lists are in the order of the names."""
    if problem.site is not None and findings is not None:
        return summary_numbers(findings)
    return {
        "names": list(posterior.names),
        "units": [parameter.unit for parameter in posterior.parameters],
        "mean": posterior.mean.tolist(),
        "std": posterior.std.tolist(),
        "quantiles": {str(share): posterior.quantile(share).tolist() for share in QUANTILES},
        "credible_radius": {str(share): float(posterior.credible_radius(share)) for share in _RADII},
        **several_numbers(posterior),
        "contracted": bool(posterior.contracted),
        "found": bool(posterior.found),
        "verdict": posterior.verdict(),
        "log_evidence": finite(float(posterior.log_evidence)),
        "fit": float(posterior.fit),
        "fits": bool(posterior.fits),
        "readings": len(posterior.readings),
        "particles": len(posterior.weights),
        "version": VERSION,
        "field": problem.kind,
        "preset": problem.preset,
        "seed": problem.seed,
        "plot": None if plot is None else str(plot),
        "notes": list(problem.survey.notes),
    }
