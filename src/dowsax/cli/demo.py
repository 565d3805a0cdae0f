"""`dowsax demo`: a search to watch, with its pictures and its readings."""

import json
import os
import shutil
import sys
from pathlib import Path

from dowsax.cli.console import say, waiting
from dowsax.cli.search import run_search
from dowsax.cli.search_files import document, draw_search, prepare_files
from dowsax.cli.search_run import SearchConfig
from dowsax.cli.simulate import write_survey
from dowsax.experiments.run import Run
from dowsax.extras import has_extra
from dowsax.policies.shipped import BEST_POLICY

_FIELD, _SEED = "gas", 0
_PARTICLES: int | None = None
_MAX_READINGS, _FPS = 200, 8


def demo(*, out: Path = Path("demo")) -> None:
    """Search for a simulated gas leak, and draw the search.

    Parameters
    ----------
    out
        Folder for search.gif, end.png, search.json, survey.csv (the readings) and truth.json.
    """
    with waiting("Starting"):
        run = Run(BEST_POLICY, _FIELD, seed=_SEED, particles=_PARTICLES, max_readings=_MAX_READINGS)
        config = SearchConfig(run)
        survey, truth = out / "survey.csv", out / "truth.json"
        files = prepare_files(out, survey.name, truth.name)
    log = run_search(config, files, _FPS, live=True, quiet=False)
    places = [snapshot.position.tolist() for snapshot in log.snapshots]
    write_survey(survey, places, [snapshot.reading for snapshot in log.snapshots])
    truth.write_text(json.dumps(document(log)["truth"], indent=2) + "\n", encoding="utf-8")
    with waiting("Drawing the pictures"):
        draw_search(files, log, _FPS)
    drawn = f"Watch it in {files.animation}; the end is in {files.picture}, every step in {files.steps}"
    say(drawn if has_extra("viz") else f"Every step is in {files.steps}")
    say(f"The readings are in {survey}, the truth in {truth}.")
    say(f"Try: {_program()} locate {survey} --field {_FIELD}")


def _program() -> str:
    """Return how this program is called: by its path if it is not found by its name."""
    return "dowsax" if shutil.which("dowsax") else os.path.relpath(sys.argv[0])
