"""The summary of an evaluation: a table for people, CSV and JSON for programs."""

import json
from collections.abc import Sequence
from typing import Any

from dowsax.evaluate.metrics import Summary, summarise, summary_json
from dowsax.evaluate.tables import search_csv, search_table
from dowsax.experiments.evaluation import Evaluation
from dowsax.files import replace_text

Summaries = Sequence[tuple[dict[str, str], Summary]]
"""The labels of each run, and its summary."""


def summaries(evaluation: Evaluation) -> Summaries:
    """The summary of each run under the stop rule of the evaluation."""
    return [
        (
            {
                "policy": run.policy,
                "field": run.field,
                "scenario": run.scenario,
                "stop": str(run.rule),
                "preset": run.preset,
                "particles": str(run.particles),
                "seed": str(run.seed),
                "most readings": str(run.max_readings),
            },
            summarise(episodes, run.rule),
        )
        for run, episodes in evaluation.episodes().items()
    ]


def document(evaluation: Evaluation, found: Summaries) -> dict[str, Any]:
    """As JSON: the numbers of the one run, or a list of runs."""
    run = evaluation.runs[0]
    settings = {
        "stop": str(run.rule),
        "episodes": run.episodes,
        "seed": run.seed,
        "preset": run.preset,
        "particles": run.particles,
        "max_readings": run.max_readings,
    }
    entries = [
        {name: labels[name] for name in ("policy", "field", "scenario")} | settings | summary_json(summary)
        for labels, summary in found
    ]
    return entries[0] if len(entries) == 1 else {"cells": entries}


def write_summary(evaluation: Evaluation, found: Summaries) -> None:
    """Write summary.md, .csv and .json; the last always has a list."""
    entries = document(evaluation, found)
    entries = entries if "cells" in entries else {"cells": [entries]}
    texts = {
        "md": search_table(found),
        "csv": search_csv(found),
        "json": json.dumps(entries, indent=2, allow_nan=False) + "\n",
    }
    for ending, text in texts.items():
        replace_text(evaluation.folder / f"summary.{ending}", text)
