"""The summary of a run: a table for people, CSV and JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any

from dowsax.evaluate.metrics import Summary, summarise, summary_json
from dowsax.evaluate.tables import search_csv, search_table
from dowsax.experiment.store import Run
from dowsax.files import replacing

Cells = Sequence[tuple[dict[str, str], Summary]]


def summaries(run: Run) -> Cells:
    """What each cell comes to under the run's stop rule, with its labels."""
    config = run.configuration
    rule = config.rule
    common = {
        "stop": str(rule),
        "preset": config.preset,
        "particles": str(config.particles),
        "seed": str(config.seed),
        "most readings": str(config.max_readings),
    }
    return [(cell._asdict() | common, summarise(episodes, rule)) for cell, episodes in run.cells().items()]


def document(run: Run, cells: Cells) -> dict[str, Any]:
    """As JSON: the numbers of the one cell, or a list of cells."""
    config = run.configuration
    settings = {
        "stop": str(config.rule),
        "episodes": config.episodes,
        "seed": config.seed,
        "preset": config.preset,
        "particles": config.particles,
        "max_readings": config.max_readings,
    }
    entries = [
        {name: labels[name] for name in ("policy", "field", "scenario")} | settings | summary_json(summary)
        for labels, summary in cells
    ]
    return entries[0] if len(entries) == 1 else {"cells": entries}


def write_summary(run: Run, cells: Cells) -> None:
    """The files summary.md, .csv and .json; the last has a list of cells whatever their number."""
    entries = document(run, cells)
    entries = entries if "cells" in entries else {"cells": [entries]}
    texts = {
        "md": search_table(cells),
        "csv": search_csv(cells),
        "json": json.dumps(entries, indent=2, allow_nan=False) + "\n",
    }
    for ending, text in texts.items():
        with replacing(run.folder / f"summary.{ending}") as partial:
            partial.write_text(text, encoding="utf-8")
