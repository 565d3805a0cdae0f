"""The files of a search: every step as JSON, an animation, and a picture of the end."""

import json
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from dowsax.cli.console import finite
from dowsax.cli.outputs import require_folder, require_writable
from dowsax.cli.search_run import STOPPED, SearchLog
from dowsax.cli.search_words import title, verdict
from dowsax.experiment.provenance import provenance
from dowsax.viz import belief_figure, save
from dowsax.viz.search_animation import frames, write_gif
from dowsax.viz.search_frame import SearchFrame, Subject, Truth
from dowsax.viz.search_moments import Moment
from dowsax.viz.style import styled
from dowsax.world import FOUR_MOVES


class SearchFiles(NamedTuple):
    """The paths of the files."""

    steps: Path
    animation: Path
    picture: Path


def prepare_files(out: Path, *others: str) -> SearchFiles:
    """Create the folder and return its files, or raise a ValueError in one line.

    Files of an earlier search are deleted at once, so that an interruption cannot leave two mixed.
    """
    require_folder(out)
    files = SearchFiles(out / "search.json", out / "search.gif", out / "end.png")
    paths = (*files, *(out / name for name in others))
    for path in paths:
        require_writable(path)
    for path in paths:
        path.unlink(missing_ok=True)
    return files


def document(log: SearchLog) -> dict:
    """Return the whole search as JSON can hold it: `None` stands for what is not finite."""
    newest, living = log.taken[-1][1], log.taken[-1][0].living
    return {
        "configuration": log.config.to_dict() | {"moves": FOUR_MOVES.moves},
        **provenance(),
        "ending": log.ending,
        "right": log.right if log.ending == STOPPED else None,
        "verdict": verdict(log),
        "readings": len(log.taken),
        "path_length": float(newest.path_length),
        "estimate": newest.mean.tolist() if living else None,
        "spread": finite(float(newest.spread)),
        "mass": float(newest.mass),
        "error": log.error if living else None,
        "truth": _by_name(log, log.final_theta),
        "truth_at_start": _by_name(log, log.theta),
        "steps": _steps(log),
    }


def write_steps(path: Path, log: SearchLog) -> None:
    text = json.dumps(document(log), indent=1, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def draw_search(files: SearchFiles, log: SearchLog, fps: int) -> None:
    """Draw the animation, and the end as a picture: the belief with all parameters, where there is one."""
    rule, truth = log.config.run.rule, Truth(log.final_theta[:2], verdict(log))
    levels = {name: rule.threshold if rule.name == name else None for name in ("contraction", "credible")}
    heading = f"A search by {title(log.config)}"
    subject = Subject(heading, log.config.unit, **levels)
    write_gif(files.animation, frames(subject, log.moments, truth), fps)
    if log.moments[-1].living:
        posterior, unit = log.posterior(), log.config.unit
        picture = belief_figure(posterior, log.final_theta, heading, unit, verdict=truth.verdict)
    else:
        with styled():
            picture = SearchFrame(subject, log.moments).draw(len(log.moments), truth)
    save(picture, files.picture)


def _steps(log: SearchLog) -> list[dict]:
    actions = [None, *map(_action, log.moments[:-1], log.moments[1:])]
    return [
        {
            "number": moment.number,
            "action": action,
            "position": row.position.tolist(),
            "reading": float(row.reading),
            "path_length": float(row.path_length),
            "mean": row.mean.tolist() if moment.living else None,
            "spread": finite(float(row.spread)),
            "mass": float(row.mass),
            "entropy": finite(float(row.entropy)),
            "max_weight": finite(float(row.max_weight)),
            "ess": finite(float(row.ess)),
            "error": float(row.error) if moment.living else None,
        }
        for action, (moment, row) in zip(actions, log.taken, strict=True)
    ]


def _action(before: Moment, after: Moment) -> int:
    """Return the index of the move from one reading to the next."""
    reach = np.asarray(FOUR_MOVES.reach(jnp.asarray(before.position)))
    return int(np.argmin(np.linalg.norm(reach - after.position[None, :], axis=1)))


def _by_name(log: SearchLog, theta: np.ndarray) -> dict[str, float]:
    names = (parameter.name for parameter in log.config.parameters)
    return dict(zip(names, theta.tolist(), strict=True))
