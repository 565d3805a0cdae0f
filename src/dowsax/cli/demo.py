"""`dowsax demo`: a survey of a simulated source, located and drawn."""

import math
from pathlib import Path

from dowsax.cli.console import print_posterior, say, waiting
from dowsax.cli.locate import draw, located
from dowsax.cli.outputs import require_folder, require_picture, require_writable
from dowsax.cli.simulate import simulated, write_truth
from dowsax.cli.survey_csv import read_survey, write_survey

_FIELD, _READINGS, _SEED = "gas", 36, 6


def demo(*, out: Path = Path("demo")) -> None:
    """Simulate a gas survey, locate its source, and draw what is believed next to the truth.

    Parameters
    ----------
    out
        Folder to write survey.csv, truth.json and map.png into; made where there is none.
    """
    require_folder(out)
    table, truth, picture = out / "survey.csv", out / "truth.json", out / "map.png"
    require_writable(table)
    require_writable(truth)
    require_picture(picture)
    with waiting("Simulating the survey"):
        survey = simulated(_FIELD, "approach", _READINGS, _SEED)
    write_survey(table, survey.positions, survey.values)
    write_truth(truth, survey)
    posterior, unit = located(table, read_survey(table), _FIELD, "default", None, 0)
    draw(posterior, picture, unit, f"A simulated {_FIELD} survey of {_READINGS} readings", survey.truth)
    print_posterior(posterior)
    error = math.dist(posterior.mean[:2], survey.truth[:2])
    say(
        f"The true position is ({survey.truth[0]:.2f}, {survey.truth[1]:.2f}): the mean is {error:.2f} m off."
    )
    say(f"The survey is in {table}, the truth in {truth}, the picture in {picture}")
