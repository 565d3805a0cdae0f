"""`dowsax locate`: a CSV of readings in, the posterior of the source out."""

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from dowsax.cli.console import finite, print_posterior, say, waiting
from dowsax.cli.outputs import require_picture
from dowsax.cli.survey_csv import SurveyFile, read_survey

if TYPE_CHECKING:
    from dowsax.inference import Posterior

_QUANTILES = (0.05, 0.5, 0.95)
_RADII = (0.5, 0.9, 0.95)
_SEEDS = 2**32


def locate(
    readings: Path,
    *,
    field: str,
    preset: str = "default",
    particles: int | None = None,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
    plot: Path | None = None,
) -> None:
    """Say where the source is, how strong it is and how sure that is, from readings in a CSV file.

    Parameters
    ----------
    readings
        CSV file with a header and the columns x, y [m] and value, one reading a line, in the order taken. The
        source is taken to lie between 5 and 20 m on both axes.
    field
        What was measured: temperature, concentration, magnetic, electric, gas, energy or noise.
    preset
        The filter: default, the best calibrated, or paper, Algorithm 1 as printed.
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
    survey = read_survey(readings)
    if plot is not None:
        require_picture(plot)
    posterior, unit = located(readings, survey, field, preset, particles, seed)
    if plot is not None:
        draw(posterior, plot, unit, f"Source of the {field} readings in {readings.name}")
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


def require_seed(seed: int) -> None:
    if not 0 <= seed < _SEEDS:
        raise ValueError(f"A seed is a whole number from 0 to {_SEEDS - 1}; got {seed}.")


def located(
    path: Path, survey: SurveyFile, field: str, preset: str, particles: int | None, seed: int
) -> tuple["Posterior", str]:
    """The posterior and the unit of the readings; what is wrong with the readings is said of the file."""
    with waiting(f"Locating the source from {len(survey.values)} readings"):
        import numpy as np

        import dowsax
        from dowsax.inference.survey import checked_survey

        model = dowsax.benchmark_model(field)
        positions, values = np.asarray(survey.positions), np.asarray(survey.values)
        try:
            checked_survey(positions, values, model.sensor)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        posterior = dowsax.locate(
            positions, values, field=field, preset=preset, particles=particles, seed=seed
        )
    return posterior, dowsax.world.MODALITIES[field].unit


def draw(posterior: "Posterior", path: Path, unit: str, title: str, truth=None) -> None:
    """Write the picture of a belief."""
    with waiting("Drawing the picture"):
        from dowsax.viz import belief_figure, save

        save(belief_figure(posterior, truth=truth, title=title, unit=unit), path)


def summary(posterior: "Posterior") -> dict:
    """The posterior in few numbers, as JSON can hold them; lists are in the order of the names."""
    import dowsax

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
        "version": dowsax.__version__,
    }
