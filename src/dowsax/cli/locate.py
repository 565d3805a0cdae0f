"""`dowsax locate`: a CSV of readings in, the posterior of the source out."""

import json as json_format
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from dowsax import viz
from dowsax.cli.console import finite, preparing, print_posterior, say, waiting
from dowsax.cli.locate_site import locate_site
from dowsax.cli.outputs import require_folder, require_picture
from dowsax.cli.result_folder import write_results
from dowsax.cli.survey_csv import SurveyFile, read_survey
from dowsax.inference import Posterior
from dowsax.inference.arguments import check_survey
from dowsax.inference.locate import locate as locate_source
from dowsax.report.survey_findings import benchmark_findings
from dowsax.version import VERSION
from dowsax.world import MODALITIES, benchmark_model

_QUANTILES = (0.025, 0.05, 0.5, 0.95, 0.975)
_RADII = (0.5, 0.9, 0.95)
_SEEDS = 2**32


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
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
    plot: Path | None = None,
) -> None:
    """Say where the source is, how strong it is and how sure that is, from readings in a CSV file.

    Parameters
    ----------
    readings
        CSV file with a header and one reading a line, in the order taken. With a site file: x and y [m], or
        latitude and longitude; value; and what was measured along. With a field: x, y and value, and the
        source is taken to lie between 5 and 20 m on both axes.
    field
        What was measured: temperature, concentration, magnetic, electric, gas, energy or noise.
    site
        The site file, in place of a field; `dowsax site new` writes one.
    out
        Write everything into this folder: summary, map, report, GeoJSON, KML and the posterior.
    column
        Which column of the file holds what, as in value=ch4; may be repeated. Only with a site.
    row
        Take only the rows with this text in a column, as in event=3; may be repeated. Only with a site.
    preset
        The filter: default, the best calibrated; survey, for many unknowns, which sites use unless they name
        another; or paper, Algorithm 1 as printed.
    particles
        How many particles, at least 16; more are slower and more exact. The preset's own number unless given.
    seed
        The same seed gives the same answer.
    json
        Print one JSON object and nothing else.
    plot
        Draw the belief, the path and the readings into this file: .png, .pdf or .svg.
    """
    require_seed(seed)
    if (field is None) == (site is None):
        raise ValueError("Give either --field, what was measured, or --site, a site file that says it.")
    if site is not None:
        locate_site(readings, site, out, column, row, preset, particles, seed, json, plot)
        return
    if column or row:
        raise ValueError("--column and --row go with --site; without one the columns are x, y and value.")
    assert field is not None
    _locate_field(readings, field, preset or "default", particles, seed, json, plot, out)


def _locate_field(
    path: Path,
    field: str,
    preset: str,
    particles: int | None,
    seed: int,
    json: bool,
    plot: Path | None,
    out: Path | None,
) -> None:
    """A survey of a benchmark field."""
    survey = read_survey(path)
    if plot is not None:
        require_picture(plot)
    if out is not None:
        require_folder(out)
    posterior, unit = located(path, survey, field, preset, particles, seed)
    if plot is not None:
        draw(posterior, plot, unit, f"Source of the {field} readings in {path.name}")
    notes = [] if out is None else _written(path, survey, field, posterior, preset, seed, out)
    if json:
        settings = {
            "field": field,
            "preset": preset,
            "seed": seed,
            "plot": None if plot is None else str(plot),
        }
        print(json_format.dumps(summary(posterior) | settings, allow_nan=False))
        return
    print_posterior(posterior)
    if plot is not None:
        say(f"The picture is in {plot}")
    for note in notes:
        say(note)


def _written(
    path: Path, survey: SurveyFile, field: str, posterior: "Posterior", preset: str, seed: int, out: Path
) -> list[str]:
    """Write the folder of results, and what to say of it."""
    with waiting("Writing the results"):
        findings = benchmark_findings(
            field, survey.positions, survey.values, posterior, preset=preset, seed=seed, lines=survey.lines,
            name=f"Source of the {field} readings in {path.name}",
        )  # fmt: skip
        notes = write_results(findings, out)
    return [*notes, f"The results are in {out}"]


def require_seed(seed: int) -> None:
    if not 0 <= seed < _SEEDS:
        raise ValueError(f"A seed is a whole number from 0 to {_SEEDS - 1}; got {seed}.")


def located(
    path: Path, survey: SurveyFile, field: str, preset: str, particles: int | None, seed: int
) -> tuple["Posterior", str]:
    """The posterior and the unit of the readings; what is wrong with the readings is said of the file."""
    with preparing(f"Locating the source from {len(survey.values)} readings"):
        model = benchmark_model(field)
        positions, values = np.asarray(survey.positions), np.asarray(survey.values)
        try:
            check_survey(positions, values, model.sensor)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        posterior = locate_source(
            positions, values, field=field, preset=preset, particles=particles, seed=seed
        )
    return posterior, MODALITIES[field].unit


def draw(posterior: "Posterior", path: Path, unit: str, title: str, truth=None) -> None:
    """Write the picture of a belief."""
    with waiting("Drawing the picture"):
        viz.save(viz.belief_figure(posterior, truth=truth, title=title, unit=unit), path)


def summary(posterior: "Posterior") -> dict:
    """The posterior in few numbers, as JSON can hold them; lists are in the order of the names."""
    return {
        "names": list(posterior.names),
        "units": [parameter.unit for parameter in posterior.parameters],
        "mean": posterior.mean.tolist(),
        "std": posterior.std.tolist(),
        "quantiles": {str(share): posterior.quantile(share).tolist() for share in _QUANTILES},
        "credible_radius": {str(share): float(posterior.credible_radius(share)) for share in _RADII},
        "contracted": bool(posterior.contracted),
        "found": bool(posterior.found),
        "verdict": posterior.verdict(),
        "log_evidence": finite(float(posterior.log_evidence)),
        "fit": float(posterior.fit),
        "fits": bool(posterior.fits),
        "readings": len(posterior.readings),
        "particles": len(posterior.weights),
        "version": VERSION,
    }
