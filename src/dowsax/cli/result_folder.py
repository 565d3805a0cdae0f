"""The folder of results of `dowsax locate --out`; no file is ever left half written."""

import json
from collections.abc import Callable
from pathlib import Path

from dowsax.files import replacing
from dowsax.report.export import geojson, kml, posterior_table
from dowsax.report.findings import Findings
from dowsax.report.summary import summary_numbers, summary_text
from dowsax.viz.report import html_report
from dowsax.viz.style import DOTS_PER_INCH, styled
from dowsax.viz.survey_map import survey_map


def write_results(findings: Findings, folder: Path, site_text: str = "") -> list[str]:
    """Write all results into an existing folder, and return a sentence for each file left out."""

    def draw(path: Path) -> None:
        with styled():
            survey_map(findings).savefig(path, dpi=DOTS_PER_INCH, format="png")

    numbers = json.dumps(summary_numbers(findings), ensure_ascii=False, allow_nan=False, indent=1) + "\n"
    _write(folder / "summary.txt", lambda: summary_text(findings))
    _write(folder / "summary.json", lambda: numbers)
    _write(folder / "result.geojson", lambda: geojson(findings))
    _write(folder / "posterior.csv", lambda: posterior_table(findings))
    _write(folder / "report.html", lambda: html_report(findings, site_text=site_text))
    with replacing(folder / "map.png") as partial:
        draw(partial)
    notes = []
    if findings.coordinates.is_geographic:
        _write(folder / "result.kml", lambda: kml(findings))
    else:
        notes.append(
            "No result.kml: KML needs latitude and longitude, and the site has no origin in degrees."
        )
    return [*notes, *_netcdf(findings, folder / "posterior.nc")]


def _write(path: Path, text: Callable[[], str]) -> None:
    with replacing(path) as partial:
        partial.write_text(text(), encoding="utf-8")


def _netcdf(findings: Findings, path: Path) -> list[str]:
    """Write the posterior for ArviZ, where it is installed."""
    try:
        data = findings.posterior.to_arviz(findings.seed)
    except ImportError:
        return ["No posterior.nc: it needs ArviZ, pip install 'dowsax[arviz]'."]
    with replacing(path) as partial:
        data.to_netcdf(str(partial))
    return []
