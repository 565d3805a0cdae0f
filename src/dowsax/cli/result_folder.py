"""The folder of results of `dowsax locate --out`; no file is ever left half written."""

import json
from collections.abc import Callable
from pathlib import Path

from dowsax import viz
from dowsax.extras import MissingExtra, describe_missing, has_extra
from dowsax.files import replace_file
from dowsax.report.export import geojson, kml, posterior_table
from dowsax.report.findings import Findings
from dowsax.report.summary import summary_numbers, summary_text


def write_results(findings: Findings, folder: Path, site_text: str = "") -> list[str]:
    """Write all results into an existing folder, and return a sentence for each file left out."""

    numbers = json.dumps(summary_numbers(findings), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    _write(folder / "summary.txt", lambda: summary_text(findings))
    _write(folder / "summary.json", lambda: numbers)
    _write(folder / "result.geojson", lambda: geojson(findings))
    _write(folder / "posterior.csv", lambda: posterior_table(findings))
    notes = _pictures(findings, folder, site_text)
    if findings.coordinates.is_geographic:
        _write(folder / "result.kml", lambda: kml(findings))
    else:
        notes.append(
            "No result.kml: KML needs latitude and longitude, and the site has no origin in degrees."
        )
    return [*notes, *_netcdf(findings, folder / "posterior.nc")]


def _write(path: Path, text: Callable[[], str]) -> None:
    with replace_file(path) as partial:
        partial.write_text(text(), encoding="utf-8")


def _pictures(findings: "Findings", folder: Path, site_text: str) -> list[str]:
    """The map and the report with its pictures, where matplotlib is installed."""
    if not has_extra("viz"):
        return [f"No map.png and report.html: {describe_missing('viz', 'a picture')}"]
    _write(folder / "report.html", lambda: viz.html_report(findings, site_text=site_text))
    with replace_file(folder / "map.png") as partial:
        viz.save(viz.survey_figure(findings), partial, "png")
    return []


def _netcdf(findings: Findings, path: Path) -> list[str]:
    """Write the posterior for ArviZ, where it is installed."""
    try:
        data = findings.posterior.to_arviz(findings.seed)
    except MissingExtra as error:
        return [f"No posterior.nc: {error}"]
    with replace_file(path) as partial:
        data.to_netcdf(str(partial))
    return []
