"""The files of a search: every step as JSON, an animation, and a picture of the end."""

import json
from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from dowsax import viz
from dowsax.cli.outputs import can_draw, require_folder, require_writable
from dowsax.cli.search_run import STOPPED, SearchLog
from dowsax.cli.search_words import title, verdict
from dowsax.experiments.provenance import provenance
from dowsax.extras import has_extra
from dowsax.files import finite
from dowsax.viz.search_snapshots import Snapshot
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
    can_draw(files.animation.name, files.picture.name)
    return files


def document(log: SearchLog) -> dict:
    """Return the whole search as JSON can hold it: `None` stands for what is not finite."""
    newest, has_particles = log.steps[-1][1], log.steps[-1][0].has_particles
    return {
        "configuration": log.config.to_dict() | {"moves": FOUR_MOVES.moves},
        **provenance(),
        "ending": log.ending,
        "right": log.right if log.ending == STOPPED else None,
        "verdict": verdict(log),
        "readings": len(log.steps),
        "path_length": float(newest.path_length),
        "estimate": newest.mean.tolist() if has_particles else None,
        "spread": finite(float(newest.spread)),
        "mass": float(newest.mass),
        "error": log.error if has_particles else None,
        "truth": _by_name(log, log.final_theta),
        "truth_at_start": _by_name(log, log.theta),
        "steps": _steps(log),
    }


def write_steps(path: Path, log: SearchLog) -> None:
    text = json.dumps(document(log), indent=1, allow_nan=False, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def draw_search(files: SearchFiles, log: SearchLog, fps: int) -> None:
    """Draw the animation, and the end as a picture: the belief with all parameters, where there is one."""
    if not has_extra("viz"):
        return
    rule, truth = log.config.run.rule, viz.Truth(log.final_position, verdict(log))
    levels = {name: rule.threshold if rule.name == name else None for name in ("contraction", "credible")}
    heading = f"A search by {title(log.config)}"
    subject = viz.Subject(heading, log.config.unit, **levels)
    viz.write_gif(files.animation, viz.draw_images(subject, log.snapshots, truth), fps)
    if log.snapshots[-1].has_particles:
        posterior, unit = log.posterior(), log.config.unit
        picture = viz.belief_figure(posterior, log.final_theta, heading, unit, verdict=truth.verdict)
    else:
        with viz.styled():
            picture = viz.SearchFigure(subject, log.snapshots).draw(len(log.snapshots), truth)
    viz.save(picture, files.picture)


def _steps(log: SearchLog) -> list[dict]:
    actions = [None, *map(_action, log.snapshots[:-1], log.snapshots[1:])]
    return [
        {
            "number": snapshot.number,
            "action": action,
            "position": row.position.tolist(),
            "reading": float(row.reading),
            "path_length": float(row.path_length),
            "mean": row.mean.tolist() if snapshot.has_particles else None,
            "spread": finite(float(row.spread)),
            "mass": float(row.mass),
            "entropy": finite(float(row.entropy)),
            "max_weight": finite(float(row.max_weight)),
            "ess": finite(float(row.ess)),
            "error": float(row.error) if snapshot.has_particles else None,
        }
        for action, (snapshot, row) in zip(actions, log.steps, strict=True)
    ]


def _action(before: Snapshot, after: Snapshot) -> int:
    """Return the index of the move from one reading to the next."""
    reach = np.asarray(FOUR_MOVES.reach(jnp.asarray(before.position)))
    return int(np.argmin(np.linalg.norm(reach - after.position[None, :], axis=1)))


def _by_name(log: SearchLog, theta: np.ndarray) -> dict[str, float]:
    names = (parameter.name for parameter in log.config.parameters)
    return dict(zip(names, theta.tolist(), strict=True))
